//! A server has no probe at all.

use super::Case;
use super::rule::{Rule, Scope};
use crate::intent::Service;
use crate::words::{Finding, Severity};

pub(super) static RULE: Rule = Rule {
    id: "no-probes",
    severity: Severity::Warn,
    summary: "a server has no probe, so it counts as ready while it loads",
    page: include_str!("../../docs/rules/no-probes.md"),
    scope: Scope::Judged,
    check,
};

fn check(case: &Case<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for template in case.templates() {
        for container in &template.containers {
            let judged = matches!(container.service, Service::Serves(_) | Service::Unknown);
            if judged && !container.container.has_probe() {
                findings.push(RULE.about(
                    container,
                    &[],
                    "has no probe: it is Ready 0 s after its start and gets requests while it loads: add a readinessProbe, and a startupProbe for the load",
                ));
            }
        }
    }
    findings
}
