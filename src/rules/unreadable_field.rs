//! A piece of the object does not have the shape that the API gives it.

use super::Case;
use super::rule::{Rule, Scope};
use crate::subject::Unreadable;
use crate::words::{Finding, Severity, clip};

pub(super) static RULE: Rule = Rule {
    id: "unreadable-field",
    severity: Severity::Warn,
    summary: "a field does not have the shape that the API gives it, so it is not judged",
    page: include_str!("../../docs/rules/unreadable-field.md"),
    scope: Scope::NotSkipped,
    check,
};

fn check(case: &Case<'_>) -> Vec<Finding> {
    let say = |one: &Unreadable| {
        let message = format!(
            "{} cannot be read and is not judged: {}",
            one.path,
            clip(&one.why, 120)
        );
        Finding {
            container: one.container.clone(),
            ..RULE.at(one.path.clone(), message)
        }
    };
    let pieces = case.subject.unreadable.iter();
    pieces
        .filter(|one| !stands_outside(case, one))
        .map(say)
        .collect()
}

/// Whether a piece belongs to a template that is not judged.
fn stands_outside(case: &Case<'_>, piece: &Unreadable) -> bool {
    let templates = &case.intent.templates;
    templates
        .iter()
        .any(|one| piece.path.starts_with(&one.template.path) && !one.is_judged())
}
