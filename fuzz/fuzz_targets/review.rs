//! The bytes of a review, to the bytes of its answer. A text that is no JSON object stands for the review of the first
//! object in it, so that manifests are seeds too.

#![no_main]

#[path = "../../tests/core/answered.rs"]
mod answered;
#[path = "../../tests/core/lawful.rs"]
#[expect(dead_code, reason = "the properties use more of it")]
mod lawful;

use libfuzzer_sys::fuzz_target;
use serde_json::{Value, json};
use warmgate::admit::{Endpoint, admit};
use warmgate::facts::{Facts, Mode, Origin};
use warmgate::manifest::Manifest;
use warmgate::review::{self, Operation, Request};
use warmgate::subject::group_and_kind;
use warmgate_fuzz::within_limits;

fuzz_target!(|bytes: &[u8]| within_limits(|| {
    let body = review_of(bytes);
    if let Ok(request) = review::read(body.as_deref().unwrap_or(bytes)) {
        judge(&request, Mode::ALL[bytes.len() % Mode::ALL.len()]);
    }
    // The uid of the answer is that of the question, whoever reads it.
    if let (Ok(read), Ok(value)) = (review::read(bytes), serde_json::from_slice::<Value>(bytes)) {
        assert_eq!(value["request"]["uid"], *read.uid);
    }
}));

/// The review of the first object of a manifest.
fn review_of(bytes: &[u8]) -> Option<Vec<u8>> {
    let text = std::str::from_utf8(bytes).ok()?;
    if text.starts_with('{') {
        return None;
    }
    let object = Manifest::read("a.yaml", text)
        .objects
        .into_iter()
        .next()?
        .value;
    if object["kind"] == "AdmissionReview" {
        return Some(object.to_string().into_bytes());
    }
    let (group, kind) = group_and_kind(&object).unwrap_or_default();
    let review = json!({
        "apiVersion": "admission.k8s.io/v1",
        "kind": "AdmissionReview",
        "request": {
            "uid": "u",
            "kind": {"group": group, "version": "", "kind": kind},
            "namespace": "team",
            "operation": "CREATE",
            "object": object,
        }
    });
    Some(review.to_string().into_bytes())
}

fn judge(request: &Request, mode: Mode) {
    let facts = Facts::new(mode, Origin::Admission);
    let decision = admit(request, &facts);
    for endpoint in [Endpoint::Mutate, Endpoint::Validate] {
        let answer = review::answer(&request.uid, &decision.response(endpoint));
        assert_eq!(answered::objection(request, mode, endpoint, &answer), None);
    }
    let Some(object) = &request.object else {
        return;
    };
    let mut after = object.clone();
    json_patch::patch(&mut after, &decision.patch).expect("it was applied before");
    if request.operation == Operation::Create {
        assert_eq!(lawful::unlawful(object, &after), Vec::<String>::new());
    }
    let again = Request {
        object: Some(after),
        ..request.clone()
    };
    assert_eq!(json!(admit(&again, &facts).patch), json!([]));
}
