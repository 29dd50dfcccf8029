//! What becomes of a patch that does not apply. It is the API server that is asked here.

use std::time::Duration;

use serde_json::{Value, json};

use crate::harness::cluster::Cluster;
use crate::harness::namespace::Namespace;
use crate::suites::registered::{Registered, serve};

const DEADLINE: Duration = Duration::from_secs(120);

/// Where a pod brings the patch that it is answered with.
const TOLD: &str = "inject.warmgate.test/patch";

/// Point 11: `failurePolicy: Ignore` is for calls that fail. An answer whose patch is none counts as such (`ErrCallingWebhook` in
/// `mutating/dispatcher.go` of apiserver), but one with a patch that does not apply does not: the request fails with 500, and the pod is
/// not made.
pub(crate) fn that_does_not_apply_is_not_ignored(cluster: &Cluster, home: &Namespace<'_>) {
    let authority = serve(cluster, home);
    let namespace = cluster.namespace("answered", &[]);
    let entry = json!({"name": "answers.warmgate.test", "failurePolicy": "Ignore"});
    let name = namespace.name().to_owned();
    let _registered = Registered::make(cluster, name, home, &authority, &namespace, entry);
    let good = json!([{"op": "add", "path": "/metadata/labels", "value": {"patched": "yes"}}]);
    let answer = |name: &str, patch: &str| namespace.create("pods", &pod(name, patch));
    // The API server hears of it a moment later.
    let mut tries = 0;
    cluster.wait_for("patched pod", DEADLINE, || {
        tries += 1;
        let made = answer(&format!("good-{tries}"), &good.to_string());
        if made.body["metadata"]["labels"]["patched"] == "yes" {
            Ok(())
        } else {
            Err(made.body.to_string())
        }
    });
    let none = [
        ("text", "no patch".to_owned()),
        ("object", json!({"op": "add"}).to_string()),
    ];
    for (name, patch) in none {
        let made = answer(name, &patch);
        assert_eq!(made.status, 201, "{patch}: {}", made.body);
    }
    let place = "/spec/containers/0/livenessProbe/timeoutSeconds";
    let bad = [
        ("remove", json!({"op": "remove", "path": place})),
        (
            "replace",
            json!({"op": "replace", "path": place, "value": 5}),
        ),
        ("parent", json!({"op": "add", "path": place, "value": 5})),
        (
            "test",
            json!({"op": "test", "path": "/metadata/name", "value": "another"}),
        ),
        (
            "type",
            json!({"op": "add", "path": "/spec/containers", "value": "none"}),
        ),
    ];
    for (name, operation) in bad {
        let made = answer(name, &json!([operation]).to_string());
        assert_eq!(made.status, 500, "{operation}: {}", made.body);
        assert_eq!(namespace.get("pods", name), None, "{operation}");
    }
}

/// A pod that no node runs.
fn pod(name: &str, patch: &str) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "annotations": {TOLD: patch}},
        "spec": {
            "schedulerName": "nobody",
            "containers": [{"name": "engine", "image": "slowserver:local"}],
        },
    })
}
