//! A decision as the API server is told it.

use std::collections::BTreeMap;

use json_patch::Patch;

use super::{Decision, Endpoint, Outcome};
use crate::facts::Mode;
use crate::intent::SkipReason;
use crate::plan::Edit;
use crate::review::Response;
use crate::words::{Finding, MESSAGE_LIMIT, Segment, Severity, clip};

/// So many warnings at most go to kubectl: the API server cuts all of them once they exceed 4096 characters.
const WARNINGS: usize = 12;

/// What is said of a review that is not understood.
const NOT_UNDERSTOOD: &str = "warmgate did not understand this object and left it as it is";

/// The longest value of an audit annotation, in bytes.
const AUDIT_LIMIT: usize = 4096;

impl Decision {
    /// What the API server is told at an endpoint.
    pub fn response(&self, endpoint: Endpoint) -> Response {
        match endpoint {
            Endpoint::Mutate => self.mutating(),
            Endpoint::Validate => self.validating(),
        }
    }

    fn mutating(&self) -> Response {
        let patched = !self.patch.0.is_empty();
        let warnings = if patched && !self.owned {
            self.changed().into_iter().collect()
        } else {
            Vec::new()
        };
        Response {
            allowed: true,
            patch: self.patch.clone(),
            warnings,
            ..Response::default()
        }
    }

    fn validating(&self) -> Response {
        let mut audit = BTreeMap::new();
        if !self.findings.is_empty() {
            audit.insert(
                "findings".to_owned(),
                joined(self.findings.iter().map(recorded)),
            );
        }
        if !self.edits.is_empty() && !self.sends_patches() {
            audit.insert(
                "would-change".to_owned(),
                joined(self.edits.iter().map(|edit| edit.path.to_string())),
            );
        }
        let shown = self.mode > Mode::Audit && !self.owned;
        Response {
            allowed: self.refusal.is_none(),
            message: self.refusal.clone(),
            patch: Patch::default(),
            warnings: if shown { self.warnings() } else { Vec::new() },
            audit,
        }
    }

    fn sends_patches(&self) -> bool {
        !self.patch.0.is_empty() || self.mode.edits()
    }

    /// Findings of severity deny and warn; those that the refusal spells out are not repeated.
    fn warnings(&self) -> Vec<String> {
        if self.is_skipped_for(SkipReason::NotUnderstood) {
            return vec![NOT_UNDERSTOOD.to_owned()];
        }
        let refused = self.refusal.as_deref().unwrap_or_default();
        let mut lines: Vec<String> = self
            .findings
            .iter()
            .filter(|finding| finding.severity != Severity::Note)
            .map(Finding::line)
            .filter(|line| !refused.contains(line.as_str()))
            .collect();
        lines.dedup();
        if lines.len() > WARNINGS {
            let more = lines.len() - (WARNINGS - 1);
            lines.truncate(WARNINGS - 1);
            lines.push(format!(
                "and {more} more findings: warmgate check shows them all"
            ));
        }
        lines
    }

    /// Whether the object was neither edited nor judged for this reason.
    pub fn is_skipped_for(&self, reason: SkipReason) -> bool {
        matches!(&self.outcome, Outcome::Skipped(skip) if skip.reason == reason)
    }

    /// One line that says what was changed.
    fn changed(&self) -> Option<String> {
        let changes: Vec<String> = self.edits.iter().map(change).collect();
        if changes.is_empty() {
            return None;
        }
        let fields = if changes.len() == 1 {
            "field"
        } else {
            "fields"
        };
        Some(clip(
            &format!(
                "warmgate changed {} {fields}: {}",
                changes.len(),
                changes.join(", ")
            ),
            MESSAGE_LIMIT,
        ))
    }
}

/// An edit in a few words: the container, the field, and its number where it has one.
fn change(edit: &Edit) -> String {
    let field = match (&edit.container, edit.path.segments().last()) {
        (Some(name), _) => format!("containers[{name}].{}", edit.path.within_item()),
        (None, Some(Segment::Key(key))) => key.clone(),
        (None, _) => edit.path.to_string(),
    };
    match edit
        .value
        .as_ref()
        .map(|value| (value.as_i64(), value.pointer("/sleep/seconds")))
    {
        Some((Some(number), _)) => format!("{field} {number}"),
        Some((None, Some(seconds))) => format!("{field} sleep {seconds}"),
        Some((None, None)) => field,
        None => format!("{field} taken out"),
    }
}

fn recorded(finding: &Finding) -> String {
    let severity = finding.severity.word();
    match &finding.container {
        Some(container) => format!("{} {severity} {container}", finding.rule),
        None => format!("{} {severity}", finding.rule),
    }
}

/// The parts that fit into an audit annotation.
fn joined(parts: impl Iterator<Item = String>) -> String {
    let mut text = String::new();
    for part in parts {
        let more = if text.is_empty() { 0 } else { 2 } + part.len();
        if text.len() + more > AUDIT_LIMIT - "; …".len() {
            text.push_str("; …");
            break;
        }
        if !text.is_empty() {
            text.push_str("; ");
        }
        text.push_str(&part);
    }
    text
}
