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
        // Without a tag nobody knows whether this release guards its health paths.
        let tagged = container
            .server()
            .is_some_and(|server| server.tag.is_some());
        let (refused, cure) = match fault {
            Fault::Credentials if tagged => (
                "shows no key and is refused with 401",
                "use a release that leaves the path open, or a tcpSocket probe",
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
