//! The startup probe passes before the model is loaded.

use super::Case;
use super::rule::{Rule, Scope};
use crate::intent::{ContainerIntent, TemplateIntent, fault};
use crate::knowledge::{PresetHandler, Server, WhileLoading};
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
        let Some(server) = container.server() else {
            continue;
        };
        let Some(what) = early(template, container, server, &probe.handler) else {
            continue;
        };
        let message = format!(
            "passes within {} s of the start: {} {what} before the model is loaded: {}",
            probe.initial_delay.saturating_add(probe.period),
            server.preset.title(),
            cure(server)
        );
        findings.push(RULE.about(container, &["startupProbe"], &message));
    }
    findings
}

/// What the server does too early for the handler.
fn early(
    template: &TemplateIntent<'_>,
    container: &ContainerIntent<'_>,
    server: &Server<'_>,
    handler: &Handler,
) -> Option<String> {
    match handler {
        Handler::Http { path, .. } => {
            let row = fault::known_path(template, container, handler)?;
            (row.loading == WhileLoading::Early)
                .then(|| format!("answers 200 on {}", super::shown(path)))
        }
        Handler::Tcp { .. } => {
            let known = server.port.is_some() && fault::asks(template, container, server, handler);
            (known && server.preset.listens_early()).then(|| "takes connections".to_owned())
        }
        Handler::Exec { .. } | Handler::Grpc { .. } => None,
    }
}

fn cure(server: &Server<'_>) -> String {
    match &server.startup {
        Some(PresetHandler::Http(path)) => format!("ask {path}"),
        _ => "use an exec probe that fails until the model answers".to_owned(),
    }
}
