//! Faults that the suite must see, so that "no failures" means something.

use json_patch::Patch;
use serde_json::{Value, json};
use warmgate::facts::{Facts, Mode, Origin};
use warmgate::review::Request;

use super::Tally;
use super::reviews::{NAMESPACE, Review};
use super::server::Server;
use crate::generate::{create, replace};

/// A webhook that always adds the same is told of with these words.
pub(super) fn are_told(server: &Server) {
    let object = deployment();
    let created = || create(&object, NAMESPACE);
    let updated = || replace(&object, &object, NAMESPACE);
    let mut broken = object.clone();
    broken["spec"]["replicas"] = json!("three");
    let container = "/spec/template/spec/containers/0";
    let hook = format!("{container}/lifecycle/preStop");
    let cases = [
        (
            created(),
            hook.clone(),
            json!({}),
            "the patch does not apply",
        ),
        (
            created(),
            format!("{container}/stdin"),
            json!("yes"),
            "it cannot be decoded",
        ),
        (
            created(),
            format!("{container}/startUpProbe"),
            json!({}),
            "unknown field",
        ),
        (
            created(),
            format!("{container}/livenessProbe/timeoutSeconds"),
            json!(-1),
            "must be greater than or equal to 0",
        ),
        (
            updated(),
            "/spec/selector/matchLabels/tier".to_owned(),
            json!("chat"),
            "field is immutable",
        ),
        (
            created(),
            "/spec/replicas".to_owned(),
            json!(2),
            "it is patched again",
        ),
        (
            create(&broken, NAMESPACE),
            hook,
            json!({}),
            "the patch does not apply",
        ),
    ];
    for (request, path, value, words) in cases {
        let tally = tally(server, request, &path, &value);
        let is_told = |failure: &String| failure.contains(words);
        assert!(tally.failures.iter().any(is_told), "{path}: {tally:?}");
    }
    // No server shows such an object to a webhook.
    let tally = tally(
        server,
        create(&broken, NAMESPACE),
        "/spec/replicas",
        &json!(2),
    );
    assert_eq!((tally.decoded, tally.failures.len()), (0, 0), "{tally:?}");
}

fn tally(server: &Server, request: Request, path: &str, value: &Value) -> Tally {
    let review = Review {
        name: "faulty".to_owned(),
        request,
        facts: Facts::new(Mode::Fix, Origin::Admission),
    };
    let operations = json!([{"op": "add", "path": path, "value": value}]);
    let patch: Patch = serde_json::from_value(operations).unwrap_or_else(|error| panic!("{error}"));
    let mut tally = Tally::default();
    tally.add(server, vec![review], |_, _| patch.clone());
    tally
}

fn deployment() -> Value {
    json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "chat"},
        "spec": {
            "selector": {"matchLabels": {"app": "chat"}},
            "template": {
                "metadata": {"labels": {"app": "chat", "tier": "chat"}},
                "spec": {"containers": [{
                    "name": "engine",
                    "image": "registry.example/server:1",
                    "livenessProbe": {"tcpSocket": {"port": 8000}},
                }]},
            },
        },
    })
}
