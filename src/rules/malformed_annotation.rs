//! An annotation of ours cannot be read.

use super::Case;
use super::rule::{Rule, Scope};
use crate::annotations::TroubleKind;
use crate::words::{Finding, Severity};

pub(super) static RULE: Rule = Rule {
    id: "malformed-annotation",
    severity: Severity::Deny,
    summary: "an annotation of ours cannot be read",
    page: include_str!("../../docs/rules/malformed-annotation.md"),
    scope: Scope::Always,
    check,
};

fn check(case: &Case<'_>) -> Vec<Finding> {
    let malformed = case
        .intent
        .troubles
        .iter()
        .filter(|(_, trouble)| trouble.kind == TroubleKind::Malformed);
    malformed
        .map(|(path, trouble)| RULE.at(path.clone(), trouble.message.clone()))
        .collect()
}
