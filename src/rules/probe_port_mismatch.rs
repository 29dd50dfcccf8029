//! A probe asks a port that nobody listens on.

use super::Case;
use super::rule::{Rule, Scope};
use crate::intent::fault::Fault;
use crate::words::{Finding, Severity, clip};

pub(super) static RULE: Rule = Rule {
    id: "probe-port-mismatch",
    severity: Severity::Warn,
    summary: "a probe asks another port than the one that the server is told to listen on",
    page: include_str!("../../docs/rules/probe-port-mismatch.md"),
    scope: Scope::Judged,
    check,
};

fn check(case: &Case<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (container, role, probe, fault) in case.faults() {
        let Fault::PortNumber {
            asked,
            listens,
            source,
        } = fault
        else {
            continue;
        };
        let message = format!(
            "asks port {asked}, the server listens on {listens} ({}), so {}: set the port to {listens}",
            clip(&source, 40),
            super::never_passes(role, probe)
        );
        findings.push(RULE.about(container, &[role.field()], &message));
    }
    findings
}
