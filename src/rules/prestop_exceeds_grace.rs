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

/// The owner's own hook, where it can be read off how long it takes, or how long at least.
fn of_the_owner(
    case: &Case<'_>,
    template: &TemplateIntent<'_>,
    container: &ContainerIntent<'_>,
) -> Option<Finding> {
    let standing = container.container.pre_stop.as_ref()?;
    let grace = template.template.grace().unwrap_or(plan::DEFAULT_GRACE);
    if standing.is_endless() {
        let message = format!(
            "never ends by itself, the grace period of {grace} s cuts it off and SIGKILL follows SIGTERM after {MINIMUM_GRACE} s: let it end sooner"
        );
        return Some(RULE.about(container, &["lifecycle", "preStop"], &message));
    }
    let hook = standing.at_least().filter(|hook| *hook >= grace)?;
    let or_more = if standing.literal().is_none() {
        " or more"
    } else {
        ""
    };
    let needed = plan::grace_for(hook, plan::drain(case.facts, container).0);
    let message = format!(
        "takes {hook} s{or_more} of a grace period of {grace} s, SIGKILL follows SIGTERM after {MINIMUM_GRACE} s: set terminationGracePeriodSeconds to {needed}"
    );
    Some(RULE.about(container, &["lifecycle", "preStop"], &message))
}
