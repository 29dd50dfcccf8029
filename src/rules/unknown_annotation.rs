//! A key of ours does not exist, names no rule, or stands where nothing reads it.

use super::Case;
use super::rule::{Rule, Scope};
use crate::annotations::TroubleKind;
use crate::words::{Finding, Severity};

pub(super) static RULE: Rule = Rule {
    id: "unknown-annotation",
    severity: Severity::Warn,
    summary: "a key of ours does not exist, names no rule, or stands as a label",
    page: include_str!("../../docs/rules/unknown-annotation.md"),
    scope: Scope::Always,
    check,
};

fn check(case: &Case<'_>) -> Vec<Finding> {
    let unknown = case
        .intent
        .troubles
        .iter()
        .filter(|(_, trouble)| trouble.kind != TroubleKind::Malformed);
    unknown
        .map(|(path, trouble)| RULE.at(path.clone(), trouble.message.clone()))
        .collect()
}
