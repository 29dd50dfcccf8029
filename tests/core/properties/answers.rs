//! What the API server is told.

use serde_json::{Value, json};
use warmgate::admit::{Endpoint, admit};
use warmgate::review::{self, Operation, Request};

use super::ensure;
use crate::answered::objection;
use crate::generate::{drawn, drawn_update};

/// From the bytes of a review to the bytes of its answer, at both ends.
pub(super) fn every_answer_fits_its_question(bytes: &[u8]) -> Result<(), String> {
    let (drawn, update) = (drawn(bytes), drawn_update(bytes));
    for (request, drawn) in [(drawn.create(), &drawn), (update.request(), &update.drawn)] {
        // Any text names a request, quotes and control characters too.
        let uid = String::from_utf8_lossy(&bytes[..bytes.len().min(20)]);
        let asked = Request {
            uid: format!("{uid}."),
            ..request
        };
        let body = body(&asked).to_string();
        let read = review::read(body.as_bytes()).map_err(|error| format!("{error}: {body}"))?;
        let came = asked.object.clone().map(without_updates);
        let left = read.object.clone().map(without_updates);
        ensure(left == came || left.is_none(), || {
            format!("{body}\nwas read as {:?}", read.object)
        })?;
        let mode = drawn.facts.mode;
        let facts = drawn.admission(mode);
        let decision = admit(&read, &facts);
        if read.object.is_some() {
            let asked = Request {
                not_understood: read.not_understood.clone(),
                ..asked.clone()
            };
            let whole = format!("{:?}", admit(&asked, &facts));
            ensure(whole == format!("{decision:?}"), || {
                format!("{body}\nis judged as {decision:?}, and was before it was read as {whole}")
            })?;
        }
        for endpoint in [Endpoint::Mutate, Endpoint::Validate] {
            let answer = review::answer(&read.uid, &decision.response(endpoint));
            let objection = objection(&asked, mode, endpoint, &answer);
            ensure(objection.is_none(), || {
                let answer = String::from_utf8_lossy(&answer).into_owned();
                format!("{objection:?} of {answer}\nto {body}")
            })?;
        }
    }
    Ok(())
}

/// An object without the record of who wrote which field, where nobody applied.
fn without_updates(mut object: Value) -> Value {
    let record = object.pointer_mut("/metadata/managedFields");
    if let Some(Value::Array(entries)) = record
        && !entries.iter().any(|entry| entry["operation"] == "Apply")
    {
        entries.clear();
    }
    object
}

/// The review that asks.
fn body(request: &Request) -> Value {
    let kind = &request.kind;
    json!({
        "apiVersion": "admission.k8s.io/v1",
        "kind": "AdmissionReview",
        "request": {
            "uid": request.uid,
            "kind": {"group": kind.group, "version": kind.version, "kind": kind.kind},
            "subResource": request.sub_resource,
            "name": request.name,
            "namespace": request.namespace,
            "operation": match request.operation {
                Operation::Create => "CREATE",
                Operation::Update => "UPDATE",
                Operation::Other => "DELETE",
            },
            "object": request.object,
            "oldObject": request.old_object,
        }
    })
}
