//! A server without a readiness probe gets requests whether it can answer or not.

use super::Case;
use super::rule::{Rule, Scope};
use crate::subject::Role;
use crate::words::{Finding, Severity};

pub(super) static RULE: Rule = Rule {
    id: "readiness-missing",
    severity: Severity::Note,
    summary: "a server without a readiness probe gets requests whether it can answer or not",
    page: include_str!("../../docs/rules/readiness-missing.md"),
    scope: Scope::Judged,
    check,
};

fn check(case: &Case<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (_, container) in case.serving() {
        let has = |role| container.container.raw_probe(role).is_some();
        // Without any probe no-probes speaks.
        if has(Role::Readiness) || !container.container.has_probe() {
            continue;
        }
        let when = if has(Role::Startup) {
            "as soon as its startupProbe has passed, and stays so while it stalls"
        } else {
            "0 s after each start, while the model still loads"
        };
        let message = format!("is missing, the container counts as Ready {when}: add one");
        findings.push(RULE.about(container, &["readinessProbe"], &message));
    }
    findings
}
