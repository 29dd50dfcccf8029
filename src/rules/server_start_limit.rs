//! The server itself gives up its start sooner than its probes would.

use super::Case;
use super::rule::{Rule, Scope};
use crate::kubelet::bounds;
use crate::subject::Role;
use crate::words::{Finding, Severity};

pub(super) static RULE: Rule = Rule {
    id: "server-start-limit",
    severity: Severity::Note,
    summary: "the server gives up its own start sooner than its probes would",
    page: include_str!("../../docs/rules/server-start-limit.md"),
    scope: Scope::Judged,
    check,
};

fn check(case: &Case<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (_, container) in case.serving() {
        let Some(server) = container.server() else {
            continue;
        };
        let Some(limit) = &server.start_limit else {
            continue;
        };
        let window = container
            .container
            .probe(Role::Startup)
            .map(bounds::guaranteed_window);
        let declared = container.declared.as_ref().map(|declared| declared.value.0);
        let (needed, what) = match (declared, window) {
            (Some(declared), _) => (declared, "that are declared"),
            (None, Some(window)) => (window, "of its startupProbe"),
            (None, None) => continue,
        };
        if limit.value >= needed {
            continue;
        }
        let message = format!(
            "may give up its own start after {} s ({}), before the {needed} s {what}: set {} to {needed} or more",
            limit.value,
            limit.source,
            server.preset.start_limit_setting().unwrap_or("that limit")
        );
        findings.push(RULE.about(container, &[], &message));
    }
    findings
}
