//! The server refuses a probe that shows no credentials.

use super::Case;
use super::rule::{Rule, Scope};
use crate::intent::fault::Fault;
use crate::words::{Finding, Severity};

pub(super) static RULE: Rule = Rule {
    id: "probe-auth",
    severity: Severity::Warn,
    summary: "a probe asks a path that the server refuses without a key or a certificate",
    page: include_str!("../../docs/rules/probe-auth.md"),
    scope: Scope::Judged,
    check,
};

fn check(case: &Case<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (container, role, probe, fault) in case.faults() {
        let (refused, cure) = match fault {
            Fault::Credentials { certain: true } => (
                "shows no key and is refused with 401",
                "ask a path that this release leaves open, or use a tcpSocket probe",
            ),
            Fault::ClientCertificate => (
                "shows no client certificate and is refused",
                "use a tcpSocket or an exec probe",
            ),
            _ => continue,
        };
        let message = format!("{refused}, so {}: {cure}", super::never_passes(role, probe));
        findings.push(RULE.about(container, &[role.field(), "httpGet"], &message));
    }
    findings
}
