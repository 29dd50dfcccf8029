//! A probe's command waits longer than the probe lets it.

use super::Case;
use super::inner_timeout::inner_timeout;
use super::rule::{Rule, Scope};
use crate::subject::Handler;
use crate::words::{Finding, Severity};

pub(super) static RULE: Rule = Rule {
    id: "exec-probe-timeout-inner",
    severity: Severity::Warn,
    summary: "the command of an exec probe waits as long as the probe itself, or longer",
    page: include_str!("../../docs/rules/exec-probe-timeout-inner.md"),
    scope: Scope::Judged,
    check,
};

fn check(case: &Case<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (_, container, role, probe) in case.all_probes() {
        let Handler::Exec { command } = &probe.handler else {
            continue;
        };
        let Some(inner) = inner_timeout(command).filter(|inner| inner.seconds >= probe.timeout)
        else {
            continue;
        };
        let message = format!(
            "is cut off after {} s and counts as failed while its command may still wait, up to {} s ({}): set timeoutSeconds to {}",
            probe.timeout,
            inner.seconds,
            inner.option,
            inner.seconds.saturating_add(1)
        );
        let path = container.container.probe_path(role).key("timeoutSeconds");
        findings.push(Finding {
            path,
            ..RULE.about(container, &[role.field()], &message)
        });
    }
    findings
}
