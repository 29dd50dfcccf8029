//! What the owner of a mended Deployment says afterwards: his word stands, and ours follows or goes.

use serde_json::{Value, json};

use super::engine::named;
use super::manifest::MANIFEST;
use super::stored::{container, observed, stored};
use crate::harness::cluster::Cluster;
use crate::harness::namespace::Namespace;
use crate::product::MODE;

/// A startup probe of the owner's, to be put below [`MANIFEST`]; it holds for the time declared.
const TCP: &str = "        startupProbe: {tcpSocket: {port: 8000}, failureThreshold: 121}\n";

/// The same with the very numbers that we write.
const TCP_AS_OURS: &str = "        startupProbe: {tcpSocket: {port: 8000}, periodSeconds: 10, timeoutSeconds: 5, failureThreshold: 114}\n";

/// A hook of the owner's.
const DRAIN: &str = "        lifecycle: {preStop: {exec: {command: [/bin/drain, --wait]}}}\n";

/// The port moves: the copied probe follows in the same update.
pub(super) fn moves_the_port(cluster: &Cluster, _unlabelled: &Namespace<'_>) {
    let namespace = cluster.namespace("owners-word-moves-the-port", &[(MODE, "enforce")]);
    namespace.apply(MANIFEST);
    let before = observed(cluster, &namespace);
    assert_eq!(container(&before, "startupProbe")["httpGet"]["port"], 8000);
    namespace.apply(&MANIFEST.replace("8000", "9000"));
    let moved = observed(cluster, &namespace);
    assert_eq!(container(&moved, "startupProbe")["httpGet"]["port"], 9000);
    assert_eq!(moved["metadata"]["generation"], 2);
    assert_eq!(namespace.list("replicasets").len(), 2);
}

/// A startup probe and a hook come beside ours, by apply and by patch: each merges, and what remains is the owner's.
pub(super) fn stands_alone(cluster: &Cluster, _unlabelled: &Namespace<'_>) {
    let namespace = cluster.namespace("owners-word-stands-alone", &[(MODE, "enforce")]);
    for (number, probe) in [TCP, TCP_AS_OURS].into_iter().enumerate() {
        let name = format!("applied-{number}");
        let engine = MANIFEST.replace("engine", &name);
        let get = || namespace.get("deployments", &name).unwrap_or_default();
        namespace.apply(&engine);
        assert!(names(&get(), "startupProbe"));
        let manifest = format!("{engine}{probe}");
        namespace.apply(&manifest);
        let threshold = if probe == TCP { 121 } else { 114 };
        assert_stands_alone(&get(), "tcpSocket", threshold);
        let manifest = format!("{manifest}{DRAIN}");
        namespace.apply(&manifest);
        let hooked = get();
        assert_is_hooked(&hooked);
        namespace.apply(&manifest);
        assert_eq!(
            get()["metadata"]["generation"],
            hooked["metadata"]["generation"]
        );
    }

    namespace.apply(MANIFEST);
    let patch = |container: Value| {
        let patch = json!({"spec": {"template": {"spec": {"containers": [container]}}}});
        let patch = format!("--patch={patch}");
        let done = namespace.kubectl(&["patch", "deployment/engine", &patch], None);
        done.must();
        stored(&namespace)
    };
    let probe = json!({"tcpSocket": {"port": 8000}, "failureThreshold": 121});
    let patched = patch(json!({"name": "engine", "startupProbe": probe}));
    assert_stands_alone(&patched, "tcpSocket", 121);
    let hook = json!({"preStop": {"exec": {"command": ["/bin/drain", "--wait"]}}});
    assert_is_hooked(&patch(json!({"name": "engine", "lifecycle": hook})));
}

/// The startup probe has this handler and nothing of ours.
#[track_caller]
fn assert_stands_alone(object: &Value, handler: &str, threshold: u64) {
    let probe = container(object, "startupProbe");
    assert!(probe[handler].is_object(), "{probe}");
    assert_eq!(probe["failureThreshold"], threshold);
    for ours in ["httpGet", "terminationGracePeriodSeconds"] {
        assert!(probe[ours].is_null(), "{ours}: {probe}");
    }
    assert!(!names(object, "startupProbe"), "{object}");
}

/// The hook is the owner's alone, and the grace period still covers it.
#[track_caller]
fn assert_is_hooked(object: &Value) {
    let hook = json!({"preStop": {"exec": {"command": ["/bin/drain", "--wait"]}}});
    assert_eq!(container(object, "lifecycle"), &hook);
    assert!(!names(object, "preStop"), "{object}");
    let pod = &object["spec"]["template"]["spec"];
    assert_eq!(pod["terminationGracePeriodSeconds"], 75);
}

/// Whether `changes` name a field of that name.
fn names(object: &Value, field: &str) -> bool {
    let ends = format!(".{field}");
    named(object).iter().any(|path| path.ends_with(&ends))
}

/// More time is declared, and less again: our window follows, and nobody is refused.
pub(super) fn changes_the_time(cluster: &Cluster, _unlabelled: &Namespace<'_>) {
    let namespace = cluster.namespace("owners-word-changes-the-time", &[(MODE, "enforce")]);
    namespace.apply(MANIFEST);
    let steps = [("30m", 226, 2550), ("15m", 114, 1430)];
    for (generation, (time, threshold, deadline)) in (2_u64..).zip(steps) {
        let said = namespace.apply(&MANIFEST.replace("15m", time));
        assert_eq!(said.lines().count(), 1, "{said}");
        assert!(
            said.starts_with("Warning: warmgate changed 2 fields: "),
            "{said}"
        );
        let now = stored(&namespace);
        assert_eq!(
            container(&now, "startupProbe")["failureThreshold"],
            threshold
        );
        assert_eq!(now["spec"]["progressDeadlineSeconds"], deadline);
        assert_eq!(now["metadata"]["generation"], generation);
    }
}
