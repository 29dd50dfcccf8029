//! A workload is mended once, and rolls out when its owner says so.

use serde_json::{Value, json};

use super::manifest::MANIFEST;
use super::stored::{DEADLINE, container, observed};
use crate::harness::cluster::Cluster;
use crate::harness::namespace::Namespace;
use crate::product::{MODE, changes};

/// The template and what is written down of it stay as they were made, whatever else is changed; and so do the pods.
pub(super) fn mend_once(cluster: &Cluster, _unlabelled: &Namespace<'_>) {
    let namespace = cluster.namespace("rollouts-mend-once", &[(MODE, "fix")]);
    namespace.apply(MANIFEST);
    let mended = observed(cluster, &namespace);
    assert_eq!(container(&mended, "startupProbe")["failureThreshold"], 114);
    assert!(changes(&mended).is_some(), "{mended}");
    let is = |generation: u64, replica_sets: usize| {
        let now = observed(cluster, &namespace);
        assert_eq!(now["metadata"]["generation"], generation, "{now}");
        assert_eq!(namespace.list("replicasets").len(), replica_sets);
        assert_eq!(changes(&now), changes(&mended));
        now
    };
    // The API server counts an annotation as well as the specification.
    is(1, 1);
    pods_are_as_their_template(cluster, &namespace, &mended, 1);

    let kubectl = |arguments: &[&str]| {
        let done = namespace.kubectl(arguments, None);
        assert!(done.ok, "{}: {}", done.line, done.err);
        done.err
    };
    let quietly = |arguments: &[&str]| assert_eq!(kubectl(arguments), "");
    quietly(&["scale", "deployment/engine", "--replicas=2"]);
    let scaled = is(2, 1);
    pods_are_as_their_template(cluster, &namespace, &scaled, 2);
    quietly(&["annotate", "deployment/engine", "example.org/note=seen"]);
    quietly(&["label", "deployment/engine", "example.org/team=models"]);
    quietly(&[
        "patch",
        "deployment/engine",
        "--patch={\"spec\": {\"replicas\": 1}}",
    ]);
    let same = is(4, 1);
    assert_eq!(same["spec"]["template"], mended["spec"]["template"]);

    quietly(&["rollout", "restart", "deployment/engine"]);
    let restarted = is(5, 2);
    let pod = |object: &Value| object["spec"]["template"]["spec"].clone();
    assert_eq!(pod(&restarted), pod(&mended));

    // An annotation of ours on the metadata counts from the next update of the template on.
    let said = kubectl(&["annotate", "deployment/engine", "warmgate.io/drain-time=2m"]);
    assert!(said.contains("[annotation-not-in-template]"), "{said}");
    let annotated = is(6, 2);
    assert_eq!(annotated["spec"], restarted["spec"]);
    let said = kubectl(&["rollout", "restart", "deployment/engine"]);
    assert!(said.contains("terminationGracePeriodSeconds 135"), "{said}");
    let drains = observed(cluster, &namespace);
    assert_eq!(drains["metadata"]["generation"], 7);
    assert_eq!(pod(&drains)["terminationGracePeriodSeconds"], 135);
}

/// So many pods come of the Deployment, each as its template says; the API server has asked about each, and nothing was edited.
fn pods_are_as_their_template(
    cluster: &Cluster,
    namespace: &Namespace<'_>,
    deployment: &Value,
    count: usize,
) {
    let pods = cluster.wait_for("pods", DEADLINE, || {
        let pods = namespace.list("pods");
        if pods.len() == count {
            Ok(pods)
        } else {
            Err(format!("{} pods", pods.len()))
        }
    });
    for pod in &pods {
        assert_eq!(changes(pod), None, "{pod}");
        let probe = &pod["spec"]["containers"][0]["startupProbe"];
        assert_eq!(probe, container(deployment, "startupProbe"));
    }
    let asked = cluster.wait_for("audit records", DEADLINE, || {
        let mut records = cluster.audit();
        records.retain(|record| record.is("create", "pods", namespace.name()));
        if records.len() >= count {
            Ok(records)
        } else {
            Err(format!("{} records", records.len()))
        }
    });
    for record in asked {
        let said = record.annotation("mutation.webhook.admission.k8s.io/round_0_index_0");
        let said: Value = serde_json::from_str(said.unwrap_or("null")).unwrap_or_default();
        let asked = (&said["webhook"], &said["mutated"]);
        assert_eq!(
            asked,
            (&json!("fix.mutate.warmgate.io"), &json!(false)),
            "{}",
            record.value()
        );
    }
}

const SERVER: &str = r#"
apiVersion: apps/v1
kind: Deployment
metadata:
  name: engine
spec:
  selector: {matchLabels: {app: engine}}
  template:
    metadata:
      labels: {app: engine}
      annotations: {warmgate.io/max-startup-time: 15m, warmgate.io/prestop-sleep: 1s, warmgate.io/drain-time: 1s}
    spec:
      containers:
      - name: engine
        image: slowserver:local
        args: ["--http", "8000", "--ready-after", "1", "--on-term", "abort"]
        resources: {limits: {nvidia.com/gpu: "1"}}
        livenessProbe:
          httpGet: {path: /health, port: 8000}
          failureThreshold: 6
        readinessProbe:
          httpGet: {path: /health, port: 8000}
          periodSeconds: 1
"#;

/// An older version comes back as it was, ours and its record too: a running one, and one of before warmgate came.
pub(super) fn undo_works(cluster: &Cluster, unlabelled: &Namespace<'_>) {
    unlabelled.apply(SERVER);
    let unmended = observed(cluster, unlabelled);
    assert_eq!(changes(&unmended), None);
    let label = format!("{MODE}=enforce");
    let label = ["label", "namespace", unlabelled.name(), &label];
    cluster.kubectl(&label, None).must();

    let version = |port: &str, time: &str| {
        unlabelled.apply(&SERVER.replace("8000", port).replace("15m", time));
        observed(cluster, unlabelled)
    };
    let (first, second) = (version("8001", "15m"), version("8002", "30m"));
    let startup = |object: &Value| container(object, "startupProbe")["httpGet"]["port"].clone();
    assert_eq!([startup(&first), startup(&second)], [8001, 8002]);
    let deadline = |object: &Value| object["spec"]["progressDeadlineSeconds"].clone();
    assert_eq!([deadline(&first), deadline(&second)], [1430, 2550]);

    let undo = |arguments: &[&str]| {
        let undo = ["rollout", "undo", "deployment/engine"];
        unlabelled
            .kubectl(&[&undo, arguments].concat(), None)
            .must();
        observed(cluster, unlabelled)
    };
    for older in [&first, &second, &first] {
        let undone = undo(&[]);
        assert_eq!(undone["spec"], older["spec"]);
        assert_eq!(changes(&undone), changes(older));
        assert_eq!(unlabelled.list("replicasets").len(), 3);
    }
    let timeout = format!("--timeout={}s", DEADLINE.as_secs());
    let status = ["rollout", "status", "deployment/engine", &timeout];
    unlabelled.kubectl(&status, None).must();

    // What was never mended is mended now, and refused by nobody.
    let undone = undo(&["--to-revision=1"]);
    assert_eq!(container(&undone, "args"), container(&unmended, "args"));
    assert_eq!(
        (startup(&undone), deadline(&undone)),
        (json!(8000), json!(1430))
    );
}

/// Of a StatefulSet or DaemonSet an older template comes back, and no annotation: what is ours in it stays ours, so that its
/// owner may declare a longer time.
pub(super) fn undo_of_others_works(cluster: &Cluster, _unlabelled: &Namespace<'_>) {
    let namespace = cluster.namespace("rollouts-undo-of-others", &[(MODE, "enforce")]);
    for (kind, resource) in [("StatefulSet", "statefulsets"), ("DaemonSet", "daemonsets")] {
        let manifest = MANIFEST
            .replace("Deployment", kind)
            .replace("engine", &kind.to_lowercase());
        let get = || {
            let found = namespace.get(resource, &kind.to_lowercase());
            found.unwrap_or_else(|| panic!("there is no {kind}"))
        };
        namespace.apply(&manifest);
        let first = get();
        namespace.apply(&manifest.replace("15m", "30m"));
        cluster.wait_for("two revisions", DEADLINE, || {
            let mut revisions = namespace.list("apps/v1/controllerrevisions");
            revisions.retain(|one| one["metadata"]["ownerReferences"][0]["kind"] == kind);
            if revisions.len() == 2 {
                Ok(())
            } else {
                Err(format!("{} revisions", revisions.len()))
            }
        });
        let name = format!("{resource}/{}", kind.to_lowercase());
        namespace.kubectl(&["rollout", "undo", &name], None).must();
        let undone = get();
        assert_eq!(undone["spec"]["template"], first["spec"]["template"]);
        assert_eq!(changes(&undone), changes(&first));
        namespace.apply(&manifest.replace("15m", "1h"));
        assert_eq!(container(&get(), "startupProbe")["failureThreshold"], 451);
    }
}
