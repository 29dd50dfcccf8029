//! The startup probe passes before the model is loaded.

use super::Case;
use super::rule::{Rule, Scope};
use crate::intent::{ContainerIntent, fault};
use crate::knowledge::PresetHandler;
use crate::subject::{Handler, Role};
use crate::words::{Finding, Severity};

pub(super) static RULE: Rule = Rule {
    id: "startup-passes-too-early",
    severity: Severity::Warn,
    summary: "the startup probe passes before the model is loaded, so it holds nothing off",
    page: include_str!("../../docs/rules/startup-passes-too-early.md"),
    scope: Scope::Judged,
    check,
};

fn check(case: &Case<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (template, container, probe) in case.probes(Role::Startup) {
        if !fault::passes_early(template, container, &probe.handler) {
            continue;
        }
        let when = if fault::waits_for_weights(container, &probe.handler) {
            format!(
                "passes within {} s of when the weights are in",
                probe.period
            )
        } else {
            let first = probe.initial_delay.saturating_add(probe.period);
            format!("passes within {first} s of the start")
        };
        let message = format!(
            "{when}: {}: {}",
            why(container, &probe.handler),
            cure(container)
        );
        findings.push(RULE.about(container, &["startupProbe"], &message));
    }
    findings
}

/// Why the handler passes so early.
fn why(container: &ContainerIntent<'_>, handler: &Handler) -> String {
    let does = match handler {
        Handler::Http { path, .. } => format!("answers 200 on {}", super::shown(path)),
        Handler::Tcp { .. } => "takes connections".to_owned(),
        Handler::Exec { .. } | Handler::Grpc { .. } => {
            return "its command passes whatever the server does".to_owned();
        }
    };
    let title = container
        .server()
        .map_or("the server", |server| server.preset.title());
    if fault::waits_for_weights(container, handler) {
        return format!("{title} {does} before it has warmed up");
    }
    format!("{title} {does} before the model is loaded")
}

fn cure(container: &ContainerIntent<'_>) -> String {
    match container
        .server()
        .and_then(|server| server.startup.as_ref())
    {
        Some(PresetHandler::Http(path)) => format!("ask {path}"),
        _ => "use an exec probe that fails until the model answers".to_owned(),
    }
}
