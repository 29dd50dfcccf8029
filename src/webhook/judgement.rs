//! One review without the wire: read, judged, counted, logged, answered.

use std::panic::{AssertUnwindSafe, catch_unwind};

use serde_json::Value;
use tokio::time::Instant;

use super::labels::Answered;
use super::rejection::Rejection;
use super::routes::Entry;
use super::shared::Shared;
use crate::admit::{Decision, Endpoint, Outcome};
use crate::facts::Facts;
use crate::review::{self, Request, Response};
use crate::words::{Severity, clip};

/// What is said in a namespace whose label is none of the modes.
const UNKNOWN_MODE: &str = "the namespace's label warmgate.io/mode is none of audit, warn, fix and enforce, so nothing in it is looked at: set one of them";

/// What is said, and logged, where judging panicked.
const FAILED: &str = "judging this object failed by a fault of warmgate";

/// Characters of a name in the log: names are at most 253 long, unless a caller is hostile.
const NAME_LIMIT: usize = 253;

/// The body of an answer.
#[derive(Debug)]
pub(super) enum Judged {
    /// Of an answer.
    Answer(Vec<u8>),
    /// Of the news that there is none, by our own fault.
    Failure(Vec<u8>),
}

/// Judges a review.
pub(super) fn judge(
    shared: &Shared,
    entry: Entry,
    begun: Instant,
    body: &[u8],
) -> Result<Judged, Rejection> {
    let Some(read) = caught(|| review::read(body)) else {
        shared.metrics.panicked();
        return Err(Rejection::Failed);
    };
    let request = read?;
    let known = shared.known.load();
    let (answered, judged) = match caught(|| decide(shared, &known, entry, &request)) {
        Some((answered, response)) => {
            let bytes = review::answer(&request.uid, &response);
            (answered, Judged::Answer(bytes))
        }
        None => {
            shared.metrics.panicked();
            let object = name(&request);
            tracing::error!(kind = clipped(&request.kind.kind), object, FAILED);
            let bytes = review::failure(&request.uid, FAILED);
            (Answered::Failed, Judged::Failure(bytes))
        }
    };
    let kind = &request.kind;
    let workload = known.knowledge.workload(&kind.group, &kind.kind);
    let kind = workload.map_or("other", |workload| &workload.kind);
    shared
        .metrics
        .answered(entry, kind, answered, begun.elapsed());
    Ok(judged)
}

/// The result of `work`, or `None` if it panicked. Nothing that is shared is left half changed by a panic: all of it is
/// atomic.
pub(super) fn caught<T>(work: impl FnOnce() -> T) -> Option<T> {
    catch_unwind(AssertUnwindSafe(work)).ok()
}

/// Decides what to answer.
fn decide(shared: &Shared, known: &Facts, entry: Entry, request: &Request) -> (Answered, Response) {
    let Some(mode) = entry.mode else {
        return (Answered::Skipped, unknown_mode(!is_controlled(request)));
    };
    let facts = Facts {
        mode,
        ..known.clone()
    };
    let decision = (shared.judge)(request, &facts);
    let response = decision.response(entry.endpoint);
    if let Some(why) = &request.not_understood {
        shared.metrics.not_understood();
        let (kind, object) = (clipped(&request.kind.kind), name(request));
        tracing::warn!(mode = entry.word(), kind, object, why, "not understood");
        return (Answered::NotUnderstood, response);
    }
    if request.dry_run {
        // A dry run leaves no trace but its own count.
        return (Answered::DryRun, response);
    }
    let answered = outcome(entry.endpoint, &decision, &response);
    shared.metrics.judged(entry.endpoint, &decision);
    log(entry, request, &decision, answered);
    (answered, response)
}

/// Everything goes on, with a warning or without.
fn unknown_mode(warns: bool) -> Response {
    Response {
        allowed: true,
        warnings: warns.then(|| UNKNOWN_MODE.to_owned()).into_iter().collect(),
        ..Response::default()
    }
}

/// Whether a controller owns the object: warnings about it would only fill that controller's log.
fn is_controlled(request: &Request) -> bool {
    let owners = request
        .object
        .as_ref()
        .and_then(|object| object.pointer("/metadata/ownerReferences")?.as_array());
    owners.is_some_and(|owners| owners.iter().any(|owner| owner["controller"] == true))
}

fn outcome(endpoint: Endpoint, decision: &Decision, response: &Response) -> Answered {
    if !response.allowed {
        Answered::Refused
    } else if !response.patch.0.is_empty() {
        Answered::Changed
    } else if endpoint == Endpoint::Validate && grave(decision).next().is_some() {
        Answered::Findings
    } else {
        match decision.outcome {
            Outcome::Skipped(..) => Answered::Skipped,
            Outcome::NotChecked(_) => Answered::NotChecked,
            Outcome::Allowed | Outcome::Denied => Answered::Allowed,
        }
    }
}

/// The rules that found something to deny or to warn of.
fn grave(decision: &Decision) -> impl Iterator<Item = &'static str> {
    let findings = decision.findings.iter();
    findings
        .filter(|finding| finding.severity <= Severity::Warn)
        .map(|finding| finding.rule)
}

/// One line for what changed, found or refused something. It names the object and the rules, and quotes neither.
fn log(entry: Entry, request: &Request, decision: &Decision, answered: Answered) {
    let skip = match &decision.outcome {
        Outcome::Skipped(skip) => Some(skip.reason.word()),
        _ => None,
    };
    let (endpoint, mode) = (entry.endpoint.word(), entry.word());
    let (kind, object) = (clipped(&request.kind.kind), name(request));
    let answer = answered.word();
    match answered {
        Answered::Changed | Answered::Findings | Answered::Refused => {
            let mut rules: Vec<_> = grave(decision).collect();
            rules.dedup();
            let rules = (!rules.is_empty()).then(|| rules.join(","));
            let edits = decision.edits.len();
            tracing::info!(endpoint, mode, kind, object, rules, edits, skip, "{answer}");
        }
        _ => tracing::debug!(endpoint, mode, kind, object, skip, "{answer}"),
    }
}

/// `namespace/name` of the object, with a star where the API server has yet to complete the name.
fn name(request: &Request) -> String {
    let namespace = clipped(&request.namespace);
    if !request.name.is_empty() {
        return format!("{namespace}/{}", clipped(&request.name));
    }
    let object = request.object.as_ref();
    let part = |pointer| object?.pointer(pointer).and_then(Value::as_str);
    match (part("/metadata/name"), part("/metadata/generateName")) {
        (Some(name), _) => format!("{namespace}/{}", clipped(name)),
        (None, prefix) => format!("{namespace}/{}*", clipped(prefix.unwrap_or_default())),
    }
}

fn clipped(name: &str) -> String {
    clip(name, NAME_LIMIT)
}
