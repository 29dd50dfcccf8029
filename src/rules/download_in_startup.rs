//! The model is downloaded while the probes already count.

use serde_json::Value;

use super::Case;
use super::rule::{Rule, Scope};
use crate::subject::{Container, Place, PodTemplate};
use crate::words::{Finding, Severity};

pub(super) static RULE: Rule = Rule {
    id: "download-in-startup",
    severity: Severity::Note,
    summary: "the model is downloaded while the probes already count",
    page: include_str!("../../docs/rules/download-in-startup.md"),
    scope: Scope::Judged,
    check,
};

/// Volumes that never hold a model before the pod starts.
const EMPTY: [&str; 5] = [
    "configMap",
    "downwardAPI",
    "emptyDir",
    "projected",
    "secret",
];

fn check(case: &Case<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (template, container) in case.serving() {
        let fetches = container
            .server()
            .is_some_and(|server| server.fetches_model);
        if !fetches || is_supplied(template.template, container.container) {
            continue;
        }
        let message = "downloads its model while its probes count, anew in each pod: mount a volume that keeps it, or fetch it in an init container, whose time does not count";
        findings.push(RULE.about(container, &[], message));
    }
    findings
}

/// Whether a volume may hold the model already: one that outlives pods, or one that an init container fills.
fn is_supplied(template: &PodTemplate<'_>, container: &Container<'_>) -> bool {
    let filled: Vec<&str> = template
        .containers
        .iter()
        .filter(|other| other.place != Place::Regular && other.name != container.name)
        .flat_map(mounts)
        .collect();
    mounts(container).any(|name| filled.contains(&name) || !is_empty(template, name))
}

fn mounts<'a>(container: &Container<'a>) -> impl Iterator<Item = &'a str> + use<'a> {
    let mounts = container.raw.get("volumeMounts").and_then(Value::as_array);
    let mounts = mounts.into_iter().flatten();
    mounts.filter_map(|mount| mount.get("name")?.as_str())
}

/// Whether a volume of the pod begins empty. One that the pod does not list comes from a claim template of a StatefulSet.
fn is_empty(template: &PodTemplate<'_>, name: &str) -> bool {
    let volumes = template.spec.get("volumes").and_then(Value::as_array);
    let volume = volumes
        .into_iter()
        .flatten()
        .find(|volume| volume.get("name").and_then(Value::as_str) == Some(name));
    volume.is_some_and(|volume| EMPTY.iter().any(|kind| volume.get(kind).is_some()))
}
