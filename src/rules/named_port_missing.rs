//! A liveness probe names a port that its container does not declare, so it never kills.

use super::Case;
use super::probe_port_unresolvable::declared_names;
use super::rule::{Rule, Scope};
use crate::intent::fault::{self, Fault};
use crate::subject::Role;
use crate::words::{Finding, Severity, clip};

pub(super) static RULE: Rule = Rule {
    id: "named-port-missing",
    severity: Severity::Warn,
    summary: "a liveness probe names a port that its container does not declare, so it never restarts anything",
    page: include_str!("../../docs/rules/named-port-missing.md"),
    scope: Scope::Judged,
    check,
};

fn check(case: &Case<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (template, container, probe) in case.probes(Role::Liveness) {
        for fault in fault::faults(template, container, &probe.handler) {
            let Fault::PortName { name } = fault else {
                continue;
            };
            let message = format!(
                "asks the port {:?} every {} s and gets an error that counts for nothing, a server that hangs is never restarted: {}",
                clip(&name, 20),
                probe.period,
                declared_names(container.container.port_names())
            );
            findings.push(RULE.about(container, &["livenessProbe"], &message));
        }
    }
    findings
}
