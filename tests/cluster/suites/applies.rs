//! kubectl apply, in the client and in the server.

use serde_json::{Value, json};

use super::engine::{mended, template, workload, written};
use super::stored::{CHANGED, DEADLINE, in_template, stored, the_pod};
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

/// Waits until the controller has seen the last change: what it writes itself is a difference to kubectl.
fn settle(cluster: &Cluster, namespace: &Namespace<'_>) {
    let mut last = Value::Null;
    cluster.wait_for("still Deployment", DEADLINE, || {
        let found = stored(namespace);
        let before = std::mem::replace(&mut last, found.clone());
        if found["status"]["observedGeneration"] == found["metadata"]["generation"]
            && found == before
        {
            Ok(())
        } else {
            Err(found["status"].to_string())
        }
    });
}

/// What the owner and warmgate have written. Everything else its controller writes whenever it likes.
fn essence(namespace: &Namespace<'_>) -> Value {
    let found = stored(namespace);
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
        let first = essence(&namespace);
        assert_eq!(in_template(&first), mended());

        let said = run(&namespace, "apply", how, &deployment);
        assert!(!said.contains(CHANGED), "{said}");
        settle(cluster, &namespace);
        run(&namespace, "diff", how, &deployment);
        assert_eq!(essence(&namespace), first);

        // The owner goes on as if we were not there.
        deployment["spec"]["template"]["spec"]["containers"][0]["args"] =
            json!(["--http", "8000", "--answers-in", "1"]);
        run(&namespace, "apply", how, &deployment);
        settle(cluster, &namespace);
        run(&namespace, "diff", how, &deployment);
        let next = essence(&namespace);
        assert_eq!(in_template(&next), mended());
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
        let first = essence(&namespace);
        assert_eq!(
            in_template(&first),
            json!({"startup": 114, "timeout": 1, "sleep": null, "grace": 30})
        );
        assert_eq!(first["spec"]["progressDeadlineSeconds"], 600);
        let pod = the_pod(cluster, &namespace);
        assert_eq!(
            written(&pod["spec"]),
            json!({"startup": 114, "timeout": 5, "sleep": 40, "grace": 100})
        );

        run(&namespace, "apply", how, &deployment);
        settle(cluster, &namespace);
        run(&namespace, "diff", how, &deployment);
        assert_eq!(essence(&namespace)["generation"], 1);
        let uid = |pod: &Value| pod["metadata"]["uid"].clone();
        assert_eq!(uid(&the_pod(cluster, &namespace)), uid(&pod));
    }
}
