//! A mesh proxy leaves before the server has ended its last requests.

use super::Case;
use super::rule::{Rule, Scope};
use crate::annotations::Setting;
use crate::intent::{ContainerIntent, TemplateIntent};
use crate::knowledge::EnvValue;
use crate::subject::{Hook, Place};
use crate::words::{Finding, Seconds, Severity};

pub(super) static RULE: Rule = Rule {
    id: "proxy-ends-first",
    severity: Severity::Warn,
    summary: "a mesh proxy leaves before the server has ended its last requests",
    page: include_str!("../../docs/rules/proxy-ends-first.md"),
    scope: Scope::Judged,
    check,
};

/// The container that Istio injects.
const PROXY: &str = "istio-proxy";

/// Seconds that Istio's proxy drains after SIGTERM, unless it is told otherwise (`terminationDrainDuration` in
/// istio/api mesh/v1alpha1/proxy.proto).
const DEFAULT_DRAIN: i64 = 5;

fn check(case: &Case<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for template in case.templates() {
        let proxy = template
            .containers
            .iter()
            .find(|one| one.container.name == PROXY && one.container.place == Place::Regular);
        let Some((proxy, leaves)) = proxy.and_then(|proxy| Some((proxy, stays(template, proxy)?)))
        else {
            continue;
        };
        let longest = template
            .serving()
            .map(|one| (one, known_end(one)))
            .max_by_key(|(_, end)| *end);
        let Some((server, end)) = longest.filter(|(_, end)| *end > leaves) else {
            continue;
        };
        let message = format!(
            "leaves {leaves} s after the pod is told to end, {} takes up to {end} s: set terminationDrainDuration to {end}s in proxy.istio.io/config",
            server.container.label()
        );
        findings.push(RULE.about(proxy, &[], &message));
    }
    findings
}

/// Seconds until a server has ended, as far as they are known: its hook's and those that it drains.
fn known_end(container: &ContainerIntent<'_>) -> i64 {
    let hook = container
        .container
        .pre_stop
        .as_ref()
        .and_then(Hook::literal);
    let drain = match container.drain_time.as_ref().map(|asked| asked.value) {
        Some(Setting::For(seconds)) => Some(seconds.0),
        Some(Setting::Off) => None,
        None => container
            .server()
            .and_then(|server| server.drain.as_ref())
            .map(|drain| drain.value),
    };
    hook.unwrap_or(0).saturating_add(drain.unwrap_or(0))
}

/// Seconds until the proxy leaves; `None` where that cannot be read off.
fn stays(template: &TemplateIntent<'_>, proxy: &ContainerIntent<'_>) -> Option<i64> {
    let env = |name: &str| {
        let mut env = proxy.container.env.iter();
        env.find_map(|(key, value)| (key == name).then_some(value))
    };
    let config = match env("PROXY_CONFIG") {
        None => "",
        Some(EnvValue::Literal(config)) => config.as_str(),
        Some(EnvValue::Elsewhere) => return None,
    };
    let annotation = template
        .template
        .annotation("proxy.istio.io/config")
        .unwrap_or_default();
    let waits = "EXIT_ON_ZERO_ACTIVE_CONNECTIONS";
    let old = "TERMINATION_DRAIN_DURATION_SECONDS";
    if env(waits).is_some() || [annotation, config].iter().any(|text| text.contains(waits)) {
        return None;
    }
    let hook = match &proxy.container.pre_stop {
        None => 0,
        Some(hook) => hook.literal()?,
    };
    let told = match (told(annotation), told(config), env(old)) {
        (Some(drain), _, _) | (None, Some(drain), _) => drain?,
        (None, None, None) => DEFAULT_DRAIN,
        (None, None, Some(EnvValue::Literal(seconds))) => seconds.parse().ok()?,
        (None, None, Some(EnvValue::Elsewhere)) => return None,
    };
    Some(told.saturating_add(hook))
}

/// The drain that a proxy's configuration (YAML or JSON) tells; inside `None` where it does not read.
fn told(config: &str) -> Option<Option<i64>> {
    let (_, rest) = config.split_once("terminationDrainDuration")?;
    let value = rest.trim_start_matches(['"', '\'', ':', ' ']);
    let end = value.find(|c: char| !c.is_ascii_alphanumeric());
    let value = &value[..end.unwrap_or(value.len())];
    Some(Seconds::parse(value).ok().map(|seconds| seconds.0))
}
