//! When the webhook refuses.
//!
//! Only in mode `enforce`, only an object that no controller owns, only what no edit of the object itself cures, and only for
//! what the object itself says: so a mutating call that was lost never becomes a refusal, and facts never refuse.

use std::sync::Arc;

use serde_json::Value;

use super::{Decision, Outcome, judge};
use crate::facts::{Facts, Mode, Version};
use crate::plan::Write;
use crate::words::{Finding, Severity};

/// At most so many findings are spelled out in a refusal.
const SPELLED_OUT: usize = 3;

/// Why the object is refused, if it is: one line that ends with the way past it.
pub(super) fn refusal(
    decision: &Decision,
    object: &Value,
    namespace: &str,
    facts: &Facts,
    write: Write<'_>,
) -> Option<String> {
    if decision.outcome != Outcome::Denied || decision.mode != Mode::Enforce {
        return None;
    }
    let alone = Facts {
        cluster: Arc::default(),
        kubernetes: Version::NEWEST,
        ..facts.clone()
    };
    let by_itself = judge(object, namespace, &alone, write);
    let mut mended = object.clone();
    json_patch::patch(&mut mended, &by_itself.patch).ok()?;
    let after = judge(&mended, namespace, &alone, write);
    let fatal = |decision: &Decision, finding: &Finding| {
        let same = |other: &Finding| {
            other.rule == finding.rule
                && other.container == finding.container
                && other.severity == Severity::Deny
        };
        decision.findings.iter().any(same)
    };
    let lines: Vec<String> = decision
        .findings
        .iter()
        .filter(|finding| finding.severity == Severity::Deny)
        .filter(|finding| fatal(&by_itself, finding) && fatal(&after, finding))
        .map(Finding::line)
        .collect();
    if lines.is_empty() {
        return None;
    }
    let more = match lines.len().saturating_sub(SPELLED_OUT) {
        0 => String::new(),
        more => format!("; and {more} more"),
    };
    let shown = lines
        .iter()
        .take(SPELLED_OUT)
        .map(String::as_str)
        .collect::<Vec<_>>()
        .join("; ");
    let namespace = if namespace.is_empty() {
        "NAMESPACE"
    } else {
        namespace
    };
    Some(format!(
        "{shown}{more}; to let it pass: kubectl label ns {namespace} warmgate.io/mode=fix --overwrite"
    ))
}
