//! What the API server and the controllers have made of what a suite wrote.

use std::time::Duration;

use serde_json::Value;

use super::engine::{ENGINE, written};
use crate::harness::cluster::Cluster;
use crate::harness::namespace::Namespace;

/// How long controllers may take on a busy machine.
pub(super) const DEADLINE: Duration = Duration::from_secs(120);

/// How kubectl says what was changed.
pub(super) const CHANGED: &str = "Warning: warmgate changed";

/// The Deployment as it is stored.
#[track_caller]
pub(super) fn stored(namespace: &Namespace<'_>) -> Value {
    let found = namespace.get("deployments", ENGINE);
    found.unwrap_or_else(|| panic!("there is no Deployment in {}", namespace.name()))
}

/// The Deployment once its controller has seen all of it.
#[track_caller]
pub(super) fn observed(cluster: &Cluster, namespace: &Namespace<'_>) -> Value {
    cluster.wait_for("observed Deployment", DEADLINE, || {
        let object = stored(namespace);
        if object["status"]["observedGeneration"] == object["metadata"]["generation"] {
            Ok(object)
        } else {
            Err(object["status"].to_string())
        }
    })
}

/// The one pod that a controller has made.
#[track_caller]
pub(super) fn the_pod(cluster: &Cluster, namespace: &Namespace<'_>) -> Value {
    cluster.wait_for("pod", DEADLINE, || {
        match <[Value; 1]>::try_from(namespace.list("pods")) {
            Ok([pod]) => Ok(pod),
            Err(pods) => Err(format!("{} pods", pods.len())),
        }
    })
}

/// What stands in a workload's template of what warmgate writes.
#[track_caller]
pub(super) fn in_template(workload: &Value) -> Value {
    written(&workload["spec"]["template"]["spec"])
}

/// A part of the only container of a workload's template.
pub(super) fn container<'v>(workload: &'v Value, part: &str) -> &'v Value {
    &workload["spec"]["template"]["spec"]["containers"][0][part]
}
