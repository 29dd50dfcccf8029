//! A [`Response`] to the bytes of a review.

use std::collections::BTreeMap;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Serialize;

use super::{API_VERSION, KIND, Response};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Review<'a> {
    api_version: &'static str,
    kind: &'static str,
    response: Answer<'a>,
}

/// `AdmissionResponse` of `k8s.io/api/admission/v1`.
#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Answer<'a> {
    uid: &'a str,
    allowed: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<Status<'a>>,
    #[serde(flatten)]
    patch: Option<Patch>,
    #[serde(skip_serializing_if = "Option::is_none")]
    audit_annotations: Option<&'a BTreeMap<String, String>>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    warnings: &'a [String],
}

/// The patch and its type: the API server takes neither without the other.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Patch {
    patch_type: &'static str,
    patch: String,
}

#[derive(Serialize)]
struct Status<'a> {
    code: u16,
    reason: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<&'a str>,
}

/// The review that answers the request `uid`. A refusal carries no patch, whatever the response says.
pub fn answer(uid: &str, response: &Response) -> Vec<u8> {
    debug_assert!(response.audit.keys().all(|key| is_audit_key(key)));
    let status = (!response.allowed).then_some(Status {
        code: 403,
        reason: "Forbidden",
        message: response.message.as_deref(),
    });
    let patches = response.allowed && !response.patch.0.is_empty();
    written(Answer {
        uid,
        allowed: response.allowed,
        status,
        patch: patches.then(|| Patch {
            patch_type: "JSONPatch",
            patch: STANDARD
                .encode(serde_json::to_vec(&response.patch).expect("a patch has string keys only")),
        }),
        audit_annotations: Some(&response.audit).filter(|audit| !audit.is_empty()),
        warnings: &response.warnings,
    })
}

/// The review that says of the request `uid` that judging it failed. It goes with the HTTP status 500, so that the
/// failurePolicy of the configuration decides.
pub fn failure(uid: &str, message: &str) -> Vec<u8> {
    written(Answer {
        uid,
        status: Some(Status {
            code: 500,
            reason: "InternalError",
            message: Some(message),
        }),
        ..Answer::default()
    })
}

fn written(response: Answer<'_>) -> Vec<u8> {
    serde_json::to_vec(&Review {
        api_version: API_VERSION,
        kind: KIND,
        response,
    })
    .expect("a review has string keys only")
}

/// Whether a key is the name part of a qualified name (`apimachinery/pkg/util/validation`, IsQualifiedName).
fn is_audit_key(key: &str) -> bool {
    let bytes = key.as_bytes();
    let ends = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    key.len() <= 63
        && ends(bytes.first())
        && ends(bytes.last())
        && bytes
            .iter()
            .all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn audit_keys_are_qualified_names() {
        for key in ["findings", "would-change", "a", "A_b.c"] {
            assert!(is_audit_key(key), "{key}");
        }
        for key in ["", "-a", "a-", "a/b", "ä", "a b", &"a".repeat(64)] {
            assert!(!is_audit_key(key), "{key}");
        }
    }
}
