//! The problem itself, a server that loads longer than its liveness probe waits: where nobody helps, and where warmgate does.

use std::time::Duration;

use serde_json::Value;

use super::engine::named;
use crate::harness::cluster::Cluster;
use crate::harness::namespace::{Namespace, restarts};
use crate::product::{MODE, changes};

const DEADLINE: Duration = Duration::from_secs(180);

/// Its load is shortened to what keeps the suite fast: the probe still kills it before the half of it.
const SLOWBOOT: &str = r#"
apiVersion: v1
kind: Pod
metadata:
  name: slowboot
  annotations: {warmgate.io/accelerator: "true", warmgate.io/max-startup-time: 12s}
spec:
  # A shell as process 1 ignores SIGTERM.
  terminationGracePeriodSeconds: 1
  containers:
  - name: model
    image: busybox:local
    command: [sh, -c, "rm -f /tmp/ready; sleep 10; touch /tmp/ready; sleep 3600"]
    livenessProbe:
      exec: {command: [cat, /tmp/ready]}
      periodSeconds: 2
      failureThreshold: 2
"#;

/// The same as a Deployment that answers 503 while it loads.
const DEPLOYMENT: &str = r#"
apiVersion: apps/v1
kind: Deployment
metadata:
  name: engine
spec:
  selector: {matchLabels: {app: engine}}
  template:
    metadata:
      labels: {app: engine}
      annotations: {warmgate.io/max-startup-time: 12s, warmgate.io/prestop-sleep: 1s, warmgate.io/drain-time: 1s}
    spec:
      containers:
      - name: engine
        image: slowserver:local
        args: ["--http", "8000", "--ready-after", "10", "--on-term", "abort"]
        ports: [{name: http, containerPort: 8000}]
        livenessProbe:
          httpGet: {path: /health, port: http}
          periodSeconds: 2
          failureThreshold: 2
"#;

/// The line by which the Deployment asks for an accelerator. The nodes of somebody else's cluster may have none.
const ACCELERATOR: &str = "        resources: {limits: {nvidia.com/gpu: 1}}\n";

/// The Deployment for the nodes of `cluster`.
fn deployment(cluster: &Cluster) -> String {
    let accelerator = cluster.own().map_or("", |_| ACCELERATOR);
    format!("{DEPLOYMENT}{accelerator}")
}

/// The kubelet kills both again and again, and the pod never becomes ready.
pub(super) fn crash_loops(cluster: &Cluster, namespace: &Namespace<'_>) {
    namespace.apply(SLOWBOOT);
    namespace.apply(&deployment(cluster));
    let slowboot = || namespace.get("pods", "slowboot");
    let engine = || namespace.list("pods").into_iter().find(is_engine);
    let looks: [&dyn Fn() -> Option<Value>; 2] = [&slowboot, &engine];
    for look in looks {
        let pod = cluster.wait_for("second restart and its event", DEADLINE, || {
            let pod = look().ok_or("no pod")?;
            if restarts(&pod) >= 2 && was_killed_by_its_liveness_probe(namespace, &pod) >= 2 {
                Ok(pod)
            } else {
                Err(pod["status"].to_string())
            }
        });
        assert_eq!(changes(&pod), None);
    }
}

/// How often the kubelet says that it killed the pod's container because of its liveness probe. It says nothing else of it.
fn was_killed_by_its_liveness_probe(namespace: &Namespace<'_>, pod: &Value) -> u64 {
    let events = namespace.events(pod["metadata"]["name"].as_str().unwrap_or_default());
    let message = |event: &Value| event["message"].as_str().unwrap_or_default().to_owned();
    let killings = events.iter().filter(|event| event["reason"] == "Killing");
    killings
        .inspect(|event| {
            let message = message(event);
            assert!(message.contains("failed liveness probe"), "{message}");
        })
        .map(|event| event["count"].as_u64().unwrap_or(1))
        .sum()
}

/// In a namespace that is labelled both become Ready without a restart, and show what was written.
pub(super) fn is_mended(cluster: &Cluster, _unlabelled: &Namespace<'_>) {
    let namespace = cluster.namespace("slowboot-is-mended", &[(MODE, "fix")]);
    namespace.apply(SLOWBOOT);
    namespace.apply(&deployment(cluster));

    let pod = namespace.ready("slowboot", DEADLINE);
    assert_eq!(restarts(&pod), 0);
    let startup = &pod["spec"]["containers"][0]["startupProbe"];
    assert_eq!(startup["exec"]["command"][0], "cat", "{pod}");
    assert_is_named(&pod, "spec.containers[model].startupProbe");

    let engine = cluster.wait_for("ready engine", DEADLINE, || {
        let pod = namespace.list("pods").into_iter().find(is_engine);
        let pod = pod.ok_or("no pod")?;
        if crate::harness::namespace::is_ready(&pod) {
            Ok(pod)
        } else {
            Err(pod["status"].to_string())
        }
    });
    assert_eq!(restarts(&engine), 0);
    assert_eq!(changes(&engine), None, "its template was mended already");
    let deployment = namespace.get("deployments", "engine").unwrap_or_default();
    let startup = &deployment["spec"]["template"]["spec"]["containers"][0]["startupProbe"];
    assert_eq!(startup["httpGet"]["path"], "/health", "{deployment}");
    assert_is_named(
        &deployment,
        "spec.template.spec.containers[engine].startupProbe",
    );
}

/// The object's `changes` name `field`.
#[track_caller]
fn assert_is_named(object: &Value, field: &str) {
    let named = named(object);
    assert!(named.iter().any(|name| name == field), "{named:?}");
}

fn is_engine(pod: &Value) -> bool {
    pod["metadata"]["labels"]["app"] == "engine"
}
