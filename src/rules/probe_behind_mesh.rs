//! A mesh proxy stands between the kubelet and the server.

use super::Case;
use super::case::with_severity;
use super::rule::{Rule, Scope};
use crate::intent::{ContainerIntent, fault};
use crate::plan::{Edit, EditKind, Why};
use crate::subject::Role;
use crate::words::{Finding, Severity};

pub(super) static RULE: Rule = Rule {
    id: "probe-behind-mesh",
    severity: Severity::Warn,
    summary: "a mesh proxy captures the pod's traffic, so a probe of it cannot be added or its timeout not raised",
    page: include_str!("../../docs/rules/probe-behind-mesh.md"),
    scope: Scope::Judged,
    check,
};

fn check(case: &Case<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (template, container) in case.serving() {
        let name = Some(container.container.name.as_str());
        let withheld = case.plan.withheld.iter().any(|one| {
            one.kind == EditKind::StartupProbe
                && one.why == Why::BehindMesh
                && one.container.as_deref() == name
        });
        if withheld {
            findings.push(RULE.about(
                container,
                &["startupProbe"],
                "is not added: the mesh proxy captures the pod's traffic and was not told of it: set it in the workload, where the proxy's injector sees it",
            ));
        }
        let edits = case.plan.edits.iter().filter(|edit| {
            template.mesh
                && edit.kind == EditKind::ProbeTimeout
                && edit.container.as_deref() == name
        });
        findings.extend(edits.filter_map(|edit| raised(container, edit)));
    }
    findings
}

/// A timeout that is raised while the proxy keeps the old one.
fn raised(container: &ContainerIntent<'_>, edit: &Edit) -> Option<Finding> {
    let role = [Role::Liveness, Role::Readiness].into_iter().find(|role| {
        edit.path
            .starts_with(&container.container.probe_path(*role))
    })?;
    let probe = container.container.probe(role)?;
    if !fault::rewritten(&probe.handler) {
        return None;
    }
    let message = format!(
        "gets more than {} s, the mesh proxy that asks for it still gives up after {} s: set timeoutSeconds in the workload",
        probe.timeout, probe.timeout
    );
    let finding = RULE.about(container, &[role.field(), "timeoutSeconds"], &message);
    Some(with_severity(finding, Severity::Note))
}
