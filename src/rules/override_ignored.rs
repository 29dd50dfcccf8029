//! The operator of the cluster does not let objects step out of what an annotation asks.

use super::rule::{Rule, Scope};
use super::{Case, annotation_path};
use crate::annotations::ALLOW_PREFIX;
use crate::words::{FieldPath, Finding, Severity};

pub(super) static RULE: Rule = Rule {
    id: "override-ignored",
    severity: Severity::Warn,
    summary: "an annotation asks for less than the mode of the namespace lets it",
    page: include_str!("../../docs/rules/override-ignored.md"),
    scope: Scope::Always,
    check,
};

fn check(case: &Case<'_>) -> Vec<Finding> {
    let ignored = case.intent.ignored.iter();
    ignored
        .map(|(path, key)| RULE.at(path.clone(), message(case, key)))
        .collect()
}

/// The finding for a rule that the object would silence and may not.
pub(super) fn of_allow(case: &Case<'_>, rule: &str) -> Finding {
    let key = format!("{ALLOW_PREFIX}{rule}");
    let template = case
        .intent
        .templates
        .first()
        .map_or_else(FieldPath::root, |one| one.template.path.clone());
    RULE.at(annotation_path(case, &template, &key), message(case, &key))
}

fn message(case: &Case<'_>, key: &str) -> String {
    format!(
        "{key} is disregarded in mode {}, as the operator of the cluster decided: remove it",
        case.facts.mode.word()
    )
}
