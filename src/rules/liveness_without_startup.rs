//! Nothing holds the liveness probe off while the model loads.

use super::Case;
use super::rule::{Rule, Scope};
use crate::intent::fault;
use crate::kubelet::bounds;
use crate::subject::Role;
use crate::words::{Finding, Severity};

pub(super) static RULE: Rule = Rule {
    id: "liveness-without-startup",
    severity: Severity::Warn,
    summary: "no startup probe holds the liveness probe off while the model loads",
    page: include_str!("../../docs/rules/liveness-without-startup.md"),
    scope: Scope::Judged,
    check,
};

fn check(case: &Case<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (template, container, probe) in case.probes(Role::Liveness) {
        if container.container.raw_probe(Role::Startup).is_some()
            || probe.handler.always_passes()
            // The operator's own probe asks the raylet, which is there long before any model.
            || case.subject.owned_by(&["RayCluster"])
            || super::never_counts(template, container, probe)
            || super::liveness_kills_startup::speaks_of(template, container, probe)
        {
            continue;
        }
        let (earliest, latest) = (bounds::guaranteed_window(probe), bounds::latest_kill(probe));
        let cure = super::startup_cure(case, template, container);
        let slow = if fault::passes_while_loading(template, container, &probe.handler) {
            "in which nobody listens until then"
        } else {
            "that takes longer"
        };
        let message = format!("kills {earliest} to {latest} s after a start {slow}: {cure}");
        findings.push(RULE.about(container, &["livenessProbe"], &message));
    }
    findings
}
