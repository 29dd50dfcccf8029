//! What was decided, in words: for people, for programs, as a timeline, and as a picture of it.
//!
//! Everything here makes text of what is handed in; where the text goes is a shell's business. Texts for people carry styles
//! as escape codes, which the shell takes out where nobody would see them.

mod brief;
mod container;
mod explain;
mod json;
mod lines;
mod meets;
mod outlook;
mod page;
mod picture;
mod plain;
mod pods;
mod style;
mod timeline;
mod undo;

use crate::admit::{Decision, Outcome};
use crate::intent::Skip;
use crate::words::Severity;

pub use brief::{brief, edit};
pub use explain::{Explained, Wanted, explain};
pub use json::json;
pub use picture::{Picture, svg};
pub use plain::{change, plain};
pub use pods::DEFAULT_LOAD;
pub use timeline::{Simulated, simulate};
pub use undo::{left, no_undo, undone, unrecorded};

/// Everything that was read and judged in one run.
#[derive(Debug, Default)]
pub struct Report {
    /// The objects, in the order of the input.
    pub entries: Vec<Entry>,
    /// What could not be read, in the order of the input.
    pub troubles: Vec<Trouble>,
}

/// One object and what was decided of it.
#[derive(Debug)]
pub struct Entry {
    /// The file it stands in, as it was named.
    pub file: String,
    /// The number of its YAML document in the file, from 0.
    pub document: usize,
    /// The line it begins on, from 1.
    pub line: usize,
    /// Its kind, as it stands; empty where there is none.
    pub kind: String,
    /// Its name; where it has only a `generateName`, that with a `*` behind it.
    pub name: Option<String>,
    /// Its namespace, where it says one.
    pub namespace: Option<String>,
    /// What was decided.
    pub decision: Decision,
    /// Line and column of each finding of the decision.
    pub places: Vec<(usize, usize)>,
}

/// Something that could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trouble {
    /// The file, as it was named.
    pub file: String,
    /// Line and column, where the trouble is at one place of the text.
    pub place: Option<(usize, usize)>,
    /// What is wrong, on one line.
    pub message: String,
}

impl std::fmt::Display for Trouble {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.place {
            Some((line, column)) => write!(f, "{}:{line}:{column}: {}", self.file, self.message),
            None => write!(f, "{}: {}", self.file, self.message),
        }
    }
}

impl Entry {
    /// `Deployment ml/llama`, or as much of it as is known.
    pub fn title(&self) -> String {
        title(&self.kind, self.namespace.as_deref(), self.name.as_deref())
    }

    /// Why it is neither edited nor judged.
    pub fn skip(&self) -> Option<&Skip> {
        match &self.decision.outcome {
            Outcome::Skipped(skip) => Some(skip),
            _ => None,
        }
    }

    /// Why it was not looked into at all.
    pub fn not_checked(&self) -> Option<&str> {
        match &self.decision.outcome {
            Outcome::NotChecked(why) => Some(why),
            _ => None,
        }
    }

    /// Whether it is judged: neither skipped nor of a kind that is not looked into.
    pub fn is_judged(&self) -> bool {
        matches!(self.decision.outcome, Outcome::Allowed | Outcome::Denied)
    }

    /// Whether it fails a run that fails on `limit`. A finding of severity deny counts by the outcome alone: it refuses
    /// nothing where the object steps down, or where a controller owns it.
    pub fn fails(&self, limit: Severity) -> bool {
        let denied = self.decision.outcome == Outcome::Denied;
        let found = || {
            self.decision
                .findings
                .iter()
                .any(|finding| finding.severity <= limit)
        };
        denied || (limit > Severity::Deny && found())
    }
}

/// `Deployment ml/llama`, or as much of it as is known; an empty kind is none.
pub fn title(kind: &str, namespace: Option<&str>, name: Option<&str>) -> String {
    let kind = if kind.is_empty() { "object" } else { kind };
    match (namespace, name) {
        (Some(namespace), Some(name)) => format!("{kind} {namespace}/{name}"),
        (None, Some(name)) => format!("{kind} {name}"),
        (_, None) => kind.to_owned(),
    }
}

/// How often what was said.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Objects that are judged and fail.
    pub denied: usize,
    /// Objects that are judged and do not fail.
    pub allowed: usize,
    /// Objects that are neither edited nor judged.
    pub skipped: usize,
    /// Objects that were not looked into.
    pub not_checked: usize,
    /// Findings of severity deny.
    pub deny: usize,
    /// Findings of severity warn.
    pub warn: usize,
    /// Findings of severity note.
    pub note: usize,
    /// Objects that a fix would change.
    pub mended: usize,
    /// Places that could not be read.
    pub errors: usize,
}

impl Report {
    /// Counts what is in the report.
    pub fn summary(&self) -> Summary {
        let mut summary = Summary {
            errors: self.troubles.len(),
            ..Summary::default()
        };
        for entry in &self.entries {
            *match entry.decision.outcome {
                Outcome::Allowed => &mut summary.allowed,
                Outcome::Denied => &mut summary.denied,
                Outcome::NotChecked(_) => &mut summary.not_checked,
                Outcome::Skipped(_) => &mut summary.skipped,
            } += 1;
            for finding in &entry.decision.findings {
                *match finding.severity {
                    Severity::Deny => &mut summary.deny,
                    Severity::Note => &mut summary.note,
                    Severity::Warn => &mut summary.warn,
                } += 1;
            }
            summary.mended += usize::from(!entry.decision.patch.0.is_empty());
        }
        summary
    }
}
