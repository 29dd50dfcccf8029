//! Objects of every kind around pod templates.

use serde_json::{Value, json};

use super::{Source, metadata, pod};

/// An object.
pub(super) fn object(source: &mut Source<'_>) -> Value {
    let kind = source.one(&[
        "Deployment",
        "Deployment",
        "Deployment",
        "Pod",
        "Pod",
        "Pod",
        "StatefulSet",
        "LeaderWorkerSet",
        "DaemonSet",
        "Job",
        "CronJob",
        "ReplicaSet",
        "Service",
        "Unknown",
    ]);
    let mut object = match kind {
        "Pod" => pod(source),
        "Job" => {
            json!({"apiVersion": "batch/v1", "kind": kind, "spec": {"template": pod::template(source)}})
        }
        "CronJob" => {
            let template = pod::template(source);
            json!({"apiVersion": "batch/v1", "kind": kind, "spec": {"jobTemplate": {"spec": {"template": template}}}})
        }
        "LeaderWorkerSet" => leader_worker_set(source),
        "Service" => {
            json!({"apiVersion": "v1", "kind": kind, "spec": {"selector": {"app": "chat"}}})
        }
        "Unknown" => {
            json!({"apiVersion": "example.com/v1", "kind": "Model", "spec": {"template": pod::template(source)}})
        }
        kind => rolled(source, kind),
    };
    metadata::fill(source, &mut object, kind == "Pod");
    object
}

fn pod(source: &mut Source<'_>) -> Value {
    let template = pod::template(source);
    json!({"apiVersion": "v1", "kind": "Pod", "metadata": template["metadata"], "spec": template["spec"]})
}

fn rolled(source: &mut Source<'_>, kind: &str) -> Value {
    let mut object = json!({"apiVersion": "apps/v1", "kind": kind, "spec": {"selector": {"matchLabels": {"app": "chat"}}}});
    let spec = &mut object["spec"];
    if source.chance(2) {
        spec["replicas"] = source.number(&[1, 0, 2, 4]);
    }
    spec["template"] = pod::template(source);
    if kind == "Deployment" && source.chance(3) {
        spec["progressDeadlineSeconds"] = source.number(&[600, 0, 60, 1200, 7200, 2_147_483_647]);
    }
    if kind == "Deployment" && source.chance(3) {
        spec["strategy"] = strategy(source);
    }
    if source.chance(6) {
        spec["minReadySeconds"] = source.number(&[0, 10, 300]);
    }
    if kind == "StatefulSet" && source.chance(2) {
        spec["podManagementPolicy"] = source.word(&["OrderedReady", "Parallel"]);
    }
    object
}

fn strategy(source: &mut Source<'_>) -> Value {
    match source.below(5) {
        0 => json!({"type": "RollingUpdate"}),
        1 => {
            json!({"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": "25%"}})
        }
        2 => json!({"rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}}),
        3 => json!({"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 2}}),
        _ => json!({"type": "Recreate"}),
    }
}

fn leader_worker_set(source: &mut Source<'_>) -> Value {
    let mut group = json!({"size": 2, "workerTemplate": pod::template(source)});
    if source.chance(2) {
        group["leaderTemplate"] = pod::template(source);
    }
    if source.chance(3) {
        group["restartPolicy"] = source.word(&["RecreateGroupOnPodRestart", "None"]);
    }
    let mut spec = json!({"replicas": 1, "leaderWorkerTemplate": group});
    if source.chance(2) {
        spec["startupPolicy"] = source.word(&["LeaderCreated", "LeaderReady"]);
    }
    json!({"apiVersion": "leaderworkerset.x-k8s.io/v1", "kind": "LeaderWorkerSet", "spec": spec})
}
