//! Requests are cut off soon after SIGTERM, and nothing keeps new ones away before it.

use super::Case;
use super::rule::{Rule, Scope};
use crate::intent::ContainerIntent;
use crate::kubelet::MINIMUM_GRACE;
use crate::plan;
use crate::words::{Finding, Severity};

pub(super) static RULE: Rule = Rule {
    id: "grace-too-short",
    severity: Severity::Warn,
    summary: "a grace period below 30 s without a preStop hook cuts requests off",
    page: include_str!("../../docs/rules/grace-too-short.md"),
    scope: Scope::Judged,
    check,
};

fn check(case: &Case<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for template in case.templates() {
        let grace = template.template.grace();
        let Some(grace) = grace.filter(|grace| (0..plan::DEFAULT_GRACE).contains(grace)) else {
            continue;
        };
        let hooked = |one: &ContainerIntent<'_>| {
            let path = one.container.path.keys(&["lifecycle", "preStop"]);
            case.value(&path).is_some()
        };
        if template.serving().any(hooked) {
            continue;
        }
        let drains = template.serving().map(|one| plan::drain(case.facts, one).0);
        let Some(drain) = drains.max() else {
            continue;
        };
        let sleep = case.facts.config.defaults.prestop_sleep;
        let left = grace.max(MINIMUM_GRACE);
        let message = format!(
            "terminationGracePeriodSeconds cuts requests off {left} s after SIGTERM, and no preStop hook lets endpoints go first: remove it, or set {} with a sleep of {sleep}",
            sleep.saturating_add(drain)
        );
        let path = template.template.spec_path();
        findings.push(RULE.at(path.key("terminationGracePeriodSeconds"), message));
    }
    findings
}
