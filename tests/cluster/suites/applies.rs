//! kubectl apply, in the client and in the server.

use std::time::Duration;

use serde_json::{Value, json};

use super::engine::{ENGINE, mended, template, workload, written};
use super::writes::CHANGED;
use crate::harness::cluster::Cluster;
use crate::harness::namespace::Namespace;
use crate::product::{MODE, changes};

/// What makes each of them of an apply.
const IN_THE_CLIENT: &[&str] = &[];
const IN_THE_SERVER: &[&str] = &["--server-side", "--field-manager=team"];

fn run(namespace: &Namespace<'_>, verb: &str, how: &[&str], object: &Value) -> String {
    let command = [&[verb, "--filename=-"], how].concat();
    let done = namespace.kubectl(&command, Some(&object.to_string()));
    assert!(done.ok, "{}: {}{}", done.line, done.out, done.err);
    done.err
}

/// What the owner and warmgate have written. Everything else its controller writes whenever it likes.
fn stored(namespace: &Namespace<'_>) -> Value {
    let found = namespace
        .get("deployments", ENGINE)
        .unwrap_or_else(|| panic!("no deployment in {}", namespace.name()));
    json!({
        "generation": found["metadata"]["generation"],
        "changes": changes(&found),
        "spec": found["spec"],
    })
}

/// What is applied is mended; applied again nothing is in conflict, nothing changes, and no difference is seen.
pub(super) fn do_not_drift(cluster: &Cluster, _unlabelled: &Namespace<'_>) {
    for how in [IN_THE_CLIENT, IN_THE_SERVER] {
        let namespace = cluster.namespace("applies", &[(MODE, "fix")]);
        let mut deployment = workload("Deployment", template());
        deployment["spec"]["replicas"] = json!(0);
        let said = run(&namespace, "apply", how, &deployment);
        assert!(said.contains(CHANGED), "{said}");
        let first = stored(&namespace);
        assert_eq!(written(&first["spec"]["template"]["spec"]), mended());

        let said = run(&namespace, "apply", how, &deployment);
        assert!(!said.contains(CHANGED), "{said}");
        run(&namespace, "diff", how, &deployment);
        assert_eq!(stored(&namespace), first);

        // The owner goes on as if we were not there.
        deployment["spec"]["template"]["spec"]["containers"][0]["args"] =
            json!(["--http", "8000", "--answers-in", "1"]);
        run(&namespace, "apply", how, &deployment);
        run(&namespace, "diff", how, &deployment);
        let next = stored(&namespace);
        assert_eq!(written(&next["spec"]["template"]["spec"]), mended());
        assert_eq!(next["generation"], 2);
        assert_eq!(next["changes"], first["changes"]);
    }
}

/// A field that is applied by name stays as it is where it stands, and is raised in the pods, together with the sleep that only
/// fits into the raised grace period. What has no pod is told.
pub(super) fn keep_what_they_name(cluster: &Cluster, _unlabelled: &Namespace<'_>) {
    for how in [IN_THE_CLIENT, IN_THE_SERVER] {
        let namespace = cluster.namespace("names", &[(MODE, "fix")]);
        let mut template = template();
        template["metadata"]["annotations"]["warmgate.io/prestop-sleep"] = json!("40s");
        template["spec"]["terminationGracePeriodSeconds"] = json!(30);
        template["spec"]["containers"][0]["livenessProbe"]["timeoutSeconds"] = json!(1);
        let mut deployment = workload("Deployment", template);
        deployment["spec"]["progressDeadlineSeconds"] = json!(600);
        let said = run(&namespace, "apply", how, &deployment);
        assert!(said.contains("[progress-deadline-too-short]"), "{said}");
        assert!(said.contains("[prestop-exceeds-grace]"), "{said}");
        let first = stored(&namespace);
        assert_eq!(
            written(&first["spec"]["template"]["spec"]),
            json!({"startup": 114, "timeout": 1, "sleep": null, "grace": 30})
        );
        assert_eq!(first["spec"]["progressDeadlineSeconds"], 600);
        let pod = the_pod(cluster, &namespace);
        assert_eq!(
            written(&pod["spec"]),
            json!({"startup": 114, "timeout": 5, "sleep": 40, "grace": 100})
        );

        run(&namespace, "apply", how, &deployment);
        run(&namespace, "diff", how, &deployment);
        assert_eq!(stored(&namespace)["generation"], 1);
        let uid = |pod: &Value| pod["metadata"]["uid"].clone();
        assert_eq!(uid(&the_pod(cluster, &namespace)), uid(&pod));
    }
}

/// The one pod that a controller has made.
pub(super) fn the_pod(cluster: &Cluster, namespace: &Namespace<'_>) -> Value {
    cluster.wait_for(
        "pod",
        Duration::from_secs(60),
        || match <[Value; 1]>::try_from(namespace.list("pods")) {
            Ok([pod]) => Ok(pod),
            Err(pods) => Err(format!("{} pods", pods.len())),
        },
    )
}
