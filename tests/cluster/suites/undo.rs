//! What was written is taken back as the README says, and stays away: with kubectl, on objects as an API server stores them.

use serde_json::{Value, json};

use super::engine::{ENGINE, mended, named, pod, template, untouched, workload, written};
use super::said;
use super::stored::{DEADLINE, in_template, stored};
use crate::harness::cluster::Cluster;
use crate::harness::namespace::Namespace;
use crate::product::MODE;

/// The annotation that comes with the replace, as an argument of kubectl.
const SKIP: &str = "warmgate.io/skip=tuned by hand";

/// An object without our annotations, of which the one that is copied into the template rolls the pods.
fn bare(mut spec: Value) -> Value {
    let annotations = spec["template"]["metadata"]["annotations"].as_object_mut();
    annotations
        .expect("the template has annotations")
        .remove("warmgate.io/skip");
    spec
}

/// Reads the object, takes back, adds `skip` and replaces, and gives what `undo` says of it.
#[track_caller]
fn take_back(namespace: &Namespace<'_>, kind: &str, replace: &[&str]) -> String {
    let attempt = || {
        let live = namespace.kubectl(&["get", kind, ENGINE, "--output=yaml"], None);
        let undone = said::undo(&live.must());
        let annotate = ["annotate", "--local", "--filename=-", SKIP, "--output=yaml"];
        let skipped = namespace.kubectl(&annotate, Some(&undone.out)).must();
        let replace = [&["replace", "--filename=-"], replace].concat();
        (undone.err, namespace.kubectl(&replace, Some(&skipped)))
    };
    let (mut said, mut done) = attempt();
    // A controller may write the status between the look and the replace.
    for _ in 0..5 {
        if done.err.contains("the object has been modified") {
            (said, done) = attempt();
        }
    }
    done.must();
    said
}

/// A workload of each kind becomes what it is where warmgate never was, and its new pods get nothing either.
pub(super) fn takes_back_what_was_written(cluster: &Cluster, unlabelled: &Namespace<'_>) {
    let namespace = cluster.namespace("undo", &[(MODE, "fix")]);
    for (kind, plural) in [
        ("Deployment", "deployments"),
        ("StatefulSet", "statefulsets"),
        ("DaemonSet", "daemonsets"),
    ] {
        let mut object = workload(kind, template());
        if kind == "StatefulSet" {
            // In order, a pod that is never ready would keep the next one away.
            object["spec"]["podManagementPolicy"] = json!("Parallel");
        }
        let object = object.to_string();
        let get = |namespace: &Namespace<'_>| {
            let found = namespace.get(plural, ENGINE);
            found.unwrap_or_else(|| panic!("there is no {kind} in {}", namespace.name()))
        };
        unlabelled.apply(&object);
        namespace.apply(&object);
        let (never, live) = (get(unlabelled), get(&namespace));
        assert_eq!(in_template(&live), mended(), "{kind}");

        let said = take_back(&namespace, kind, &[]);
        let after = get(&namespace);
        assert_eq!(bare(after["spec"].clone()), never["spec"], "{kind}\n{said}");
        // Where the annotation stands in the template, the pods see it.
        cluster.wait_for("pods of the template that was taken back", DEADLINE, || {
            let pods = namespace.list("pods");
            let new = |pod: &&Value| pod["metadata"]["annotations"]["warmgate.io/skip"].is_string();
            match pods.iter().find(new) {
                Some(pod) if written(&pod["spec"]) == untouched() => Ok(()),
                Some(pod) => panic!("{kind}: {}", pod["spec"]),
                None => Err(format!("{kind}: {} other pods", pods.len())),
            }
        });
        for namespace in [unlabelled, &namespace] {
            namespace.delete(plural, ENGINE, &json!({"propagationPolicy": "Foreground"}));
        }
        cluster.wait_for("deleted pods", DEADLINE, || {
            let pods = namespace.list("pods").len();
            if pods == 0 {
                Ok(())
            } else {
                Err(format!("{pods} pods"))
            }
        });
    }
}

/// A pod cannot change, so it is made anew without anything of ours.
pub(super) fn takes_back_a_pod(cluster: &Cluster, _unlabelled: &Namespace<'_>) {
    let namespace = cluster.namespace("undo-pod", &[(MODE, "fix")]);
    namespace.apply(&pod(template()).to_string());
    let live = namespace.get("pods", ENGINE).expect("it was applied");
    assert_eq!(written(&live["spec"]), mended());

    take_back(&namespace, "pod", &["--force"]);
    let after = namespace.get("pods", ENGINE).expect("it was replaced");
    assert_eq!(written(&after["spec"]), untouched());
    assert_eq!(named(&after), [""; 0]);
}

/// What the owner has changed since is named and stays, also on the way through an API server.
pub(super) fn leaves_what_is_the_owners(cluster: &Cluster, _unlabelled: &Namespace<'_>) {
    let namespace = cluster.namespace("undo-owners", &[(MODE, "fix")]);
    namespace.apply(&workload("Deployment", template()).to_string());
    let patch = json!({"spec": {"progressDeadlineSeconds": 3000, "template": {"spec": {
        "containers": [{"name": ENGINE, "livenessProbe": {"timeoutSeconds": 7}}],
    }}}});
    let patch = format!("--patch={patch}");
    namespace
        .kubectl(&["patch", "deployment", ENGINE, &patch], None)
        .must();

    let said = take_back(&namespace, "deployment", &[]);
    let after = stored(&namespace);
    let mut expected = untouched();
    expected["timeout"] = json!(7);
    assert_eq!(in_template(&after), expected, "{said}");
    assert_eq!(after["spec"]["progressDeadlineSeconds"], 3000);
}
