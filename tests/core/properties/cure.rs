//! What is mended is not complained of any more.

use serde_json::json;
use warmgate::admit::{Decision, admit};
use warmgate::plan::EditKind;
use warmgate::words::{Finding, Severity};

use super::{editing, ensure, mended, with_object};
use crate::generate::drawn;

/// Rules with the edit that cures what they say.
const CURES: [(&str, EditKind); 8] = [
    ("annotation-not-in-template", EditKind::Annotation),
    ("liveness-kills-startup", EditKind::StartupProbe),
    ("liveness-without-startup", EditKind::StartupProbe),
    ("no-probes", EditKind::StartupProbe),
    ("prestop-exceeds-grace", EditKind::GracePeriod),
    ("progress-deadline-too-short", EditKind::ProgressDeadline),
    ("short-probe-timeout", EditKind::ProbeTimeout),
    ("startup-window-too-short", EditKind::StartupWindow),
];

pub(super) fn what_an_edit_cures_is_not_found_again(bytes: &[u8]) -> Result<(), String> {
    let drawn = drawn(bytes);
    let facts = editing(&drawn);
    let (decision, after) = mended(&drawn.create(), &facts)?;
    let again = admit(&with_object(&drawn.create(), &after), &facts);
    for finding in again
        .findings
        .iter()
        .filter(|finding| finding.severity != Severity::Note)
    {
        ensure(!was_cured(finding, &decision), || {
            format!(
                "{} of {}\n{}",
                finding.line(),
                drawn.object,
                json!(decision.patch)
            )
        })?;
    }
    Ok(())
}

/// Whether the first decision made the edit that cures a finding.
fn was_cured(finding: &Finding, decision: &Decision) -> bool {
    let cure = CURES
        .iter()
        .find(|(rule, _)| *rule == finding.rule)
        .map(|(_, kind)| *kind);
    decision.edits.iter().any(|edit| {
        let about = match edit.kind {
            EditKind::ProbeTimeout => {
                finding.path.starts_with(&edit.path) || edit.path.starts_with(&finding.path)
            }
            EditKind::GracePeriod | EditKind::ProgressDeadline => true,
            _ => edit.container == finding.container,
        };
        Some(edit.kind) == cure && about
    })
}
