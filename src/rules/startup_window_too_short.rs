//! The startup probe gives up before the server can have started.

use super::rule::{Rule, Scope};
use super::{Case, case};
use crate::intent::fault;
use crate::kubelet::bounds::{self, Verdict};
use crate::subject::Role;
use crate::words::{Finding, Severity};

pub(super) static RULE: Rule = Rule {
    id: "startup-window-too-short",
    severity: Severity::Deny,
    summary: "the startup probe gives up before the server can have started",
    page: include_str!("../../docs/rules/startup-window-too-short.md"),
    scope: Scope::Judged,
    check,
};

fn check(case: &Case<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (template, container, probe) in case.probes(Role::Startup) {
        let Some(declared) = &container.declared else {
            continue;
        };
        // One that passes at its first try never kills; startup-passes-too-early speaks of it.
        if fault::passes_while_loading(template, container, &probe.handler)
            || super::never_counts(template, container, probe)
        {
            continue;
        }
        let load = declared.value.0;
        let severity = match bounds::verdict(probe, load) {
            Verdict::Survives => continue,
            Verdict::Dies if declared.source.is_object() => Severity::Deny,
            Verdict::Depends | Verdict::Dies => Severity::Warn,
        };
        let threshold = bounds::failure_threshold_for(load, probe.initial_delay, probe.period);
        let (earliest, latest) = (bounds::guaranteed_window(probe), bounds::latest_kill(probe));
        let message = format!(
            "kills {earliest} to {latest} s after each start, {load} s are declared: set failureThreshold to {threshold} or more"
        );
        findings.push(case::with_severity(
            RULE.about(container, &["startupProbe"], &message),
            severity,
        ));
    }
    findings
}
