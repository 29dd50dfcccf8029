//! A rollout's deadline runs while a queue holds its pods back.

use serde_json::Value;

use super::Case;
use super::rule::{Rule, Scope};
use crate::intent::TemplateIntent;
use crate::plan::{DEFAULT_DEADLINE, NO_DEADLINE};
use crate::words::{Finding, Severity};

pub(super) static RULE: Rule = Rule {
    id: "deadline-while-gated",
    severity: Severity::Note,
    summary: "the progress deadline runs while a queue holds the pods back",
    page: include_str!("../../docs/rules/deadline-while-gated.md"),
    scope: Scope::Judged,
    check,
};

/// The label by which Kueue queues an object and its pods.
const QUEUE: &str = "kueue.x-k8s.io/queue-name";

fn check(case: &Case<'_>) -> Vec<Finding> {
    let Some(path) = &case.subject.workload.progress_deadline else {
        return Vec::new();
    };
    let deadline = case.subject.number(path).unwrap_or(DEFAULT_DEADLINE);
    let Some(gate) = case.templates().find_map(|one| gate(case, one)) else {
        return Vec::new();
    };
    if matches!(deadline, 0 | NO_DEADLINE) {
        return Vec::new();
    }
    let message = format!(
        "progressDeadlineSeconds runs while the pods wait ({gate}): after {deadline} s in the queue the rollout is called failed, set {NO_DEADLINE} for no deadline"
    );
    vec![RULE.at(path.clone(), message)]
}

/// What holds the pods back before they are scheduled.
fn gate(case: &Case<'_>, template: &TemplateIntent<'_>) -> Option<&'static str> {
    let queued = case.subject.label(QUEUE).is_some() || template.template.label(QUEUE).is_some();
    let gates = template.template.spec_path().key("schedulingGates");
    let gated = case
        .value(&gates)
        .and_then(Value::as_array)
        .is_some_and(|gates| !gates.is_empty());
    match (queued, gated) {
        (true, _) => Some("label kueue.x-k8s.io/queue-name"),
        (false, true) => Some("schedulingGates"),
        (false, false) => None,
    }
}
