//! The hashes of mounted files on the webhook's pods.
//!
//! The kubelet refreshes a mounted Secret or ConfigMap only when it syncs the pod, up to 90 s later. A changed annotation
//! makes it sync at once. Nothing relies on that.

use std::collections::BTreeMap;
use std::fmt::Write;

use k8s_openapi::api::core::v1::Pod;
use kube::api::{ListParams, PartialObjectMeta, Patch, PatchParams};
use kube::{Api, ResourceExt};
use ring::digest::{Context, SHA256};
use serde_json::json;

use super::api::{CallError, MANAGER, call};

/// The annotation for the certificate.
pub(super) const CERTIFICATE: &str = "warmgate.io/content-hash-certificate";

/// The annotation for the facts.
pub(super) const FACTS: &str = "warmgate.io/content-hash-facts";

/// Bytes of a digest that are shown.
const SHOWN: usize = 16;

/// A digest of some pieces, as hexadecimal digits.
pub(super) fn hash(pieces: &[&[u8]]) -> String {
    let mut context = Context::new(&SHA256);
    for piece in pieces {
        // So that the same bytes cut otherwise are something else.
        context.update(&(piece.len() as u64).to_be_bytes());
        context.update(piece);
    }
    let digest = context.finish();
    let mut hash = String::with_capacity(2 * SHOWN);
    for byte in &digest.as_ref()[..SHOWN] {
        write!(hash, "{byte:02x}").expect("a String takes every write");
    }
    hash
}

/// Writes the annotations onto those of the pods that do not have them. One that cannot be told keeps no other from it.
pub(super) async fn tell(
    pods: &Api<PartialObjectMeta<Pod>>,
    selector: &str,
    annotations: &BTreeMap<&str, String>,
) -> Result<(), CallError> {
    if annotations.is_empty() {
        return Ok(());
    }
    let params = ListParams::default().labels(selector).match_any();
    let mut told = Ok(());
    for pod in call(pods.list(&params)).await? {
        if !is_stale(&pod, annotations) {
            continue;
        }
        let patch = json!({"metadata": {"annotations": annotations}});
        let params = PatchParams {
            field_manager: Some(MANAGER.to_owned()),
            ..PatchParams::default()
        };
        let name = pod.name_any();
        match call(pods.patch(&name, &params, &Patch::Merge(&patch))).await {
            Ok(_) => tracing::info!(pod = name, "told of new contents"),
            Err(error) if error.is_not_found() => {}
            Err(error) => told = told.and(Err(error)),
        }
    }
    told
}

fn is_stale(pod: &PartialObjectMeta<Pod>, annotations: &BTreeMap<&str, String>) -> bool {
    let has = pod.annotations();
    pod.metadata.deletion_timestamp.is_none()
        && annotations
            .iter()
            .any(|(key, value)| has.get(*key) != Some(value))
}
