//! Nothing that comes in makes the judge fall over.

use serde_json::{Value, json};
use warmgate::admit::{Endpoint, admit};
use warmgate::facts::{Facts, Mode, Origin};
use warmgate::manifest::Manifest;
use warmgate::review;

use super::ensure;
use crate::generate::{Source, create, drawn, drawn_update, replace};

pub(super) fn any_json_is_survived(bytes: &[u8]) -> Result<(), String> {
    const KINDS: [(&str, &str); 6] = [
        ("v1", "Pod"),
        ("apps/v1", "Deployment"),
        ("batch/v1", "CronJob"),
        ("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet"),
        ("x", "Y"),
        ("", ""),
    ];
    let source = &mut Source::new(bytes);
    let facts = Facts::new(
        source.one(&Mode::ALL),
        source.one(&[Origin::Admission, Origin::File]),
    );
    let [old, new] = [0, 1].map(|_| {
        let (version, kind) = source.one(&KINDS);
        let mut object = json!({"apiVersion": version, "kind": kind});
        for place in ["metadata", "spec"] {
            object[place] = source.any(5);
        }
        if source.chance(2) {
            object["spec"] = json!({"template": {"metadata": source.any(4), "spec": {"containers": [source.any(4), source.any(4)]}}});
        }
        if source.chance(10) { source.any(3) } else { object }
    });
    for request in [create(&new, "team"), replace(&old, &new, "")] {
        let decision = admit(&request, &facts);
        let mutated = decision.response(Endpoint::Mutate);
        let answer = review::answer("u", &mutated);
        ensure(!answer.is_empty(), || "no answer".to_owned())?;
        decision.response(Endpoint::Validate);
    }
    Ok(())
}

pub(super) fn any_bytes_are_survived(bytes: &[u8]) -> Result<(), String> {
    let read = review::read(bytes);
    ensure(read.is_err(), || format!("{read:?} of {bytes:?}"))?;
    let text = String::from_utf8_lossy(bytes);
    drop(Manifest::read("drawn.yaml", &text));
    Ok(())
}

/// A review that was good, with some of its bytes turned into others.
pub(super) fn a_damaged_review_is_survived(bytes: &[u8]) -> Result<(), String> {
    let update = drawn_update(bytes);
    let review = json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {
        "uid": "u", "kind": {"group": "apps", "version": "v1", "kind": "Deployment"}, "operation": "UPDATE",
        "namespace": "team", "object": update.new, "oldObject": update.old}});
    let mut body = review.to_string().into_bytes();
    for pair in bytes.rchunks_exact(4).take(3) {
        let place = usize::from(u16::from_le_bytes([pair[0], pair[1]])) % body.len();
        body[place] = pair[2];
    }
    if let Ok(request) = review::read(&body) {
        let decision = admit(&request, &update.facts());
        let fine = request.not_understood.is_none()
            || decision.patch.0.is_empty() && decision.refusal.is_none();
        ensure(fine, || format!("{:?}", request.not_understood))?;
    }
    Ok(())
}

/// The same bytes make the same object, the same judgement and the same answer.
pub(super) fn the_same_request_has_the_same_answer(bytes: &[u8]) -> Result<(), String> {
    let (one, other) = (drawn(bytes), drawn(bytes));
    let answers: Vec<Value> = [&one, &other]
        .into_iter()
        .map(|drawn| {
            let decision = admit(&drawn.create(), &drawn.facts);
            let lines: Vec<String> = decision
                .findings
                .iter()
                .map(|finding| finding.line())
                .collect();
            json!([decision.patch, lines, decision.refusal])
        })
        .collect();
    ensure(answers[0] == answers[1], || format!("{answers:?}"))
}
