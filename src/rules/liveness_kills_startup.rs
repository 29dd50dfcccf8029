//! The liveness probe kills the server before it can have started.

use super::rule::{Rule, Scope};
use super::{Case, case};
use crate::kubelet::bounds::{self, Verdict};
use crate::plan::EditKind;
use crate::subject::Role;
use crate::words::{Finding, Severity};

pub(super) static RULE: Rule = Rule {
    id: "liveness-kills-startup",
    severity: Severity::Deny,
    summary: "the liveness probe kills the server before it can have started",
    page: include_str!("../../docs/rules/liveness-kills-startup.md"),
    scope: Scope::Judged,
    check,
};

fn check(case: &Case<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (_, container, probe) in case.probes(Role::Liveness) {
        let Some(declared) = &container.declared else {
            continue;
        };
        let guarded = container.container.raw_probe(Role::Startup).is_some();
        if guarded || super::never_counts(case, container, probe) {
            continue;
        }
        let load = declared.value.0;
        let severity = match bounds::verdict(probe, load) {
            Verdict::Survives => continue,
            Verdict::Dies if declared.source.is_object() => Severity::Deny,
            Verdict::Depends | Verdict::Dies => Severity::Warn,
        };
        let (earliest, latest) = (bounds::guaranteed_window(probe), bounds::latest_kill(probe));
        let cure = cure(case, &container.container.name, load);
        let message = format!(
            "kills {earliest} to {latest} s after each start, the model needs up to {load} s: {cure}"
        );
        findings.push(case::with_severity(
            RULE.about(container, &["livenessProbe"], &message),
            severity,
        ));
    }
    findings
}

/// What a fix injects, or would.
fn cure(case: &Case<'_>, container: &str, load: i64) -> String {
    let planned = case.plan.edits.iter().find(|edit| {
        edit.kind == EditKind::StartupProbe && edit.container.as_deref() == Some(container)
    });
    let number = |field: &str| planned?.value.as_ref()?.get(field)?.as_i64();
    let (period, threshold) = match (number("periodSeconds"), number("failureThreshold")) {
        (Some(period), Some(threshold)) => (period, threshold),
        _ => (10, bounds::failure_threshold_for(load, 0, 10)),
    };
    format!("add a startupProbe with periodSeconds {period}, failureThreshold {threshold}")
}
