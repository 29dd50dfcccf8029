//! A probe speaks plain HTTP to a server that speaks TLS, or the other way round.

use super::Case;
use super::rule::{Rule, Scope};
use crate::intent::fault::Fault;
use crate::words::{Finding, Severity, clip};

pub(super) static RULE: Rule = Rule {
    id: "probe-scheme",
    severity: Severity::Warn,
    summary: "a probe and the server disagree about TLS",
    page: include_str!("../../docs/rules/probe-scheme.md"),
    scope: Scope::Judged,
    check,
};

fn check(case: &Case<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (container, role, probe, fault) in case.faults() {
        let Fault::Scheme {
            server_https,
            source,
        } = fault
        else {
            continue;
        };
        let (asks, speaks, set) = if server_https {
            ("plain HTTP", "TLS", "HTTPS")
        } else {
            ("TLS", "plain HTTP", "HTTP")
        };
        let message = format!(
            "speaks {asks}, the server {speaks} ({}), so {}: set scheme to {set}",
            clip(&source, 60),
            super::never_passes(role, probe)
        );
        findings.push(RULE.about(container, &[role.field(), "httpGet"], &message));
    }
    findings
}
