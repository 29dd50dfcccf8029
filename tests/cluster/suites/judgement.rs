//! What the core says of an object, for suites that hold a cluster against it.

use serde_json::{Value, json};
use warmgate::admit::{Decision, admit};
use warmgate::facts::Facts;
use warmgate::review::Request;

/// What the core says of the object when it is created in a namespace.
pub(super) fn decide(facts: &Facts, namespace: &str, object: &Value) -> Decision {
    let (group, version) = match object["apiVersion"].as_str().unwrap_or_default() {
        version if !version.contains('/') => ("", version),
        both => both.split_once('/').unwrap_or_default(),
    };
    let review = json!({
        "apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
        "request": {
            "uid": "1", "operation": "CREATE", "namespace": namespace, "object": object,
            "kind": {"group": group, "version": version, "kind": object["kind"]},
        },
    });
    let request = Request::from_value(&review).unwrap_or_else(|error| panic!("{error}: {review}"));
    admit(&request, facts)
}
