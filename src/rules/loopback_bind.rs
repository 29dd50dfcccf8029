//! The kubelet cannot reach what listens on the loopback address of the pod.

use super::Case;
use super::rule::{Rule, Scope};
use crate::intent::fault::Fault;
use crate::words::{Finding, Severity, clip};

pub(super) static RULE: Rule = Rule {
    id: "loopback-bind",
    severity: Severity::Warn,
    summary: "a probe cannot reach its server, one of them uses the loopback address",
    page: include_str!("../../docs/rules/loopback-bind.md"),
    scope: Scope::Judged,
    check,
};

fn check(case: &Case<'_>) -> Vec<Finding> {
    let mut findings: Vec<Finding> = Vec::new();
    for (container, role, probe, fault) in case.faults() {
        let never = super::never_passes(role, probe);
        let message = match fault {
            Fault::Loopback { source } => format!(
                "asks the pod's address, the server listens on the loopback address only ({}), so {never}: let it listen on 0.0.0.0",
                clip(&source, 60)
            ),
            Fault::NodeAddress { host } => format!(
                "asks {} of the node and not of the pod, so {never}: leave host out",
                clip(&host, 40)
            ),
            _ => continue,
        };
        findings.push(RULE.about(container, &[role.field()], &message));
    }
    findings
}
