//! The liveness probe asks what goes false in normal work.

use super::Case;
use super::rule::{Rule, Scope};
use crate::intent::{ContainerIntent, fault};
use crate::knowledge::PresetHandler;
use crate::kubelet::bounds;
use crate::subject::{Handler, Role};
use crate::words::{Finding, Severity, clip};

pub(super) static RULE: Rule = Rule {
    id: "liveness-is-readiness",
    severity: Severity::Warn,
    summary: "the liveness probe asks a path that goes false in normal work",
    page: include_str!("../../docs/rules/liveness-is-readiness.md"),
    scope: Scope::Judged,
    check,
};

fn check(case: &Case<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (template, container, probe) in case.probes(Role::Liveness) {
        let Handler::Http { path, .. } = &probe.handler else {
            continue;
        };
        let (why, cure) = if let Some(query) = fault::busy_query(container, path) {
            (
                format!("answers 503 while all slots are busy ({})", clip(query, 40)),
                "leave the query out".to_owned(),
            )
        } else if let Some(why) = fault::known_path(template, container, &probe.handler)
            .and_then(|row| row.unstable.as_deref())
        {
            (
                format!("{} {}", super::shown(path), clip(why, 60)),
                cure(container),
            )
        } else {
            continue;
        };
        let message = format!(
            "restarts a server that works, {} to {} s after its path {why}: {cure}",
            bounds::outage_survived(probe),
            bounds::outage_fatal(probe)
        );
        findings.push(RULE.about(container, &["livenessProbe", "httpGet"], &message));
    }
    findings
}

fn cure(container: &ContainerIntent<'_>) -> String {
    match container
        .server()
        .and_then(|server| server.liveness.as_ref())
    {
        Some(PresetHandler::Http(path)) => format!("ask {path}"),
        _ => "ask a path that is false only when a restart helps".to_owned(),
    }
}
