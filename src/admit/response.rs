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

/// The longest that is said of one change. A container's valid name always fits; before the API server has looked at it, it may be
/// of any length.
const CHANGE_LIMIT: usize = 160;

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
        let fields = match changes.len() {
            0 => return None,
            1 => "field",
            _ => "fields",
        };
        let head = format!("warmgate changed {} {fields}: ", changes.len());
        Some(enumerated(head, &changes))
    }
}

/// `line` with as many of `parts` behind it as a message has room for; the others are counted.
fn enumerated(mut line: String, parts: &[String]) -> String {
    let whole = format!("{line}{}", parts.join(", "));
    if whole.chars().count() <= MESSAGE_LIMIT {
        return whole;
    }
    for (shown, part) in parts.iter().enumerate() {
        let and_more = |left: usize| format!(" and {left} more");
        let left = parts.len() - shown;
        let separator = if shown > 0 { ", " } else { "" };
        let longer = format!("{line}{separator}{part}");
        let room = longer.chars().count() + and_more(left - 1).chars().count();
        if shown > 0 && room > MESSAGE_LIMIT {
            line.push_str(&and_more(left));
            return line;
        }
        line = longer;
    }
    line
}

/// An edit in a few words: the container, the field, and its number where it has one.
fn change(edit: &Edit) -> String {
    clip(&words(edit), CHANGE_LIMIT)
}

fn words(edit: &Edit) -> String {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn line(parts: &[&str]) -> String {
        let parts: Vec<String> = parts.iter().map(|part| (*part).to_owned()).collect();
        enumerated("changed: ".to_owned(), &parts)
    }

    #[test]
    fn what_has_no_room_is_counted() {
        assert_eq!(line(&["a 1", "b 2"]), "changed: a 1, b 2");
        let (long, short) = ("x".repeat(100), "y".repeat(20));
        let [long, short] = [long.as_str(), short.as_str()];
        assert_eq!(
            line(&[long, long, long, short]),
            format!("changed: {long}, {long} and 2 more")
        );
        // Nothing is left out for the sake of what says that something is.
        let last = "z".repeat(MESSAGE_LIMIT - "changed: , , ".len() - 200);
        let whole = line(&[long, long, &last]);
        assert_eq!(whole, format!("changed: {long}, {long}, {last}"));
        assert_eq!(whole.chars().count(), MESSAGE_LIMIT);
    }

    #[test]
    fn every_line_ends_with_a_whole_part_or_a_count() {
        for length in 1..=CHANGE_LIMIT {
            for count in 1..30 {
                let part = "p".repeat(length);
                let line = line(&vec![part.as_str(); count]);
                assert!(line.chars().count() <= MESSAGE_LIMIT, "{line}");
                let rest = line.strip_prefix("changed: ").unwrap_or_default();
                let (shown, left) = match rest.strip_suffix(" more") {
                    Some(rest) => rest.rsplit_once(" and ").expect("a count"),
                    None => (rest, "0"),
                };
                let shown: Vec<_> = shown.split(", ").collect();
                let left: usize = left.parse().expect("a number");
                assert_eq!(shown.len() + left, count, "{line}");
                assert!(shown.iter().all(|one| **one == part), "{line}");
            }
        }
    }
}
