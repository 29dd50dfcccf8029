//! A server that hangs at its end keeps its accelerator for a long time.

use super::Case;
use super::rule::{Rule, Scope};
use crate::words::{Finding, Severity};

pub(super) static RULE: Rule = Rule {
    id: "long-grace",
    severity: Severity::Note,
    summary: "a server that hangs at its end keeps its accelerator for a long time",
    page: include_str!("../../docs/rules/long-grace.md"),
    scope: Scope::Judged,
    check,
};

fn check(case: &Case<'_>) -> Vec<Finding> {
    let limit = case.facts.config.limits.max_grace;
    let mut findings = Vec::new();
    for template in case.templates() {
        let Some(grace) = template.template.grace().filter(|grace| *grace > limit) else {
            continue;
        };
        let message = format!(
            "terminationGracePeriodSeconds lets a server that hangs at its end keep its accelerator for {grace} s, above the limit of {limit} s: set {limit} or less"
        );
        let path = template.template.spec_path();
        findings.push(RULE.at(path.key("terminationGracePeriodSeconds"), message));
    }
    findings
}
