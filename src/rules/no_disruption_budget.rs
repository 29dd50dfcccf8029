//! A node drain may take all replicas at once.

use serde_json::Value;

use super::rule::{Rule, Scope};
use super::{Case, selector};
use crate::words::{Finding, Severity};

pub(super) static RULE: Rule = Rule {
    id: "no-disruption-budget",
    severity: Severity::Note,
    summary: "no PodDisruptionBudget keeps a node drain from taking all replicas",
    page: include_str!("../../docs/rules/no-disruption-budget.md"),
    scope: Scope::Judged,
    check,
};

fn check(case: &Case<'_>) -> Vec<Finding> {
    let Some(neighbours) = &case.facts.neighbours else {
        return Vec::new();
    };
    let replicas = case.replicas().unwrap_or(1);
    if replicas < 2 || case.subject.workload.group != "apps" {
        return Vec::new();
    }
    let budgets = neighbours.disruption_budgets.get(&case.subject.namespace);
    let mut findings = Vec::new();
    for template in case.templates() {
        let labels = selector::pairs(template.template.labels());
        let covers = |selector: &Value| selector::matches(selector, &labels);
        let mut candidates = budgets.into_iter().flat_map(|all| all.candidates(&labels));
        if candidates.any(covers) {
            continue;
        }
        let message = format!(
            "replicas is {replicas} and no PodDisruptionBudget in this input selects the pods: drains of nodes may take them all while new ones load, add one with maxUnavailable 1"
        );
        let path = case.subject.workload.replicas.clone();
        findings.push(RULE.at(path.unwrap_or_default(), message));
    }
    findings
}
