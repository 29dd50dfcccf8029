//! What an API server takes as an answer, said without the code that makes answers
//! (`VerifyAdmissionResponse` in `apiserver/pkg/admission/plugin/webhook/request/admissionreview.go`), and what ours keep besides.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use json_patch::PatchOperation;
use serde_json::{Value, json};
use warmgate::admit::Endpoint;
use warmgate::facts::Mode;
use warmgate::review::Request;

use crate::lawful::objection_to;

/// Warnings that are sent at most, and the characters that the API server takes of all of them.
const WARNINGS: (usize, usize) = (12, 4096);

/// The longest value of an audit annotation in bytes.
const AUDIT: usize = 4096;

/// Why an answer does not fit its question.
pub(crate) fn objection(
    request: &Request,
    mode: Mode,
    endpoint: Endpoint,
    answer: &[u8],
) -> Option<String> {
    let review: Value = match serde_json::from_slice(answer) {
        Ok(review) => review,
        Err(error) => return Some(format!("it is no JSON: {error}")),
    };
    let version = json!(["admission.k8s.io/v1", "AdmissionReview"]);
    if json!([review["apiVersion"], review["kind"]]) != version {
        return Some("it is no AdmissionReview".to_owned());
    }
    let response = &review["response"];
    if response["uid"] != *request.uid {
        return Some(format!("its uid is {}", response["uid"]));
    }
    objection_to_verdict(response, mode, endpoint)
        .or_else(|| objection_to_patch(response, request, mode, endpoint))
        .or_else(|| objection_to_words(response, endpoint))
}

fn objection_to_verdict(response: &Value, mode: Mode, endpoint: Endpoint) -> Option<String> {
    let status = &response["status"];
    match response["allowed"].as_bool() {
        Some(true) if status.is_null() => None,
        Some(false) if (endpoint, mode) != (Endpoint::Validate, Mode::Enforce) => {
            Some("who does not enforce refuses nobody".to_owned())
        }
        Some(false) if status["code"] == 403 && status["message"].is_string() => None,
        _ => Some("what is allowed and what is said of it do not fit".to_owned()),
    }
}

fn objection_to_patch(
    response: &Value,
    request: &Request,
    mode: Mode,
    endpoint: Endpoint,
) -> Option<String> {
    let patch = match (response.get("patchType"), response.get("patch")) {
        (None, None) => return None,
        (Some(kind), Some(Value::String(patch))) if kind == "JSONPatch" => patch,
        _ => return Some("a patch and its type go together".to_owned()),
    };
    if endpoint == Endpoint::Validate || !mode.edits() || response["allowed"] != true {
        return Some("there may be no patch".to_owned());
    }
    let decoded = STANDARD.decode(patch).ok();
    let operations: Option<Vec<PatchOperation>> =
        decoded.and_then(|patch| serde_json::from_slice(&patch).ok());
    match (operations, &request.object) {
        (Some(operations), Some(object)) if !operations.is_empty() => {
            objection_to_operations(&operations, object)
        }
        _ => Some("the patch has no operation, or nothing to be made on".to_owned()),
    }
}

/// Why operations may not be made on an object, or cannot.
pub(crate) fn objection_to_operations(
    operations: &[PatchOperation],
    object: &Value,
) -> Option<String> {
    let mut patched = object.clone();
    operations.iter().find_map(|operation| {
        objection_to(&json!(operation), &patched).or_else(|| {
            let made = json_patch::patch(&mut patched, std::slice::from_ref(operation));
            made.err().map(|error| error.to_string())
        })
    })
}

fn objection_to_words(response: &Value, endpoint: Endpoint) -> Option<String> {
    let warnings = texts(response["warnings"].as_array().into_iter().flatten());
    let audit = response["auditAnnotations"].as_object();
    let long = warnings.len() > WARNINGS.0
        || warnings
            .iter()
            .map(|text| text.chars().count())
            .sum::<usize>()
            > WARNINGS.1
        || texts(audit.into_iter().flat_map(serde_json::Map::values))
            .iter()
            .any(|text| text.len() > AUDIT);
    let broken = warnings.iter().any(|text| text.contains(char::is_control));
    match (long, broken, endpoint) {
        (true, ..) => Some("more is said than is taken".to_owned()),
        (_, true, _) => Some(format!("a warning has more than one line: {warnings:?}")),
        (.., Endpoint::Mutate) if audit.is_some() => Some("a change is not audited".to_owned()),
        _ => None,
    }
}

fn texts<'v>(values: impl Iterator<Item = &'v Value>) -> Vec<&'v str> {
    values.filter_map(Value::as_str).collect()
}
