//! Reviews as an API server writes them.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use json_patch::Patch;
use serde_json::{Value, json};

use super::failed;
use crate::admit::Endpoint;
use crate::cli::CliError;
use crate::subject::group_and_kind;

/// The namespace of objects that name none.
const NAMESPACE: &str = "default";

/// A uid that is the same in every run, so that two runs can be compared.
pub(super) fn uid(number: usize, endpoint: Endpoint) -> String {
    let last = match endpoint {
        Endpoint::Mutate => 1,
        Endpoint::Validate => 2,
    };
    format!("00000000-0000-4000-8000-{number:08x}{last:04x}")
}

/// The body of the review that asks about the creation of an object.
pub(super) fn create(uid: &str, object: &Value) -> Vec<u8> {
    let (group, kind) = group_and_kind(object).unwrap_or_default();
    let version = object["apiVersion"].as_str().unwrap_or_default();
    let version = version.rsplit('/').next().unwrap_or_default();
    let named = json!({"group": group, "version": version, "kind": kind});
    let resource = json!({"group": group, "version": version, "resource": plural(kind)});
    let metadata = &object["metadata"];
    let namespace = metadata["namespace"].as_str().unwrap_or(NAMESPACE);
    let review = json!({
        "kind": "AdmissionReview",
        "apiVersion": "admission.k8s.io/v1",
        "request": {
            "uid": uid,
            "kind": named,
            "resource": resource,
            "requestKind": named,
            "requestResource": resource,
            "name": metadata["name"].as_str().unwrap_or_default(),
            "namespace": namespace,
            "operation": "CREATE",
            "userInfo": {"username": "demo", "groups": ["system:authenticated"]},
            "object": object,
            "oldObject": null,
            "dryRun": false,
            "options": {"kind": "CreateOptions", "apiVersion": "meta.k8s.io/v1"},
        },
    });
    serde_json::to_vec(&review).expect("a value has string keys only")
}

/// The resource of a kind, as far as its name tells.
fn plural(kind: &str) -> String {
    let kind = kind.to_lowercase();
    match kind.strip_suffix('y') {
        Some(stem) => format!("{stem}ies"),
        None if kind.ends_with('s') => format!("{kind}es"),
        None => format!("{kind}s"),
    }
}

/// The patch of a response; an empty one where there is none.
pub(super) fn patch(response: &Value) -> Result<Patch, CliError> {
    let Some(encoded) = response["patch"].as_str() else {
        return Ok(Patch::default());
    };
    let bytes = STANDARD
        .decode(encoded)
        .map_err(failed("the patch is not base64"))?;
    serde_json::from_slice(&bytes).map_err(failed("the patch is not a JSON patch"))
}
