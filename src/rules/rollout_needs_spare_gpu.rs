//! A rollout starts a new pod before an old one goes, and there may be no place for it.

use serde_json::Value;

use super::rule::{Rule, Scope};
use super::{Case, case};
use crate::annotations;
use crate::plan;
use crate::words::{Finding, Severity};

pub(super) static RULE: Rule = Rule {
    id: "rollout-needs-spare-gpu",
    severity: Severity::Warn,
    summary: "a rollout needs a spare accelerator, or a port that the old pod still holds",
    page: include_str!("../../docs/rules/rollout-needs-spare-gpu.md"),
    scope: Scope::Judged,
    check,
};

fn check(case: &Case<'_>) -> Vec<Finding> {
    let Some(path) = &case.subject.workload.strategy else {
        return Vec::new();
    };
    let strategy = case.value(path);
    if plan::is_no_surge(strategy) {
        return Vec::new();
    }
    let (severity, message) = if case.intent.rollout.is_some() {
        (
            Severity::Warn,
            "strategy starts a new pod before an old one goes, no-surge is asked for: set maxSurge 0 and maxUnavailable 1".to_owned(),
        )
    } else {
        let replicas = case.replicas().unwrap_or(1);
        let (unavailable, rounded) = unavailable(strategy, replicas);
        let held = case.templates().any(|one| one.template.host_network());
        let holds = case
            .templates()
            .any(|one| !one.accelerators.holders.is_empty());
        let pods = if replicas == 1 { "pod" } else { "pods" };
        if replicas < 1 || unavailable > 0 {
            return Vec::new();
        } else if held {
            let message = format!(
                "strategy keeps all {replicas} {pods} until a new one is Ready, which needs the same ports of a node (hostNetwork): set maxSurge 0 and maxUnavailable 1"
            );
            (Severity::Warn, message)
        } else if rounded && holds {
            let message = format!(
                "strategy keeps all {replicas} {pods} until a new one is Ready (maxUnavailable rounds down to 0): without a spare accelerator annotate {}: no-surge",
                annotations::ROLLOUT
            );
            (Severity::Note, message)
        } else {
            return Vec::new();
        }
    };
    vec![case::with_severity(
        RULE.at(path.clone(), message),
        severity,
    )]
}

/// How many of the pods a rolling update may take away first, and whether a percentage was rounded down to that. As
/// `ResolveFenceposts` has it (`pkg/controller/deployment/util/deployment_util.go`).
fn unavailable(strategy: Option<&Value>, replicas: i64) -> (i64, bool) {
    let value = strategy
        .and_then(|strategy| strategy.pointer("/rollingUpdate/maxUnavailable"))
        .filter(|value| !value.is_null());
    let percent = match value {
        None => 25,
        Some(value) => match (value.as_i64(), value.as_str()) {
            (Some(pods), _) => return (pods, false),
            (None, Some(text)) => match text.strip_suffix('%').map(str::parse::<i64>) {
                Some(Ok(percent)) => percent,
                // Nothing that the API server takes.
                _ => return (1, false),
            },
            (None, None) => return (1, false),
        },
    };
    (replicas.saturating_mul(percent) / 100, percent > 0)
}
