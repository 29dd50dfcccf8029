//! Every way in which kubectl writes an object: what is written is mended, and said once.

use serde_json::{Value, json};

use super::engine::{ENGINE, mended, named, pod, template, workload, written};
use super::stored::{CHANGED, DEADLINE, in_template, observed, stored};
use crate::harness::audit::Record;
use crate::harness::cluster::Cluster;
use crate::harness::namespace::Namespace;
use crate::product::{MODE, changes};

/// The fields of a Deployment that are written.
const FIELDS: [&str; 5] = [
    "spec.progressDeadlineSeconds",
    "spec.template.spec.containers[engine].lifecycle.preStop",
    "spec.template.spec.containers[engine].livenessProbe.timeoutSeconds",
    "spec.template.spec.containers[engine].startupProbe",
    "spec.template.spec.terminationGracePeriodSeconds",
];

/// A Deployment without pods.
fn deployment() -> Value {
    let mut deployment = workload("Deployment", template());
    deployment["spec"]["replicas"] = json!(0);
    deployment
}

/// What is created is mended. What replaces it without our values gets the same ones again, so that no pod is rolled.
pub(super) fn creates_and_replaces(cluster: &Cluster, _unlabelled: &Namespace<'_>) {
    let namespace = cluster.namespace("creates", &[(MODE, "fix")]);
    let mut deployment = deployment();
    let write = |verb: &str, deployment: &Value| {
        let text = deployment.to_string();
        let once = || namespace.kubectl(&[verb, "--filename=-"], Some(&text));
        let mut done = once();
        // kubectl reads the version that it replaces, and the controller may write the status in between.
        for _ in 0..5 {
            if done.err.contains("the object has been modified") {
                done = once();
            }
        }
        assert!(done.ok, "{}", done.err);
        done.err
    };
    let said = write("create", &deployment);
    assert!(said.contains(&format!("{CHANGED} 5 fields: ")), "{said}");
    let created = stored(&namespace);
    assert_eq!(in_template(&created), mended());
    assert_eq!(created["spec"]["progressDeadlineSeconds"], 1430);
    assert_eq!(named(&created), FIELDS);

    let said = write("replace", &deployment);
    assert!(said.contains(CHANGED), "{said}");
    let replaced = observed(cluster, &namespace);
    assert_eq!(replaced["spec"], created["spec"]);
    assert_eq!(changes(&replaced), changes(&created));
    assert_eq!(namespace.list("replicasets").len(), 1);

    let path = "/spec/template/spec/containers/0/livenessProbe/httpGet/path";
    if let Some(path) = deployment.pointer_mut(path) {
        *path = json!("/healthz");
    }
    write("replace", &deployment);
    let replaced = stored(&namespace);
    assert_eq!(in_template(&replaced), mended());
    let startup = &replaced["spec"]["template"]["spec"]["containers"][0]["startupProbe"];
    assert_eq!(startup["httpGet"]["path"], "/healthz");
}

/// Patches of each kind are mended: what is new is added, what a patch has thrown out comes back, what the owner now says stays.
pub(super) fn patches(cluster: &Cluster, _unlabelled: &Namespace<'_>) {
    let namespace = cluster.namespace("patches", &[(MODE, "fix")]);
    namespace.apply(&deployment().to_string());
    let patch = |kind: &str, patch: Value| {
        let (kind, patch) = (format!("--type={kind}"), format!("--patch={patch}"));
        let done = namespace.kubectl(&["patch", "deployment", ENGINE, &kind, &patch], None);
        assert!(done.ok, "{}", done.err);
        assert!(done.err.contains(CHANGED), "{}", done.err);
        stored(&namespace)
    };
    let readiness = json!({"httpGet": {"path": "/ready", "port": "http"}});
    let path = "/spec/template/spec/containers/0/readinessProbe";
    let after = patch(
        "json",
        json!([{"op": "add", "path": path, "value": readiness}]),
    );
    assert_eq!(in_template(&after), mended());
    assert_eq!(
        after
            .pointer(path)
            .map(|probe| probe["timeoutSeconds"].clone()),
        Some(json!(5))
    );

    // A merge patch replaces lists whole, so everything of ours that stands in the container goes.
    let containers = template()["spec"]["containers"].clone();
    let after = patch(
        "merge",
        json!({"spec": {"template": {"spec": {"containers": containers}}}}),
    );
    assert_eq!(in_template(&after), mended());
    assert_eq!(after.pointer(path), None);
    assert_eq!(named(&after), FIELDS);

    let after = patch(
        "strategic",
        json!({"spec": {"template": {
            "metadata": {"annotations": {"warmgate.io/max-startup-time": "20m"}},
            "spec": {"containers": [{"name": ENGINE, "livenessProbe": {"timeoutSeconds": 3}}]},
        }}}),
    );
    assert_eq!(
        in_template(&after),
        json!({"startup": 151, "timeout": 3, "sleep": 15, "grace": 75})
    );
    assert!(
        !named(&after).iter().any(|field| field.contains("liveness")),
        "{after}"
    );
}

/// A dry run shows and is answered with what the write itself is answered with, and nothing is stored.
pub(super) fn dry_runs(cluster: &Cluster, _unlabelled: &Namespace<'_>) {
    let namespace = cluster.namespace("dry-runs", &[(MODE, "fix")]);
    let text = deployment().to_string();
    let create = ["create", "--filename=-", "--output=json"];
    let dry = [&create[..], &["--dry-run=server"]].concat();
    let shown = parsed(&namespace.kubectl(&dry, Some(&text)).must());
    assert_eq!(namespace.get("deployments", ENGINE), None);
    let created = parsed(&namespace.kubectl(&create, Some(&text)).must());
    assert_eq!(in_template(&shown), mended());
    assert_eq!(shown["spec"], created["spec"]);
    assert_eq!(changes(&shown), changes(&created));

    let raise = [
        "patch",
        "deployment",
        ENGINE,
        "--output=json",
        r#"--patch={"spec": {"template": {"metadata": {"annotations": {"warmgate.io/max-startup-time": "20m"}}}}}"#,
    ];
    let dry = [&raise[..], &["--dry-run=server"]].concat();
    let shown = parsed(&namespace.kubectl(&dry, None).must());
    assert_eq!(in_template(&shown)["startup"], 151);
    assert_eq!(in_template(&stored(&namespace)), mended());
    let raised = parsed(&namespace.kubectl(&raise, None).must());
    assert_eq!(shown["spec"], raised["spec"]);
    assert_eq!(changes(&shown), changes(&raised));

    for verb in ["create", "patch"] {
        let records = cluster.wait_for("audit records", DEADLINE, || {
            let mut records = cluster.audit();
            records.retain(|record| record.is(verb, "deployments", namespace.name()));
            match <[Record; 2]>::try_from(records) {
                Ok(records) => Ok(records),
                Err(records) => Err(format!("{} records", records.len())),
            }
        });
        let [dry, real] = records.map(|record| {
            let patch = record.annotation("patch.webhook.admission.k8s.io/round_0_index_0");
            patch.map(str::to_owned)
        });
        assert!(dry.is_some(), "no patch of {verb} in the audit log");
        assert_eq!(dry, real, "{verb}");
    }
}

#[track_caller]
fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// Pods whose names the API server makes have none yet when they are mended.
pub(super) fn generate_names(cluster: &Cluster, _unlabelled: &Namespace<'_>) {
    let namespace = cluster.namespace("generates", &[(MODE, "fix")]);
    let mut pod = pod(template());
    pod["metadata"]["name"].take();
    pod["metadata"]["generateName"] = json!("engine-");
    let create = || {
        let create = ["create", "--filename=-", "--output=name"];
        let done = namespace.kubectl(&create, Some(&pod.to_string()));
        assert!(done.err.contains(CHANGED), "{}", done.err);
        done.must().trim().replace("pod/", "")
    };
    let names = [create(), create()];
    assert_ne!(names[0], names[1]);
    for name in &names {
        assert!(name.starts_with("engine-"), "{name}");
        let pod = namespace.get("pods", name).unwrap_or_default();
        assert_eq!(written(&pod["spec"]), mended());
        assert_eq!(named(&pod).len(), 4, "{pod}");
    }
}
