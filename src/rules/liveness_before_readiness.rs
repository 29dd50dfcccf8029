//! The liveness probe restarts a server no later than readiness takes it out of traffic.

use super::Case;
use super::rule::{Rule, Scope};
use crate::intent::ContainerIntent;
use crate::kubelet::bounds;
use crate::subject::{Handler, Port, Role};
use crate::words::{Finding, Severity};

pub(super) static RULE: Rule = Rule {
    id: "liveness-before-readiness",
    severity: Severity::Warn,
    summary: "the same check restarts a server no later than it takes it out of traffic",
    page: include_str!("../../docs/rules/liveness-before-readiness.md"),
    scope: Scope::Judged,
    check,
};

fn check(case: &Case<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (template, container, liveness) in case.probes(Role::Liveness) {
        let Some(readiness) = container.container.probe(Role::Readiness) else {
            continue;
        };
        let same =
            resolved(container, &liveness.handler) == resolved(container, &readiness.handler);
        let (kills, unready) = (
            bounds::outage_survived(liveness),
            bounds::outage_survived(readiness),
        );
        if !same
            || kills > unready
            || liveness.handler.always_passes()
            || super::never_counts(template, container, liveness)
        {
            continue;
        }
        let message = format!(
            "may restart a server {kills} s after it stops answering, readiness takes it out of traffic after {unready} s or more: set failureThreshold to {} or more",
            unready / liveness.period.max(1) + 2
        );
        findings.push(RULE.about(container, &["livenessProbe"], &message));
    }
    findings
}

/// The handler with its port as a number, so that a name and its number are the same.
fn resolved(container: &ContainerIntent<'_>, handler: &Handler) -> Handler {
    let mut handler = handler.clone();
    if let Handler::Http { port, .. } | Handler::Tcp { port, .. } = &mut handler
        && let Some(number) = container.container.resolve_port(port)
    {
        *port = Port::Number(number);
    }
    handler
}
