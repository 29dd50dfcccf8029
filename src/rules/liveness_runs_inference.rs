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

/// How the paths of the usual APIs end that run the model, as a command posts to them; the longer ones first.
const INFERENCE: [&str; 16] = [
    "/api/chat",
    "/api/embed",
    "/api/generate",
    "/v1/chat/completions",
    "/v1/completions",
    "/v1/embeddings",
    "/v1/messages",
    "/v1/responses",
    "/completion",
    "/embed",
    "/generate",
    "/generate_stream",
    "/infer",
    "/invocations",
    "/rerank",
    GENERATES,
];

/// The command that loads a model and asks it.
const ASKS: &str = "ollama run";

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
            let asks = || command.join(" ").contains(ASKS).then_some(ASKS);
            posted.or_else(asks).map(str::to_owned)
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

/// Whether a word of a command holds a URL with that path, and not a longer one. What stands before the path tells a URL from
/// the name of a file.
fn names(word: &str, path: &str) -> bool {
    word.match_indices(path).any(|(at, _)| {
        let begins = word[..at].rfind(|c: char| c.is_whitespace() || matches!(c, '"' | '\''));
        let address = word[..at].get(begins.map_or(0, |before| before + 1)..);
        let is_address = address.is_some_and(|address| {
            !address.is_empty() && (address.contains([':', '$']) || address.contains("localhost"))
        });
        let after = word[at + path.len()..].chars().next();
        is_address
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
