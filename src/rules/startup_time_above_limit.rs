//! A longer start is declared than the operator of the cluster expects.

use super::Case;
use super::rule::{Rule, Scope};
use crate::annotations;
use crate::words::{Finding, Severity};

pub(super) static RULE: Rule = Rule {
    id: "startup-time-above-limit",
    severity: Severity::Warn,
    summary: "a longer start is declared than the limit of the cluster",
    page: include_str!("../../docs/rules/startup-time-above-limit.md"),
    scope: Scope::Judged,
    check,
};

fn check(case: &Case<'_>) -> Vec<Finding> {
    let limit = case.facts.config.limits.max_startup_time;
    let above = case.serving().filter_map(|(template, container)| {
        let declared = container
            .declared
            .as_ref()
            .filter(|declared| declared.value.0 > limit)?;
        let message = format!(
            "{} is {} s, above the limit of {limit} s: a start that hangs holds its accelerator that long, load from nearer or raise limits.maxStartupTime",
            annotations::MAX_STARTUP_TIME,
            declared.value.0
        );
        Some(RULE.at(declared.source.path(Some(template.template)), message))
    });
    above.collect()
}
