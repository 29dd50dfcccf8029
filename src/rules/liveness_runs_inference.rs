//! The liveness probe runs the model, so a full queue looks like death.

use super::Case;
use super::rule::{Rule, Scope};
use crate::intent::{ContainerIntent, TemplateIntent, fault};
use crate::knowledge::PresetHandler;
use crate::kubelet::bounds;
use crate::subject::{Handler, Role};
use crate::words::{Finding, Severity};

pub(super) static RULE: Rule = Rule {
    id: "liveness-runs-inference",
    severity: Severity::Warn,
    summary: "the liveness probe runs the model, so a full queue looks like death",
    page: include_str!("../../docs/rules/liveness-runs-inference.md"),
    scope: Scope::Judged,
    check,
};

/// SGLang's path that generates a token; it is called so by nobody else.
const GENERATES: &str = "/health_generate";

/// Paths of the usual APIs that run the model, as a command posts to them.
const INFERENCE: [&str; 7] = [
    "/api/chat",
    "/api/generate",
    "/generate",
    "/v1/chat/completions",
    "/v1/completions",
    "/v1/embeddings",
    GENERATES,
];

fn check(case: &Case<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (template, container, probe) in case.probes(Role::Liveness) {
        let Some(path) = inference(template, container, &probe.handler) else {
            continue;
        };
        let (from, to) = (bounds::hang_survived(probe), bounds::hang_fatal(probe));
        let message = format!(
            "runs the model ({path}), so a full queue of {from} to {to} s restarts a server that works: {}",
            cure(container)
        );
        findings.push(RULE.about(container, &["livenessProbe"], &message));
    }
    findings
}

/// The path that runs the model, if the handler asks one.
fn inference(
    template: &TemplateIntent<'_>,
    container: &ContainerIntent<'_>,
    handler: &Handler,
) -> Option<String> {
    match handler {
        Handler::Exec { command } => {
            let posted = INFERENCE
                .into_iter()
                .find(|path| command.iter().any(|word| names(word, path)));
            posted.map(str::to_owned)
        }
        Handler::Http { path, .. } => {
            let known = fault::known_path(template, container, handler);
            let bare = path.split('?').next().unwrap_or(path);
            let runs = known.is_some_and(|row| row.inference) || bare == GENERATES;
            runs.then(|| super::shown(bare))
        }
        Handler::Grpc { .. } | Handler::Tcp { .. } => None,
    }
}

/// Whether a word of a command holds a URL with that path, and not a longer one.
fn names(word: &str, path: &str) -> bool {
    word.match_indices(path).any(|(at, _)| {
        let before = word[..at].chars().next_back();
        let after = word[at + path.len()..].chars().next();
        before.is_some_and(|c| c.is_ascii_alphanumeric() || c == ']')
            && !after.is_some_and(|c| c.is_ascii_alphanumeric() || matches!(c, '/' | '_' | '-'))
    })
}

fn cure(container: &ContainerIntent<'_>) -> String {
    match container
        .server()
        .and_then(|server| server.liveness.as_ref())
    {
        Some(PresetHandler::Http(path)) => format!("ask {path}"),
        _ => "ask a path that answers without the model".to_owned(),
    }
}
