//! A probe that hangs delays the next one, so a period is not what it says.

use super::Case;
use super::rule::{Rule, Scope};
use crate::kubelet::bounds;
use crate::words::{Finding, Severity};

pub(super) static RULE: Rule = Rule {
    id: "timeout-exceeds-period",
    severity: Severity::Note,
    summary: "a probe that hangs outlasts its period, so failures come more slowly",
    page: include_str!("../../docs/rules/timeout-exceeds-period.md"),
    scope: Scope::Judged,
    check,
};

fn check(case: &Case<'_>) -> Vec<Finding> {
    let longer = case
        .all_probes()
        .filter(|(_, _, _, probe)| probe.timeout > probe.period);
    longer
        .map(|(_, container, role, probe)| {
            let message = format!(
                "counts a failure every {} s while the server hangs, not every {} s: up to {} s until it acts",
                probe.timeout,
                probe.period,
                bounds::hang_fatal(probe)
            );
            RULE.about(container, &[role.field()], &message)
        })
        .collect()
}
