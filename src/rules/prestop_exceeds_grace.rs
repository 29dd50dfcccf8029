//! A preStop hook takes the whole grace period, so SIGKILL comes before SIGTERM has done its work.

use super::Case;
use super::rule::{Rule, Scope};
use crate::intent::{ContainerIntent, TemplateIntent};
use crate::kubelet::MINIMUM_GRACE;
use crate::plan::{self, Why};
use crate::words::{Finding, Severity};

pub(super) static RULE: Rule = Rule {
    id: "prestop-exceeds-grace",
    severity: Severity::Warn,
    summary: "a preStop hook takes the whole grace period, or a sleep does not fit into it",
    page: include_str!("../../docs/rules/prestop-exceeds-grace.md"),
    scope: Scope::Judged,
    check,
};

fn check(case: &Case<'_>) -> Vec<Finding> {
    let standing = case
        .serving()
        .filter_map(|(template, container)| of_the_owner(case, template, container));
    let withheld = case.plan.withheld.iter().filter_map(|withheld| {
        let Why::ExceedsGrace(sleep, grace) = withheld.why else {
            return None;
        };
        let (_, container) = case.container_at(&withheld.path)?;
        let needed = plan::grace_for(sleep, plan::drain(case.facts, container).0);
        let message = format!(
            "gets no sleep, {sleep} s do not fit into the grace period of {grace} s: set terminationGracePeriodSeconds to {needed}"
        );
        Some(RULE.about(container, &["lifecycle", "preStop"], &message))
    });
    standing.chain(withheld).collect()
}

/// The owner's own hook, where its length can be read off.
fn of_the_owner(
    case: &Case<'_>,
    template: &TemplateIntent<'_>,
    container: &ContainerIntent<'_>,
) -> Option<Finding> {
    let hook = container.container.pre_stop.as_ref()?.literal()?;
    let grace = template.template.grace().unwrap_or(plan::DEFAULT_GRACE);
    if hook < grace {
        return None;
    }
    let needed = plan::grace_for(hook, plan::drain(case.facts, container).0);
    let message = format!(
        "takes {hook} s of a grace period of {grace} s, SIGKILL follows SIGTERM after {MINIMUM_GRACE} s: set terminationGracePeriodSeconds to {needed}"
    );
    Some(RULE.about(container, &["lifecycle", "preStop"], &message))
}
