//! A start that hangs is never ended.

use super::Case;
use super::rule::{Rule, Scope};
use crate::kubelet::bounds;
use crate::subject::Role;
use crate::words::{Finding, Seconds, Severity};

pub(super) static RULE: Rule = Rule {
    id: "unbounded-startup-window",
    severity: Severity::Note,
    summary: "a start that hangs holds its accelerator for more than a day",
    page: include_str!("../../docs/rules/unbounded-startup-window.md"),
    scope: Scope::Judged,
    check,
};

fn check(case: &Case<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (_, container, probe) in case.probes(Role::Startup) {
        let window = bounds::guaranteed_window(probe);
        if window <= Seconds::DAY.0 {
            continue;
        }
        let message = format!(
            "lets a start that hangs hold its accelerator for {window} s: set failureThreshold to {} for a day, or to the longest start",
            bounds::failure_threshold_for(Seconds::DAY.0, probe.initial_delay, probe.period)
        );
        findings.push(RULE.about(container, &["startupProbe"], &message));
    }
    findings
}
