//! A report for people.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::style::{BAD, FAINT, GOOD, TITLE, paint, severity};
use super::{Entry, Report, Summary, edit};
use crate::admit::Outcome;

/// So many names are told of a group of objects; the rest is counted.
const NAMES: usize = 3;

/// What was found, object by object, then what was not judged and why, then a summary.
pub fn plain(report: &Report) -> String {
    let mut text = String::new();
    for entry in report.entries.iter().filter(|entry| has_news(entry)) {
        object(entry, &mut text);
        text.push('\n');
    }
    not_judged(report, &mut text);
    summary(&report.summary(), &mut text);
    text
}

/// Whether there is more to say of an object than how it is counted.
fn has_news(entry: &Entry) -> bool {
    !entry.decision.findings.is_empty()
        || !entry.decision.patch.0.is_empty()
        || entry.decision.left_alone.is_some()
}

fn object(entry: &Entry, text: &mut String) {
    let outcome = match &entry.decision.outcome {
        Outcome::Denied => paint(BAD, "denied"),
        other => other.word().to_owned(),
    };
    let title = paint(TITLE, &entry.title());
    line(
        text,
        &format!("{}:{} {title}: {outcome}", entry.file, entry.line),
    );
    for (finding, (at, column)) in entry.decision.findings.iter().zip(&entry.places) {
        let word = paint(severity(finding.severity), finding.severity.word());
        let message = finding.line();
        line(
            text,
            &format!("  {}:{at}:{column} {word}: {message}", entry.file),
        );
        let path = finding.path.to_string();
        if !path.is_empty() {
            line(text, &format!("      {}", paint(FAINT, &path)));
        }
        if let Some(help) = &finding.help {
            line(text, &format!("      {help}"));
        }
    }
    fix(entry, text);
}

fn fix(entry: &Entry, text: &mut String) {
    if let Some(why) = entry.decision.left_alone {
        line(text, &format!("  fix leaves it alone: {why}"));
    }
    if entry.decision.patch.0.is_empty() {
        return;
    }
    line(text, &format!("  fix would change {}:", change(entry)));
    for one in &entry.decision.edits {
        line(text, &format!("      {}", paint(GOOD, &edit(one))));
    }
}

/// How much a fix changes: `4 fields`.
pub fn change(entry: &Entry) -> String {
    count(entry.decision.edits.len().max(1), "field", "fields")
}

/// What was skipped or not looked into, grouped by the reason.
fn not_judged(report: &Report, text: &mut String) {
    let mut skipped: BTreeMap<String, Vec<&Entry>> = BTreeMap::new();
    let mut unchecked: BTreeMap<String, Vec<&Entry>> = BTreeMap::new();
    for entry in &report.entries {
        if let Some(skip) = entry.skip() {
            let why = format!("{} [{}]", skip.detail, skip.reason.word());
            skipped.entry(why).or_default().push(entry);
        } else if let Some(why) = entry.not_checked() {
            unchecked.entry(why.to_owned()).or_default().push(entry);
        }
    }
    for (word, groups) in [("skipped", &skipped), ("not checked", &unchecked)] {
        for (why, entries) in groups {
            line(text, &format!("{word}: {}: {why}", named(entries)));
        }
    }
    if !skipped.is_empty() || !unchecked.is_empty() {
        text.push('\n');
    }
}

/// `2 objects (Pod a, Pod b)`, with the file where there is one object only.
fn named(entries: &[&Entry]) -> String {
    let label = |entry: &Entry| match &entry.name {
        Some(_) => entry.title(),
        None => format!("{}:{}", entry.file, entry.line),
    };
    if let [entry] = entries {
        return match &entry.name {
            Some(_) => format!("{} ({}:{})", entry.title(), entry.file, entry.line),
            None => label(entry),
        };
    }
    let names: Vec<String> = entries
        .iter()
        .take(NAMES)
        .map(|entry| label(entry))
        .collect();
    let more = match entries.len().saturating_sub(NAMES) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("{} objects ({}{more})", entries.len(), names.join(", "))
}

fn summary(summary: &Summary, text: &mut String) {
    let judged = summary.denied + summary.allowed;
    let mut parts = vec![format!("{} judged", count(judged, "object", "objects"))];
    if judged > 0 {
        parts.push(format!(
            "{} denied, {} allowed",
            summary.denied, summary.allowed
        ));
    }
    let findings = summary.deny + summary.warn + summary.note;
    if findings > 0 {
        parts.push(format!(
            "{}: {} deny, {} warn, {} note",
            count(findings, "finding", "findings"),
            summary.deny,
            summary.warn,
            summary.note
        ));
    }
    if summary.mended > 0 {
        parts.push(format!(
            "fix would change {}",
            count(summary.mended, "object", "objects")
        ));
    }
    if summary.errors > 0 {
        parts.push(count(summary.errors, "error", "errors"));
    }
    line(text, &parts.join("; "));
}

pub(super) fn count(number: usize, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

fn line(text: &mut String, line: &str) {
    writeln!(text, "{line}").expect("a string takes every line");
}
