//! A loaded server waits for the next startup probe before it may serve.

use super::Case;
use super::rule::{Rule, Scope};
use crate::kubelet::bounds;
use crate::subject::Role;
use crate::words::{Finding, Severity};

pub(super) static RULE: Rule = Rule {
    id: "startup-period-too-coarse",
    severity: Severity::Note,
    summary: "a loaded server waits long for the startup probe that lets it serve",
    page: include_str!("../../docs/rules/startup-period-too-coarse.md"),
    scope: Scope::Judged,
    check,
};

/// Seconds up to which a wait after each load is not worth a word.
const COARSE: i64 = 30;

fn check(case: &Case<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (_, container, probe) in case.probes(Role::Startup) {
        if probe.period <= COARSE {
            continue;
        }
        let window = bounds::guaranteed_window(probe);
        let message = format!(
            "may let a loaded server wait {} s before it is Ready: set periodSeconds 10, failureThreshold {} for the same window",
            probe.period,
            bounds::failure_threshold_for(window, probe.initial_delay, 10)
        );
        findings.push(RULE.about(container, &["startupProbe"], &message));
    }
    findings
}
