//! A preStop hook needs a program that the image does not have, or may not have.

use super::Case;
use super::rule::{Rule, Scope};
use crate::intent::fault::{self, Fault};
use crate::intent::{ContainerIntent, TemplateIntent};
use crate::plan::Why;
use crate::subject::{Handler, Hook};
use crate::words::{Finding, Severity};

pub(super) static RULE: Rule = Rule {
    id: "prestop-needs-shell",
    severity: Severity::Warn,
    summary: "a preStop hook needs a shell or a sleep that the image lacks",
    page: include_str!("../../docs/rules/prestop-needs-shell.md"),
    scope: Scope::Judged,
    check,
};

fn check(case: &Case<'_>) -> Vec<Finding> {
    let standing = case
        .serving()
        .filter_map(|(template, container)| missing(template, container));
    let withheld = case.plan.withheld.iter().filter_map(|withheld| {
        let (_, container) = case.container_at(&withheld.path)?;
        let message = "gets no sleep: API servers before 1.30 have no sleep action, and whether the image has a sleep is not known: add a hook that it can run";
        (withheld.why == Why::NoSleep)
            .then(|| RULE.about(container, &["lifecycle", "preStop"], message))
    });
    standing.chain(withheld).collect()
}

/// The owner's command, where the image is known not to have its program.
fn missing(template: &TemplateIntent<'_>, container: &ContainerIntent<'_>) -> Option<Finding> {
    let Hook::Exec { command, .. } = container.container.pre_stop.as_ref()? else {
        return None;
    };
    let handler = Handler::Exec {
        command: command.clone(),
    };
    let faults = fault::faults(template, container, &handler);
    let fault = faults
        .iter()
        .find(|fault| matches!(fault, Fault::Binary { .. }))?;
    let message = format!(
        "fails and SIGTERM comes after 0 s, {}: use the native sleep action",
        fault.short()
    );
    Some(RULE.about(container, &["lifecycle", "preStop"], &message))
}
