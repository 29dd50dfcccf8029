//! All replicas may run on one node.

use serde_json::Value;

use super::Case;
use super::rule::{Rule, Scope};
use crate::words::{Finding, Severity};

pub(super) static RULE: Rule = Rule {
    id: "no-spread",
    severity: Severity::Note,
    summary: "nothing keeps all replicas from running on one node",
    page: include_str!("../../docs/rules/no-spread.md"),
    scope: Scope::Judged,
    check,
};

fn check(case: &Case<'_>) -> Vec<Finding> {
    let replicas = case.replicas().unwrap_or(1);
    if case.facts.neighbours.is_none() || replicas < 2 || case.subject.workload.group != "apps" {
        return Vec::new();
    }
    let mut findings = Vec::new();
    for template in case.templates() {
        let spec = template.template.spec_path();
        let spread = spec.key("topologySpreadConstraints");
        let apart = spec.keys(&["affinity", "podAntiAffinity"]);
        if is_filled(case.value(&spread)) || is_filled(case.value(&apart)) {
            continue;
        }
        let message = format!(
            "topologySpreadConstraints is missing, so all {replicas} pods may run on one node and load anew together when it goes: add one for kubernetes.io/hostname"
        );
        findings.push(RULE.at(spread, message));
    }
    findings
}

fn is_filled(value: Option<&Value>) -> bool {
    match value {
        Some(Value::Array(items)) => !items.is_empty(),
        Some(Value::Object(members)) => !members.is_empty(),
        _ => false,
    }
}
