//! A busy server does not answer in the second that a probe waits by default.

use super::Case;
use super::rule::{Rule, Scope};
use crate::kubelet::bounds;
use crate::subject::{Probe, Role};
use crate::words::{FieldPath, Finding, Severity};

pub(super) static RULE: Rule = Rule {
    id: "short-probe-timeout",
    severity: Severity::Warn,
    summary: "a liveness or readiness probe waits one second, a busy server answers later",
    page: include_str!("../../docs/rules/short-probe-timeout.md"),
    scope: Scope::Judged,
    check,
};

/// What the API server fills in; a server that loads or works answers later.
const DEFAULT_TIMEOUT: i64 = 1;

fn check(case: &Case<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (_, container, role, probe) in case.all_probes() {
        if role == Role::Startup || probe.timeout != DEFAULT_TIMEOUT {
            continue;
        }
        let (from, to) = (bounds::hang_survived(probe), bounds::hang_fatal(probe));
        let what = match role {
            Role::Readiness => "takes a server out of its Services",
            _ => "restarts a server",
        };
        let path = container.container.probe_path(role).key("timeoutSeconds");
        let message = format!(
            "{what} that answers later than {DEFAULT_TIMEOUT} s for {from} to {to} s: {}",
            cure(case, probe, &path)
        );
        findings.push(Finding {
            path,
            ..RULE.about(container, &[role.field()], &message)
        });
    }
    findings
}

/// What a fix writes; what it would write, where it writes nothing.
fn cure(case: &Case<'_>, probe: &Probe, path: &FieldPath) -> String {
    let planned = case.plan.edits.iter().find(|edit| edit.path == *path);
    if let Some(value) = planned.and_then(|edit| edit.value.as_ref()) {
        return format!("set timeoutSeconds to {value}");
    }
    let floor = case.facts.config.defaults.probe_timeout;
    if probe.period > DEFAULT_TIMEOUT {
        format!("set timeoutSeconds to {}", floor.min(probe.period))
    } else {
        format!("set periodSeconds and timeoutSeconds to {floor}")
    }
}
