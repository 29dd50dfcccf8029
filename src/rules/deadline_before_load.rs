//! The pod's deadline ends it before the model can be loaded.

use super::Case;
use super::rule::{Rule, Scope};
use crate::intent::TemplateIntent;
use crate::words::{FieldPath, Finding, Severity};

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
        let Some(declared) = &container.declared else {
            continue;
        };
        let load = declared.value.0;
        let reached = |(path, _): &(FieldPath, &str)| {
            let deadline = case.value(path)?.as_i64()?;
            (deadline <= load).then_some(deadline)
        };
        for place in deadlines(case, template) {
            let Some(deadline) = reached(&place) else {
                continue;
            };
            let (path, ends) = place;
            let message = format!(
                "activeDeadlineSeconds ends {ends} {deadline} s after it was started, {} needs up to {load} s to load: set it above {load} or remove it",
                container.container.label(),
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
    }
    findings
}

/// The deadlines that end a pod: its own, and that of the Job that makes it (`pkg/controller/job/job_controller.go`).
fn deadlines(
    case: &Case<'_>,
    template: &TemplateIntent<'_>,
) -> impl Iterator<Item = (FieldPath, &'static str)> {
    const FIELD: &str = "activeDeadlineSeconds";
    let pod = template.template.spec_path().key(FIELD);
    let job = template.template.path.parent();
    let job = job.filter(|_| case.subject.workload.batch);
    [(pod, "the pod")]
        .into_iter()
        .chain(job.map(|spec| (spec.key(FIELD), "the Job")))
}
