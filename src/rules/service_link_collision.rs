//! A Service's name yields a variable that the server reads as its own setting.

use serde_json::Value;

use super::rule::{Rule, Scope};
use super::{Case, case};
use crate::facts::Origin;
use crate::words::{Finding, Severity, clip};

pub(super) static RULE: Rule = Rule {
    id: "service-link-collision",
    severity: Severity::Warn,
    summary: "a Service's name yields a variable that the server reads as its own",
    page: include_str!("../../docs/rules/service-link-collision.md"),
    scope: Scope::Judged,
    check,
};

fn check(case: &Case<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (template, container) in case.serving() {
        let path = template.template.spec_path().key("enableServiceLinks");
        let prefix = container
            .server()
            .and_then(|server| server.preset.env_prefix());
        let Some(prefix) = prefix else {
            continue;
        };
        // An explicit variable wins over a Service's (`makeEnvironmentVariables` in pkg/kubelet/kubelet_pods.go).
        let variable = format!("{prefix}PORT");
        let explicit = container
            .container
            .env
            .iter()
            .any(|(name, _)| *name == variable);
        let off = case.value(&path).and_then(Value::as_bool) == Some(false);
        if explicit || off {
            continue;
        }
        let label = container.container.label();
        let finding = match &case.facts.neighbours {
            Some(neighbours) => {
                let services = neighbours.services.get(&case.subject.namespace);
                let takes = |name: &&String| takes(name, prefix);
                let Some(name) = services.into_iter().flatten().find(takes) else {
                    continue;
                };
                let message = format!(
                    "enableServiceLinks lets Service {} set {variable} to a URL, which ends {label} at each start: set it to false",
                    clip(name, 63)
                );
                RULE.at(path, message)
            }
            None if case.facts.origin == Origin::Admission && !case.is_owned_pod() => {
                let message = format!(
                    "enableServiceLinks is on: a Service whose name becomes {variable} ends {label} at each start: set it to false"
                );
                case::with_severity(RULE.at(path, message), Severity::Note)
            }
            None => continue,
        };
        findings.push(Finding {
            container: Some(container.container.name.clone()),
            ..finding
        });
    }
    findings
}

/// Whether the variables of a Service, `NAME_PORT` first, begin with the whole prefix and nothing else.
fn takes(service: &str, prefix: &str) -> bool {
    let Some(name) = prefix.strip_suffix('_') else {
        return false;
    };
    let variable = |byte: u8| match byte {
        b'-' => b'_',
        byte => byte.to_ascii_uppercase(),
    };
    service.len() == name.len() && service.bytes().map(variable).eq(name.bytes())
}
