//! Objects that no API server would store, at each place where something is read.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use json_patch::Patch;
use serde_json::{Value, json};

use self::places::places;
use super::super::client::Answer;
use super::super::{Fixture, review};
use super::{Caller, assert_no_panic};

#[path = "../../../generate/places.rs"]
mod places;

/// The review of a model server that has everything that is read.
pub(in crate::webhook) fn model_server() -> Value {
    let mut review = review("llm");
    review["request"]["kind"] = json!({"group": "apps", "version": "v1", "kind": "Deployment"});
    let probe = json!({
        "httpGet": {"path": "/health", "port": "http", "scheme": "HTTP", "httpHeaders": [{"name": "A", "value": "b"}]},
        "initialDelaySeconds": 1, "periodSeconds": 10, "timeoutSeconds": 1, "failureThreshold": 3, "successThreshold": 1,
        "terminationGracePeriodSeconds": 30,
    });
    review["request"]["object"] = json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {
            "name": "llm",
            "namespace": "serving",
            "labels": {"app": "llm"},
            "annotations": {"warmgate.io/drain-time": "1m", "warmgate.io/changes": "{}"},
            "ownerReferences": [{"apiVersion": "v1", "kind": "X", "name": "x", "uid": "x", "controller": false}],
            "managedFields": [{"manager": "m", "operation": "Apply", "fieldsV1": {"f:spec": {}}}],
        },
        "spec": {
            "replicas": 1,
            "progressDeadlineSeconds": 600,
            "minReadySeconds": 0,
            "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": 0}},
            "selector": {"matchLabels": {"app": "llm"}},
            "template": {
                "metadata": {
                    "labels": {"app": "llm"},
                    "annotations": {"warmgate.io/max-startup-time": "15m", "warmgate.io/containers": "engine"},
                },
                "spec": {
                    "terminationGracePeriodSeconds": 30,
                    "hostNetwork": false,
                    "nodeSelector": {"a": "b"},
                    "tolerations": [{"key": "a", "operator": "Exists"}],
                    "affinity": {"nodeAffinity": {}},
                    "volumes": [{"name": "v", "emptyDir": {}}],
                    "resourceClaims": [{"name": "c", "resourceClaimName": "d"}],
                    "initContainers": [{"name": "i", "image": "x", "restartPolicy": "Always"}],
                    "containers": [{
                        "name": "engine",
                        "image": "vllm/vllm-openai:v0.11.0",
                        "command": ["sh", "-c", "exec vllm serve m --port $(PORT)"],
                        "args": ["--x"],
                        "env": [{"name": "PORT", "value": "8000", "valueFrom": {"fieldRef": {"fieldPath": "x"}}}],
                        "ports": [{"name": "http", "containerPort": 8000, "protocol": "TCP"}],
                        "resources": {"limits": {"nvidia.com/gpu": "1"}, "requests": {"cpu": 1}, "claims": [{"name": "c"}]},
                        "lifecycle": {"preStop": {"exec": {"command": ["sleep", "5"]}}},
                        "livenessProbe": probe.clone(),
                        "readinessProbe": probe.clone(),
                        "startupProbe": probe,
                        "volumeMounts": [{"name": "v", "mountPath": "/m"}],
                    }],
                },
            },
        },
    });
    review
}

/// What may stand anywhere in JSON.
fn values() -> Vec<Value> {
    vec![
        json!(null),
        json!(true),
        json!(-1),
        json!(0),
        json!(-0.0),
        json!(0.5),
        json!(i64::from(i32::MAX) + 1),
        json!(u64::MAX),
        json!(""),
        json!("x"),
        json!("a/b~c"),
        json!("0.5"),
        json!("1e3"),
        json!("-1"),
        json!("1Ki"),
        json!("none, nothing=\n\u{202e}نص 🚀\u{0}"),
        json!([]),
        json!([null]),
        json!([[], {}, 7, "x"]),
        json!({}),
        json!({"x": null, "a/b~c": [{}]}),
    ]
}

/// The review of an object that no API server would store.
pub(in crate::webhook) struct Review {
    pub(super) what: String,
    review: Value,
    text: String,
}

impl Review {
    pub(super) fn new(what: impl Into<String>, review: Value) -> Self {
        Self {
            what: what.into(),
            text: review.to_string(),
            review,
        }
    }

    /// Asks for its mending and for its validation, and says whether there was something to mend.
    pub(super) async fn assert_told(&self, caller: &mut Caller) -> bool {
        let mut patched = false;
        for path in ["/mutate/enforce", "/validate/enforce"] {
            let answer = caller.post(&self.what, path, self.text.as_bytes()).await;
            assert_sound(&self.what, path, &self.review, &answer);
            patched |= answer.response().get("patch").is_some();
        }
        patched
    }
}

/// Everything of a model server, with anything in its place: a quarter of all pairs, so that each place has some values of every
/// kind, and others than the next place.
pub(super) fn all() -> Vec<Review> {
    let (review, values) = (model_server(), values());
    let mut all = Vec::new();
    for (number, place) in places(&review["request"]["object"]).iter().enumerate() {
        for value in values.iter().skip(number % 4).step_by(4) {
            let mut review = review.clone();
            let object = &mut review["request"]["object"];
            *object.pointer_mut(place).expect("it is there") = value.clone();
            all.push(Review::new(format!("{value} at {place:?}"), review));
        }
    }
    all
}

/// An answer that an API server takes, with a patch that applies.
fn assert_sound(what: &str, path: &str, review: &Value, answer: &Answer) {
    assert_eq!(answer.status, 200, "{what}: {}", answer.text());
    let response = answer.response();
    assert_eq!(response["uid"], review["request"]["uid"], "{what}");
    let allowed = response["allowed"] == true;
    let refused = response["status"]["code"] == 403;
    assert!(
        allowed || refused && path == "/validate/enforce",
        "{what}: {response}"
    );
    let patch = response
        .get("patch")
        .map(|patch| patch.as_str().expect("it is text"));
    let kind = patch.map(|_| json!("JSONPatch"));
    assert_eq!(response.get("patchType"), kind.as_ref(), "{what}");
    if let Some(patch) = patch {
        assert!(path == "/mutate/enforce", "{what}: {path} patches");
        let patch = STANDARD.decode(patch).expect("it is base64");
        let patch: Patch = serde_json::from_slice(&patch).expect("it is a patch");
        let mut object = review["request"]["object"].clone();
        json_patch::patch(&mut object, &patch).unwrap_or_else(|error| panic!("{what}: {error}"));
    }
}

#[tokio::test]
async fn anything_may_stand_anywhere() {
    let fixture = Fixture::start().await;
    let mut caller = Caller::new(&fixture.service());
    let all = all();
    assert!(all.len() > 500, "{}", all.len());
    let mut patched = 0;
    for review in &all {
        patched += usize::from(review.assert_told(&mut caller).await);
    }
    // What else there is in the object is mended all the same.
    assert!(patched > all.len() / 5, "{patched} of {}", all.len());
    assert_no_panic(&fixture).await;
}
