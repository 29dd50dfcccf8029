//! A piece of the object does not have the shape that the API gives it.

use super::Case;
use super::rule::{Rule, Scope};
use crate::words::{Finding, Severity, clip};

pub(super) static RULE: Rule = Rule {
    id: "unreadable-field",
    severity: Severity::Warn,
    summary: "a field does not have the shape that the API gives it, so it is not judged",
    page: include_str!("../../docs/rules/unreadable-field.md"),
    scope: Scope::Judged,
    check,
};

fn check(case: &Case<'_>) -> Vec<Finding> {
    let say = |one: &crate::subject::Unreadable| {
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
    case.subject.unreadable.iter().map(say).collect()
}
