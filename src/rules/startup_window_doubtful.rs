//! A known server has minutes to load, and nobody said that this is enough.

use super::Case;
use super::rule::{Rule, Scope};
use crate::annotations;
use crate::intent::fault;
use crate::kubelet::bounds;
use crate::subject::Role;
use crate::words::{Finding, Severity};

pub(super) static RULE: Rule = Rule {
    id: "startup-window-doubtful",
    severity: Severity::Warn,
    summary: "a known server has less than 300 s to load, and nobody declared that it needs no more",
    page: include_str!("../../docs/rules/startup-window-doubtful.md"),
    scope: Scope::Judged,
    check,
};

/// Seconds: published startup budgets of such servers are longer.
const DOUBTFUL: i64 = 300;

fn check(case: &Case<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (template, container, probe) in case.probes(Role::Startup) {
        let Some(server) = container.server() else {
            continue;
        };
        let latest = bounds::latest_kill(probe);
        let enough = container
            .measured
            .is_some_and(|measured| measured.0 <= bounds::guaranteed_window(probe));
        if latest >= DOUBTFUL
            || enough
            || container.declared.is_some()
            || fault::passes_while_loading(template, container, &probe.handler)
            || super::never_counts(template, container, probe)
        {
            continue;
        }
        let message = format!(
            "kills {} to {latest} s after each start, {} often loads longer: declare {}, or set failureThreshold to {} or more",
            bounds::guaranteed_window(probe),
            server.preset.title(),
            annotations::MAX_STARTUP_TIME,
            bounds::failure_threshold_for(DOUBTFUL, probe.initial_delay, probe.period)
        );
        findings.push(RULE.about(container, &["startupProbe"], &message));
    }
    findings
}
