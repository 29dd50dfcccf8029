//! A model server as its owner applies it. No node runs it: what is stored of it is what matters.

use std::time::Duration;

use serde_json::Value;

use crate::harness::cluster::Cluster;
use crate::harness::namespace::Namespace;

/// How long controllers may take on a busy machine.
pub(super) const DEADLINE: Duration = Duration::from_secs(120);

/// It declares a time that its liveness probe does not wait, which an edit cures.
pub(super) const MANIFEST: &str = r#"
apiVersion: apps/v1
kind: Deployment
metadata:
  name: engine
spec:
  selector: {matchLabels: {app: engine}}
  template:
    metadata:
      labels: {app: engine}
      annotations: {warmgate.io/max-startup-time: 15m}
    spec:
      schedulerName: nobody
      containers:
      - name: engine
        image: registry.example/own/server:1.4
        ports: [{containerPort: 8000}]
        resources: {limits: {nvidia.com/gpu: "1"}}
        livenessProbe:
          httpGet: {path: /health, port: 8000}
          failureThreshold: 6
        readinessProbe:
          httpGet: {path: /health, port: 8000}
"#;

/// The same with a startup probe that its owner wrote and that cannot hold for the time declared: no edit cures that.
pub(super) fn contradictory() -> String {
    format!(
        "{MANIFEST}        startupProbe:
          httpGet: {{path: /health, port: 8000}}
          failureThreshold: 3
"
    )
}

/// The Deployment as it is stored.
#[track_caller]
pub(super) fn stored(namespace: &Namespace<'_>) -> Value {
    namespace
        .get("deployments", "engine")
        .unwrap_or_else(|| panic!("there is no Deployment"))
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

/// A part of the only container of a workload's template.
pub(super) fn container<'v>(object: &'v Value, part: &str) -> &'v Value {
    &object["spec"]["template"]["spec"]["containers"][0][part]
}
