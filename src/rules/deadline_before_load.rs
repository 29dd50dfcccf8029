//! The pod's deadline ends it before the model can be loaded.

use super::Case;
use super::rule::{Rule, Scope};
use crate::words::{Finding, Severity};

pub(super) static RULE: Rule = Rule {
    id: "deadline-before-load",
    severity: Severity::Deny,
    summary: "activeDeadlineSeconds ends the pod before the model can be loaded",
    page: include_str!("../../docs/rules/deadline-before-load.md"),
    scope: Scope::Judged,
    check,
};

fn check(case: &Case<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (template, container) in case.serving() {
        let (Some(deadline), Some(declared)) =
            (template.template.active_deadline(), &container.declared)
        else {
            continue;
        };
        if deadline > declared.value.0 {
            continue;
        }
        let path = template.template.spec_path().key("activeDeadlineSeconds");
        let message = format!(
            "activeDeadlineSeconds ends the pod {deadline} s after it was placed, {} needs up to {} s to load: set it above {} or remove it",
            container.container.label(),
            declared.value.0,
            declared.value.0
        );
        let severity = if declared.source.is_object() {
            Severity::Deny
        } else {
            Severity::Warn
        };
        findings.push(Finding {
            severity,
            container: Some(container.container.name.clone()),
            ..RULE.at(path, message)
        });
    }
    findings
}
