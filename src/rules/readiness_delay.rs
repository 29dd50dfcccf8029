//! The pod is not Ready before a fixed delay is over, however fast the model loads.

use super::Case;
use super::rule::{Rule, Scope};
use crate::subject::Role;
use crate::words::{Finding, Severity};

pub(super) static RULE: Rule = Rule {
    id: "readiness-delay",
    severity: Severity::Note,
    summary: "no pod is Ready before a long initial delay is over, however fast the model loads",
    page: include_str!("../../docs/rules/readiness-delay.md"),
    scope: Scope::Judged,
    check,
};

/// Seconds from which a delay is worth a word.
const LONG: i64 = 120;

fn check(case: &Case<'_>) -> Vec<Finding> {
    let late = case
        .probes(Role::Readiness)
        .filter(|(_, _, probe)| probe.initial_delay >= LONG);
    late.map(|(_, container, probe)| {
        let message = format!(
            "asks first {} s after each start, so the pod serves nobody before: set initialDelaySeconds to 0, a startupProbe waits as long as the load takes",
            probe.initial_delay
        );
        RULE.about(container, &["readinessProbe"], &message)
    })
    .collect()
}
