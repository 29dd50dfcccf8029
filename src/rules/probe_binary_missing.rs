//! The command of a probe cannot be started.

use super::Case;
use super::rule::{Rule, Scope};
use crate::intent::fault::Fault;
use crate::subject::Role;
use crate::words::{Finding, Severity};

pub(super) static RULE: Rule = Rule {
    id: "probe-binary-missing",
    severity: Severity::Warn,
    summary: "the command of an exec probe cannot be started, so its result is thrown away",
    page: include_str!("../../docs/rules/probe-binary-missing.md"),
    scope: Scope::Judged,
    check,
};

fn check(case: &Case<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (container, role, probe, fault) in case.faults() {
        let Fault::Binary { why } = fault else {
            continue;
        };
        let never = match role {
            Role::Liveness => "a server that hangs is never restarted",
            Role::Readiness => "the pod is never Ready",
            Role::Startup => "the container never counts as started",
        };
        let message = format!(
            "is never run ({why}), an error every {} s counts for nothing and {never}: use a program of the image, or httpGet",
            probe.period
        );
        findings.push(RULE.about(container, &[role.field(), "exec"], &message));
    }
    findings
}
