//! A startup or readiness probe names a port that its container does not declare, so it can never pass.

use super::Case;
use super::rule::{Rule, Scope};
use crate::subject::{Port, Role};
use crate::words::{Finding, Severity, clip};

pub(super) static RULE: Rule = Rule {
    id: "probe-port-unresolvable",
    severity: Severity::Deny,
    summary: "a startup or readiness probe names a port that its container does not declare",
    page: include_str!("../../docs/rules/probe-port-unresolvable.md"),
    scope: Scope::Judged,
    check,
};

fn check(case: &Case<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (_, container, role, probe) in case
        .all_probes()
        .filter(|(_, _, role, _)| *role != Role::Liveness)
    {
        let Some(Port::Name(name)) = probe.handler.port() else {
            continue;
        };
        if container
            .container
            .resolve_port(&Port::Name(name.clone()))
            .is_some()
        {
            continue;
        }
        let (never, seconds) = match role {
            Role::Startup => ("the container never counts as started", probe.period),
            _ => ("the pod is never Ready", probe.period),
        };
        let message = format!(
            "asks the port {:?} every {seconds} s and gets an error each time, {never}: {}",
            clip(&name, 20),
            declared_names(container.container.port_names())
        );
        findings.push(RULE.about(container, &[role.field()], &message));
    }
    findings
}

/// What to set instead of a name that is not declared.
pub(super) fn declared_names<'n>(names: impl Iterator<Item = &'n str>) -> String {
    let names: Vec<&str> = names.collect();
    match names.as_slice() {
        [] => "declare the port by that name, or write its number".to_owned(),
        names => format!(
            "name one of {}, or write the number",
            clip(&names.join(", "), 60)
        ),
    }
}
