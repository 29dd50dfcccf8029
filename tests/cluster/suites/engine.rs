//! A server that is killed while it loads, in objects of every kind, and what warmgate writes for it.

use serde_json::{Value, json};

use crate::product::changes;

/// The name of every object, label and container here: each suite has a namespace of its own.
pub(super) const ENGINE: &str = "engine";

/// Its pod template, which says that it loads for up to 15 minutes. No node takes its pods.
pub(super) fn template() -> Value {
    json!({
        "metadata": {
            "labels": {"app": ENGINE},
            "annotations": {"warmgate.io/max-startup-time": "15m"},
        },
        "spec": {
            "schedulerName": "nobody",
            "containers": [{
                "name": ENGINE,
                "image": "slowserver:local",
                "args": ["--http", "8000"],
                "ports": [{"name": "http", "containerPort": 8000}],
                "resources": {"limits": {"nvidia.com/gpu": "1"}},
                "livenessProbe": {"httpGet": {"path": "/health", "port": "http"}},
            }],
        },
    })
}

/// The same for the node: it loads for 6 s, its liveness probe kills it after 2 to 4 s, and it says that it takes up to 12 s.
pub(super) fn template_that_runs() -> Value {
    let mut template = template();
    template["metadata"]["annotations"] = json!({
        "warmgate.io/max-startup-time": "12s",
        "warmgate.io/prestop-sleep": "1s",
        "warmgate.io/drain-time": "1s",
    });
    template["spec"]["schedulerName"] = json!("default-scheduler");
    let engine = &mut template["spec"]["containers"][0];
    engine["args"] = json!(["--http", "8000", "--ready-after", "6", "--on-term", "abort"]);
    engine["livenessProbe"]["periodSeconds"] = json!(2);
    engine["livenessProbe"]["failureThreshold"] = json!(2);
    template
}

/// A workload of `apps/v1` with one pod of the `template`.
pub(super) fn workload(kind: &str, template: Value) -> Value {
    json!({
        "apiVersion": "apps/v1",
        "kind": kind,
        "metadata": {"name": ENGINE},
        "spec": {"selector": {"matchLabels": {"app": ENGINE}}, "template": template},
    })
}

/// A pod by itself.
pub(super) fn pod(template: Value) -> Value {
    let mut pod = template;
    pod["apiVersion"] = json!("v1");
    pod["kind"] = json!("Pod");
    pod["metadata"]["name"] = json!(ENGINE);
    pod
}

/// What stands in a pod spec of what warmgate writes: the failures that a start may take, the liveness probe's timeout, the sleep
/// before SIGTERM and the grace period.
pub(super) fn written(spec: &Value) -> Value {
    let containers = spec["containers"].as_array();
    let engine = containers
        .and_then(|containers| containers.iter().find(|one| one["name"] == ENGINE))
        .unwrap_or_else(|| panic!("no container {ENGINE}: {spec}"));
    json!({
        "startup": engine["startupProbe"]["failureThreshold"],
        "timeout": engine["livenessProbe"]["timeoutSeconds"],
        "sleep": engine["lifecycle"]["preStop"]["sleep"]["seconds"],
        "grace": spec["terminationGracePeriodSeconds"],
    })
}

/// What [`template`] gets: a quarter more than 15 minutes, and one failure more, in steps of 10 s.
pub(super) fn mended() -> Value {
    json!({"startup": 114, "timeout": 5, "sleep": 15, "grace": 75})
}

/// What the API server itself makes of it.
pub(super) fn untouched() -> Value {
    json!({"startup": null, "timeout": 1, "sleep": null, "grace": 30})
}

/// The fields that an object's `changes` name.
#[track_caller]
pub(super) fn named(object: &Value) -> Vec<String> {
    let changes = changes(object).unwrap_or_default();
    let members = changes.as_object().into_iter().flatten();
    members.map(|(name, _)| name.clone()).collect()
}
