//! Objects that a controller or the node wrote: what they say is left alone, or mended where nobody puts it back, and never refused.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Value, json};

use super::engine::{mended, pod, template, untouched, workload, written};
use super::stored::{in_template, the_pod};
use crate::harness::cluster::Cluster;
use crate::harness::namespace::Namespace;
use crate::product::{MODE, changes};

/// Says that an operator's object controls `object`. The operator is a ConfigMap: what is controlled by nothing is collected.
fn own(namespace: &Namespace<'_>, object: &mut Value) {
    let operator =
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "operator"}});
    let answer = namespace.create("configmaps", &operator);
    assert_eq!(answer.status, 201, "{}", answer.body);
    object["metadata"]["ownerReferences"] = json!([{
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "name": "operator",
        "uid": answer.body["metadata"]["uid"],
        "controller": true,
    }]);
}

/// A template whose startup probe gives up long before the model is loaded, which no edit of ours may touch.
fn contradictory() -> Value {
    let mut template = template();
    template["spec"]["containers"][0]["startupProbe"] = json!({
        "httpGet": {"path": "/health", "port": "http"},
        "failureThreshold": 6,
    });
    template
}

/// The operator's Deployment stays as the operator wrote it, and nobody is told. Its pods are mended.
pub(super) fn deployment(cluster: &Cluster, _unlabelled: &Namespace<'_>) {
    let namespace = cluster.namespace("owned", &[(MODE, "fix")]);
    let mut deployment = workload("Deployment", template());
    own(&namespace, &mut deployment);
    let answer = namespace.create("deployments", &deployment);
    assert_eq!(answer.status, 201, "{}", answer.body);
    assert!(answer.warnings.is_empty(), "{:?}", answer.warnings);
    assert_eq!(in_template(&answer.body), untouched());
    assert_eq!(answer.body["spec"]["progressDeadlineSeconds"], 600);
    assert_eq!(changes(&answer.body), None);
    let pod = the_pod(cluster, &namespace);
    assert_eq!(written(&pod["spec"]), mended());
    assert!(changes(&pod).is_some());
}

/// In `enforce` what an owner would be refused for passes where a controller wrote it, and the pod gets the window that its
/// annotation declares.
pub(super) fn never_refused(cluster: &Cluster, _unlabelled: &Namespace<'_>) {
    let namespace = cluster.namespace("owned-enforced", &[(MODE, "enforce")]);
    let refused = namespace.create("pods", &pod(contradictory()));
    assert_eq!(refused.status, 403, "{}", refused.body);
    let message = refused.body["message"].as_str().unwrap_or_default();
    assert!(message.contains("[startup-window-too-short]"), "{message}");

    let mut deployment = workload("Deployment", contradictory());
    own(&namespace, &mut deployment);
    let answer = namespace.create("deployments", &deployment);
    assert_eq!(answer.status, 201, "{}", answer.body);
    assert!(answer.warnings.is_empty(), "{:?}", answer.warnings);
    let made = the_pod(cluster, &namespace);
    assert_eq!(written(&made["spec"]), mended());

    // What cannot be read is refused as well, and an owned pod gets everything else.
    let mut unreadable = pod(template());
    unreadable["metadata"]["annotations"]["warmgate.io/max-startup-time"] = json!("soon");
    let refused = namespace.create("pods", &unreadable);
    assert_eq!(refused.status, 403, "{}", refused.body);
    unreadable["metadata"]["ownerReferences"] = answer.body["metadata"]["ownerReferences"].clone();
    let answer = namespace.create("pods", &unreadable);
    assert_eq!(answer.status, 201, "{}", answer.body);
    assert!(answer.warnings.is_empty(), "{:?}", answer.warnings);
    assert_eq!(
        written(&answer.body["spec"]),
        json!({"startup": 361, "timeout": 5, "sleep": 15, "grace": 75})
    );
}

/// The file of a static pod; the kubelet ends the pod when it goes.
struct StaticPod(PathBuf);

impl StaticPod {
    fn write(cluster: &Cluster, pod: &Value) -> Self {
        let own = cluster.own().expect("it is a cluster of our own");
        let folder = own.state().path().join("etc/manifests");
        // The kubelet reads no file whose name begins with a dot, and so none that is half written.
        let (half, whole) = (folder.join(".engine.yaml"), folder.join("engine.yaml"));
        let written = fs::write(&half, pod.to_string()).and_then(|()| fs::rename(&half, &whole));
        written.unwrap_or_else(|error| panic!("{}: {error}", whole.display()));
        Self(whole)
    }
}

impl Drop for StaticPod {
    fn drop(&mut self) {
        fs::remove_file(&self.0).ok();
    }
}

/// The kubelet runs a static pod from its file, whatever the API server says: its mirror is neither mended nor refused, and nobody
/// asks us.
pub(super) fn mirror_pod(cluster: &Cluster, _unlabelled: &Namespace<'_>) {
    let namespace = cluster.namespace("mirror", &[(MODE, "enforce")]);
    let mut pod = pod(contradictory());
    pod["metadata"]["namespace"] = json!(namespace.name());
    let _file = StaticPod::write(cluster, &pod);
    let mirror = cluster.wait_for("mirror pod", Duration::from_secs(120), || {
        let pods = namespace.list("pods");
        let found = pods.into_iter().next().ok_or("no pod")?;
        Ok(found)
    });
    let annotations = &mirror["metadata"]["annotations"];
    assert!(
        annotations["kubernetes.io/config.mirror"].is_string(),
        "{mirror}"
    );
    assert_eq!(
        written(&mirror["spec"]),
        json!({"startup": 6, "timeout": 1, "sleep": null, "grace": 30})
    );
    assert_eq!(changes(&mirror), None);
    let asked = cluster.wait_for("audit record", Duration::from_secs(30), || {
        let records = cluster.audit();
        let created = records
            .iter()
            .find(|record| record.is("create", "pods", namespace.name()));
        let created = created.ok_or_else(|| format!("{} records", records.len()))?;
        Ok(created.value()["annotations"].to_string())
    });
    assert!(!asked.contains("warmgate"), "{asked}");
}
