//! A liveness kill during the load restarts a whole group, not one pod.

use serde_json::Value;

use super::Case;
use super::rule::{Rule, Scope};
use crate::intent::ContainerIntent;
use crate::knowledge::Group;
use crate::kubelet::bounds;
use crate::subject::Role;
use crate::words::{FieldPath, Finding, Severity, clip};

pub(super) static RULE: Rule = Rule {
    id: "group-restart-cost",
    severity: Severity::Warn,
    summary: "a liveness kill during the load makes a whole group start anew",
    page: include_str!("../../docs/rules/group-restart-cost.md"),
    scope: Scope::Judged,
    check,
};

fn check(case: &Case<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (template, container, probe) in case.probes(Role::Liveness) {
        let guarded = container.container.raw_probe(Role::Startup).is_some();
        let harmless = probe.handler.always_passes();
        if guarded || harmless || super::never_counts(template, container, probe) {
            continue;
        }
        let Some(group) = group(case, container) else {
            continue;
        };
        let message = format!(
            "may kill {} s after a start with no startupProbe before it, and {group}: {}",
            bounds::guaranteed_window(probe),
            super::startup_cure(case, template, container)
        );
        findings.push(RULE.about(container, &["livenessProbe"], &message));
    }
    findings
}

/// What else a restart of the container takes with it.
fn group(case: &Case<'_>, container: &ContainerIntent<'_>) -> Option<String> {
    match case.subject.workload.kind.as_str() {
        "LeaderWorkerSet" => {
            let at = |key| FieldPath::of(&["spec", "leaderWorkerTemplate", key]);
            let policy = case.value(&at("restartPolicy")).and_then(Value::as_str);
            // The default of leaderworkerset.x-k8s.io/v1.
            let policy = policy.unwrap_or("RecreateGroupOnPodRestart");
            let size = case.subject.number(&at("size")).unwrap_or(1);
            (policy.starts_with("RecreateGroup") && size > 1)
                .then(|| format!("each kill recreates all {size} pods of the group"))
        }
        "StatefulSet" => {
            let (Group::Member(why) | Group::RankAtRunTime(why) | Group::Spread(why)) =
                &container.server()?.group
            else {
                return None;
            };
            let why = clip(why, 40);
            Some(format!(
                "its peers lose it with each kill and load again ({why})"
            ))
        }
        _ => None,
    }
}
