//! A report for programs.

use serde_json::{Value, json};

use super::{Entry, Report, Trouble};
use crate::words::Finding;

/// The report as JSON: `objects`, `errors` and `summary`.
///
/// Of each object: `file`, `document`, `line`, `kind`, `name`, `namespace`, `outcome`, `reason` and `skip` (text and word,
/// where it is skipped), `not_checked` (why, where it is not), `left_alone`, `findings`, `edits`, and `patch`: what a fix
/// would apply, as RFC 6902.
pub fn json(report: &Report) -> Value {
    let summary = report.summary();
    json!({
        "objects": report.entries.iter().map(object).collect::<Vec<_>>(),
        "errors": report.troubles.iter().map(trouble).collect::<Vec<_>>(),
        "summary": {
            "objects": report.entries.len(),
            "denied": summary.denied,
            "allowed": summary.allowed,
            "skipped": summary.skipped,
            "not_checked": summary.not_checked,
            "deny": summary.deny,
            "warn": summary.warn,
            "note": summary.note,
            "mended": summary.mended,
            "errors": summary.errors,
        },
    })
}

fn object(entry: &Entry) -> Value {
    let decision = &entry.decision;
    let findings = decision.findings.iter().zip(&entry.places);
    json!({
        "file": entry.file,
        "document": entry.document,
        "line": entry.line,
        "kind": Some(&entry.kind).filter(|kind| !kind.is_empty()),
        "name": entry.name,
        "namespace": entry.namespace,
        "outcome": decision.outcome.word(),
        "reason": entry.skip().map(|skip| &skip.detail),
        "skip": entry.skip().map(|skip| skip.reason.word()),
        "not_checked": entry.not_checked(),
        "left_alone": decision.left_alone,
        "findings": findings.map(|(one, place)| finding(one, *place)).collect::<Vec<_>>(),
        "edits": decision.edits.iter().map(|edit| json!({
            "kind": edit.kind.word(),
            "container": edit.container,
            "path": edit.path.to_string(),
            "pointer": edit.path.pointer(),
            "why": edit.why,
        })).collect::<Vec<_>>(),
        "patch": decision.patch,
    })
}

fn finding(finding: &Finding, (line, column): (usize, usize)) -> Value {
    json!({
        "rule": finding.rule,
        "severity": finding.severity.word(),
        "container": finding.container,
        "path": finding.path.to_string(),
        "pointer": finding.path.pointer(),
        "line": line,
        "column": column,
        "message": finding.message,
        "help": finding.help,
    })
}

fn trouble(trouble: &Trouble) -> Value {
    json!({
        "file": trouble.file,
        "line": trouble.place.map(|(line, _)| line),
        "column": trouble.place.map(|(_, column)| column),
        "message": trouble.message,
    })
}
