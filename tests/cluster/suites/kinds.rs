//! Kinds whose pods are made in their own ways, and pods of a shape of their own, on the node.

use std::time::Duration;

use serde_json::{Value, json};

use super::engine::{ENGINE, pod, template_that_runs, workload, written};
use super::stored::{CHANGED, in_template};
use crate::harness::cluster::Cluster;
use crate::harness::namespace::{Namespace, is_ready, restarts};
use crate::product::{MODE, changes};

const DEADLINE: Duration = Duration::from_secs(180);

/// What [`template_that_runs`] gets: a quarter more than 12 s, and one failure more, in steps of 5 s. A probe that asks every 2 s
/// may wait no longer than that.
fn mended() -> Value {
    json!({"startup": 4, "timeout": 2, "sleep": 1, "grace": 30})
}

/// Makes a workload, and waits until its pods are Ready: none was restarted, and none needed an edit of its own.
fn runs(
    cluster: &Cluster,
    namespace: &Namespace<'_>,
    resource: &str,
    workload: &Value,
    pods: usize,
) {
    let done = namespace.kubectl(&["create", "--filename=-"], Some(&workload.to_string()));
    assert!(done.ok, "{}", done.err);
    assert!(done.err.contains(CHANGED), "{}", done.err);
    let ready = cluster.wait_for("ready pods", DEADLINE, || {
        let found = namespace.list("pods");
        if found.len() == pods && found.iter().all(is_ready) {
            Ok(found)
        } else {
            let status = found.iter().map(|pod| pod["status"].to_string());
            Err(status.collect::<Vec<_>>().join("\n"))
        }
    });
    for pod in &ready {
        assert_eq!(restarts(pod), 0);
        assert_eq!(written(&pod["spec"]), mended());
        assert_eq!(changes(pod), None, "its template was mended already");
    }
    let stored = namespace.get(resource, ENGINE).unwrap_or_default();
    assert_eq!(in_template(&stored), mended());
    assert_eq!(stored["metadata"]["generation"], 1);
}

/// The pods of a StatefulSet come one after the other, each once the one before is Ready.
pub(super) fn stateful_set(cluster: &Cluster, _unlabelled: &Namespace<'_>) {
    let namespace = cluster.namespace("stateful-set", &[(MODE, "fix")]);
    let mut workload = workload("StatefulSet", template_that_runs());
    workload["spec"]["serviceName"] = json!(ENGINE);
    workload["spec"]["replicas"] = json!(2);
    runs(cluster, &namespace, "statefulsets", &workload, 2);
}

/// A DaemonSet has a pod on the node.
pub(super) fn daemon_set(cluster: &Cluster, _unlabelled: &Namespace<'_>) {
    let namespace = cluster.namespace("daemon-set", &[(MODE, "fix")]);
    let workload = workload("DaemonSet", template_that_runs());
    runs(cluster, &namespace, "daemonsets", &workload, 1);
}

/// A native sidecar that serves nobody stays as it is. One that a time is declared for is a server: the kubelet starts the next
/// container once its startup probe has passed.
pub(super) fn native_sidecar(cluster: &Cluster, _unlabelled: &Namespace<'_>) {
    let namespace = cluster.namespace("sidecar", &[(MODE, "fix")]);
    let mut pod = pod(template_that_runs());
    pod["metadata"]["annotations"]["warmgate.io/max-startup-time"] = json!("engine=12s, router=8s");
    let sidecar = |name: &str, port: u16, loads: &str| {
        json!({
            "name": name,
            "image": "slowserver:local",
            "restartPolicy": "Always",
            "args": ["--http", port.to_string(), "--ready-after", loads, "--on-term", "abort"],
            "livenessProbe": {
                "httpGet": {"path": "/health", "port": port},
                "periodSeconds": 2,
                "failureThreshold": 2,
            },
        })
    };
    pod["spec"]["initContainers"] =
        json!([sidecar("proxy", 15000, "0"), sidecar("router", 9000, "5")]);
    namespace.apply(&pod.to_string());
    let ready = namespace.ready(ENGINE, DEADLINE);
    assert_eq!(written(&ready["spec"]), mended());
    assert_eq!(restarts(&ready), 0);
    let [proxy, router] = [0, 1].map(|at| &ready["spec"]["initContainers"][at]);
    assert_eq!(proxy["startupProbe"], Value::Null);
    assert_eq!(proxy["lifecycle"], Value::Null);
    assert_eq!(proxy["livenessProbe"]["timeoutSeconds"], 1);
    assert_eq!(router["startupProbe"]["failureThreshold"], 3);
    assert_eq!(router["livenessProbe"]["timeoutSeconds"], 2);
    let statuses = ready["status"]["initContainerStatuses"].as_array();
    let counts: Vec<_> = statuses
        .into_iter()
        .flatten()
        .map(|status| &status["restartCount"])
        .collect();
    assert_eq!(counts, [0, 0], "{ready}");
}
