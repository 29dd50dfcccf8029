//! A pod of an OrderedReady StatefulSet can never be Ready, and mending the template does not free the set.

use super::Case;
use super::rule::{Rule, Scope};
use crate::intent::fault::{self, Fault};
use crate::subject::Role;
use crate::words::{FieldPath, Finding, Severity, clip};

pub(super) static RULE: Rule = Rule {
    id: "ordered-ready-trap",
    severity: Severity::Warn,
    summary: "a probe that cannot pass stops an OrderedReady StatefulSet for good",
    page: include_str!("../../docs/rules/ordered-ready-trap.md"),
    scope: Scope::Judged,
    check,
};

fn check(case: &Case<'_>) -> Vec<Finding> {
    let policy = case.value(&FieldPath::of(&["spec", "podManagementPolicy"]));
    let ordered = policy.is_none_or(|policy| policy.as_str() == Some("OrderedReady"));
    if case.subject.workload.kind != "StatefulSet" || !ordered {
        return Vec::new();
    }
    let mut findings = Vec::new();
    for (template, container, role, probe) in case.all_probes() {
        if role == Role::Liveness {
            continue;
        }
        let faults = fault::faults(template, container, &probe.handler);
        let Some(fault) = faults.iter().find(|fault| **fault != Fault::TellsNothing) else {
            continue;
        };
        let message = format!(
            "can never pass, {}: the set waits at its first pod, also once the template is mended, until that pod is deleted",
            clip(&fault.short(), 80)
        );
        findings.push(RULE.about(container, &[role.field()], &message));
    }
    findings
}
