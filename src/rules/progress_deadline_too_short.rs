//! A rollout is called failed while a healthy start still goes on.

use super::Case;
use super::rule::{Rule, Scope};
use crate::plan::{self, DEFAULT_DEADLINE, Edit, EditKind, NO_DEADLINE};
use crate::subject::Role;
use crate::words::{Finding, Severity};

pub(super) static RULE: Rule = Rule {
    id: "progress-deadline-too-short",
    severity: Severity::Warn,
    summary: "the progress deadline is shorter than a start may take",
    page: include_str!("../../docs/rules/progress-deadline-too-short.md"),
    scope: Scope::Judged,
    check,
};

fn check(case: &Case<'_>) -> Vec<Finding> {
    let Some(path) = &case.subject.workload.progress_deadline else {
        return Vec::new();
    };
    let deadline = case.subject.number(path).unwrap_or(DEFAULT_DEADLINE);
    if matches!(deadline, 0 | NO_DEADLINE) {
        return Vec::new();
    }
    let kept = case
        .plan
        .withheld
        .iter()
        .any(|withheld| withheld.kind == EditKind::ProgressDeadline);
    let standing = case
        .probes(Role::Startup)
        .map(|(_, _, probe)| plan::startup_window(probe));
    let coming = case.plan.edits.iter().filter(|_| kept).filter_map(injected);
    let Some(window) = standing.chain(coming).max() else {
        return Vec::new();
    };
    let needed = plan::needed_deadline(window, plan::min_ready(case.subject));
    if deadline >= needed {
        return Vec::new();
    }
    let message = format!(
        "progressDeadlineSeconds calls a rollout failed after {deadline} s, a start may take {window} s besides scheduling and the image pull: set it to {needed}"
    );
    vec![RULE.at(path.clone(), message)]
}

/// The window of a startup probe that is injected beside a deadline that stays.
fn injected(edit: &Edit) -> Option<i64> {
    let probe = edit
        .value
        .as_ref()
        .filter(|_| edit.kind == EditKind::StartupProbe)?;
    let threshold = probe.get("failureThreshold")?.as_i64()?;
    Some((threshold - 1).saturating_mul(probe.get("periodSeconds")?.as_i64()?))
}
