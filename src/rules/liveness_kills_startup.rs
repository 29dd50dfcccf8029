//! The liveness probe kills the server before it can have started.

use super::rule::{Rule, Scope};
use super::{Case, case};
use crate::intent::{ContainerIntent, TemplateIntent, fault};
use crate::kubelet::bounds::{self, Verdict};
use crate::subject::{Probe, Role};
use crate::words::{Finding, Severity};

pub(super) static RULE: Rule = Rule {
    id: "liveness-kills-startup",
    severity: Severity::Deny,
    summary: "the liveness probe kills the server before it can have started",
    page: include_str!("../../docs/rules/liveness-kills-startup.md"),
    scope: Scope::Judged,
    check,
};

fn check(case: &Case<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (template, container, probe) in case.probes(Role::Liveness) {
        let Some(declared) = &container.declared else {
            continue;
        };
        if !speaks_of(template, container, probe) {
            continue;
        }
        let load = declared.value.0;
        let severity = match bounds::verdict(probe, load) {
            Verdict::Dies if declared.source.is_object() => Severity::Deny,
            _ => Severity::Warn,
        };
        let (earliest, latest) = (bounds::guaranteed_window(probe), bounds::latest_kill(probe));
        let cure = super::startup_cure(case, template, container);
        let message = format!(
            "kills {earliest} to {latest} s after each start, the model needs up to {load} s: {cure}"
        );
        findings.push(case::with_severity(
            RULE.about(container, &["livenessProbe"], &message),
            severity,
        ));
    }
    findings
}

/// Whether this rule has something to say of a liveness probe: not of one that passes while the model loads.
pub(super) fn speaks_of(
    template: &TemplateIntent<'_>,
    container: &ContainerIntent<'_>,
    probe: &Probe,
) -> bool {
    let dies = |load: i64| bounds::verdict(probe, load) != Verdict::Survives;
    container
        .declared
        .as_ref()
        .is_some_and(|declared| dies(declared.value.0))
        && container.container.raw_probe(Role::Startup).is_none()
        && !fault::passes_while_loading(template, container, &probe.handler)
        && !super::never_counts(template, container, probe)
}
