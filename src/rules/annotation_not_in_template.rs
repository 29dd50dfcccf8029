//! An annotation of ours stands where no pod sees it, and nothing copies it.

use super::Case;
use super::rule::{Rule, Scope};
use crate::facts::Origin;
use crate::words::{Finding, Severity, clip};

pub(super) static RULE: Rule = Rule {
    id: "annotation-not-in-template",
    severity: Severity::Warn,
    summary: "an annotation of ours stands on the object only, where its pods do not see it",
    page: include_str!("../../docs/rules/annotation-not-in-template.md"),
    scope: Scope::Judged,
    check,
};

fn check(case: &Case<'_>) -> Vec<Finding> {
    let edits = case.facts.origin == Origin::File || case.intent.mode.edits();
    let mut findings = Vec::new();
    for stray in &case.intent.strays {
        let Some(template) = case.intent.templates.get(stray.template) else {
            continue;
        };
        let home = template.template.path.keys(&["metadata", "annotations"]);
        let path = home.key(&stray.key);
        let copied = edits && case.plan.edits.iter().any(|edit| edit.path == path);
        if template.skip.is_some() || copied {
            continue;
        }
        let message = format!(
            "{} does not reach the pods, their template is not written now: set it in {home}",
            clip(&stray.key, 82)
        );
        findings.push(RULE.at(stray.path.clone(), message));
    }
    findings
}
