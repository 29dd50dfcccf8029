//! Who is refused, and what is said.

use std::sync::Arc;

use serde_json::{Value, json};
use warmgate::admit::{Endpoint, Outcome, admit};
use warmgate::annotations::{CHANGES, is_ours};
use warmgate::facts::{Cluster, Facts, Mode, Version};
use warmgate::review::Request;
use warmgate::rules;
use warmgate::words::MESSAGE_LIMIT;

use super::{ensure, mended, with_object};
use crate::generate::{drawn, drawn_update};

/// Requests in the mode that refuses: of a new object, and of an update.
fn requests(bytes: &[u8]) -> [(Request, Facts); 2] {
    let (drawn, update) = (drawn(bytes), drawn_update(bytes));
    let facts = update.drawn.admission(Mode::Enforce);
    [
        (drawn.create(), drawn.admission(Mode::Enforce)),
        (update.request(), facts),
    ]
}

fn object(request: &Request) -> &Value {
    request
        .object
        .as_ref()
        .expect("drawn requests have an object")
}

/// What the owner says to us on an object.
fn said_on(object: &Value) -> Vec<(&String, &Value)> {
    let annotations = object["metadata"]["annotations"].as_object();
    let said = annotations.into_iter().flatten();
    said.filter(|(key, _)| is_ours(key) && *key != CHANGES)
        .collect()
}

pub(super) fn nobody_stands_there_to_be_refused(bytes: &[u8]) -> Result<(), String> {
    for (request, facts) in requests(bytes) {
        let owners = object(&request)["metadata"]["ownerReferences"].as_array();
        let is_owner = |owner: &Value| {
            owner["controller"] == true
                && owner["kind"].is_string()
                && owner["apiVersion"].is_string()
        };
        let read = request.not_understood.is_none();
        if !read || !owners.into_iter().flatten().any(is_owner) {
            continue;
        }
        let decision = admit(&request, &facts);
        let fine = decision.refusal.is_none() && decision.outcome != Outcome::Denied;
        ensure(fine, || {
            format!("{:?} of {}", decision.refusal, object(&request))
        })?;
        let warnings = decision.response(Endpoint::Validate).warnings;
        ensure(warnings.is_empty(), || {
            format!("{warnings:?} of {}", object(&request))
        })?;
    }
    Ok(())
}

pub(super) fn a_refusal_never_rests_on_facts(bytes: &[u8]) -> Result<(), String> {
    for (request, facts) in requests(bytes) {
        if let Some(refusal) = admit(&request, &facts).refusal {
            let bare = Facts {
                cluster: Arc::new(Cluster::default()),
                neighbours: None,
                kubernetes: Version::NEWEST,
                ..facts
            };
            let still = admit(&request, &bare).refusal.is_some();
            ensure(still, || format!("{refusal}\nof {}", object(&request)))?;
        }
    }
    Ok(())
}

pub(super) fn a_lost_mutating_call_never_becomes_a_refusal(bytes: &[u8]) -> Result<(), String> {
    for (request, facts) in requests(bytes) {
        let (decision, after) = mended(&request, &facts)?;
        if let Some(refusal) = &decision.refusal {
            let still = admit(&with_object(&request, &after), &facts)
                .refusal
                .is_some();
            ensure(still, || {
                format!(
                    "{refusal}\nof {}\n{}",
                    object(&request),
                    json!(decision.patch)
                )
            })?;
        }
    }
    Ok(())
}

/// Of an owner who says something new on an update the refusal is his own, also where our copy of his word makes it: he is left out.
pub(super) fn an_edit_of_ours_never_becomes_a_refusal(bytes: &[u8]) -> Result<(), String> {
    for (request, facts) in requests(bytes) {
        let old = request.old_object.as_ref();
        if old.is_some_and(|old| said_on(old) != said_on(object(&request))) {
            continue;
        }
        let (decision, after) = mended(&request, &facts)?;
        let again = admit(&with_object(&request, &after), &facts).refusal;
        ensure(decision.refusal.is_some() || again.is_none(), || {
            format!(
                "{again:?}\nof {}\nbefore {:?}\n{}",
                object(&request),
                request.old_object,
                json!(decision.patch)
            )
        })?;
    }
    Ok(())
}

pub(super) fn everything_said_has_the_form_of_a_message(bytes: &[u8]) -> Result<(), String> {
    for (request, facts) in requests(bytes) {
        let decision = admit(&request, &facts);
        for finding in &decision.findings {
            let (message, line) = (&finding.message, finding.line());
            let formed = !message.starts_with(char::is_uppercase)
                && !message.ends_with('.')
                && !line.contains(['\n', '\r'])
                && line.chars().count() <= MESSAGE_LIMIT
                && line.ends_with(&format!(" [{}]", finding.rule))
                && rules::find(finding.rule).is_some();
            ensure(formed, || format!("{line:?} of {}", object(&request)))?;
        }
        let response = decision.response(Endpoint::Validate);
        let texts = response.warnings.iter().chain(&response.message);
        let secret = texts
            .chain(response.audit.values())
            .find(|text| text.contains("very-secret") || text.contains("Bearer"));
        ensure(secret.is_none(), || {
            format!("{secret:?} of {}", object(&request))
        })?;
    }
    Ok(())
}
