//! An annotation asks for something else than the spec says, and the spec wins.

use super::Case;
use super::rule::{Rule, Scope};
use crate::annotations::{self, HandlerValue, Setting, StartupProbe};
use crate::intent::{ContainerIntent, TemplateIntent, fault};
use crate::plan;
use crate::subject::{Handler, Role};
use crate::words::{Finding, Seconds, Severity};

pub(super) static RULE: Rule = Rule {
    id: "annotation-overruled",
    severity: Severity::Warn,
    summary: "an annotation and the spec disagree, and the spec wins",
    page: include_str!("../../docs/rules/annotation-overruled.md"),
    scope: Scope::Judged,
    check,
};

fn check(case: &Case<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (template, container) in case.serving() {
        findings.extend(startup_probe(case, container));
        findings.extend(held_back(case, template, container));
        findings.extend(contradicted(case, template, container));
        findings.extend(prestop_sleep(case, template, container));
        findings.extend(drain_time(case, template, container));
    }
    findings
}

/// `startup-probe` beside another startup probe.
fn startup_probe(case: &Case<'_>, container: &ContainerIntent<'_>) -> Option<Finding> {
    let asked = container.startup_probe.as_ref()?;
    let standing = container.container.probe(Role::Startup)?;
    let path = container.container.probe_path(Role::Startup);
    if !asked.source.is_object() || case.plan.is_ours(&path) {
        return None;
    }
    let wanted = match &asked.value {
        StartupProbe::None => "none",
        StartupProbe::Handler(handler) if is_same(container, handler, &standing.handler) => {
            return None;
        }
        StartupProbe::Handler(_) => "another handler",
    };
    let message = format!(
        "stays, although {} asks for {wanted}: the spec wins, remove one of the two",
        annotations::STARTUP_PROBE
    );
    Some(RULE.about(container, &["startupProbe"], &message))
}

/// `startup-probe` where peers wait for Ready. The pods of a LeaderWorkerSet do not tell whether they do, so they get it.
fn held_back(
    case: &Case<'_>,
    template: &TemplateIntent<'_>,
    container: &ContainerIntent<'_>,
) -> Option<Finding> {
    let asked = container.startup_probe.as_ref()?;
    let wanted = asked.source.is_object() && asked.value != StartupProbe::None;
    let stands = container.container.raw_probe(Role::Startup).is_some();
    if template.ready_gate.is_none() || !wanted || stands {
        return None;
    }
    let key = annotations::STARTUP_PROBE;
    let message = if case.subject.workload.kind == "LeaderWorkerSet" {
        format!(
            "holds Ready back in the leader's pods, since {key} asks for it, and the workers are made only then: remove it if the model needs them to load"
        )
    } else {
        format!(
            "is not added, although {key} asks for it: it would hold Ready back, and peers wait for that: set startupProbe itself if that is meant"
        )
    };
    Some(RULE.about(container, &["startupProbe"], &message))
}

/// `startup-probe` that could never pass, as the spec stands.
fn contradicted(
    case: &Case<'_>,
    template: &TemplateIntent<'_>,
    container: &ContainerIntent<'_>,
) -> Option<Finding> {
    let asked = container.startup_probe.as_ref()?;
    let StartupProbe::Handler(handler) = &asked.value else {
        return None;
    };
    let path = container.container.probe_path(Role::Startup);
    let stands = container.container.raw_probe(Role::Startup).is_some();
    if template.ready_gate.is_some() || stands && !case.plan.is_ours(&path) {
        return None;
    }
    let fault = fault::contradiction(template, container, handler)?;
    let cure = match &fault {
        fault::Fault::PortNumber { .. } => "correct it, or declare both ports",
        _ => "correct it",
    };
    let message = format!(
        "is not made from {}, {}: the spec wins, {cure}",
        asked.source,
        fault.short()
    );
    Some(RULE.about(container, &["startupProbe"], &message))
}

/// Whether an annotation's handler is the one that stands there. What a mesh has rewritten is not compared.
fn is_same(container: &ContainerIntent<'_>, asked: &HandlerValue, standing: &Handler) -> bool {
    let resolve = |handler: &Handler| container.container.resolve_port(&handler.port()?);
    let asked = Handler::from(asked);
    let same_port = asked.port() == standing.port()
        || resolve(&asked).is_some() && resolve(&asked) == resolve(standing);
    match (&asked, standing) {
        (_, standing) if fault::rewritten(standing) => true,
        (
            Handler::Http { path, https, .. },
            Handler::Http {
                path: standing_path,
                https: standing_https,
                ..
            },
        ) => same_port && path == standing_path && https == standing_https,
        (Handler::Tcp { .. }, Handler::Tcp { .. }) => same_port,
        (asked, standing) => asked == standing,
    }
}

/// `prestop-sleep` beside another hook, or a grace period that was kept short.
fn prestop_sleep(
    case: &Case<'_>,
    template: &TemplateIntent<'_>,
    container: &ContainerIntent<'_>,
) -> Option<Finding> {
    let asked = container
        .prestop_sleep
        .as_ref()
        .filter(|asked| asked.source.is_object())?;
    let wanted = match asked.value {
        Setting::Off => "none".to_owned(),
        Setting::For(seconds) => format!("{seconds} of sleep"),
    };
    let key = annotations::PRESTOP_SLEEP;
    let hook = ["lifecycle", "preStop"];
    if let Some(standing) = &container.container.pre_stop {
        let is_same = match asked.value {
            Setting::Off => false,
            Setting::For(seconds) => standing.literal() == Some(seconds.0),
        };
        let ours = case.plan.is_ours(&container.container.path.keys(&hook));
        let message = format!(
            "stays, although {key} asks for {wanted}: the spec wins, remove one of the two"
        );
        return (!is_same && !ours).then(|| RULE.about(container, &hook, &message));
    }
    let grace = template.template.grace()?;
    if asked.value == Setting::Off || !(0..plan::DEFAULT_GRACE).contains(&grace) {
        return None;
    }
    let message = format!(
        "stays absent in a grace period of {grace} s, although {key} asks for {wanted}: remove terminationGracePeriodSeconds or the annotation"
    );
    Some(RULE.about(container, &hook, &message))
}

/// `drain-time` beside a grace period of the owner that is too short for it.
fn drain_time(
    case: &Case<'_>,
    template: &TemplateIntent<'_>,
    container: &ContainerIntent<'_>,
) -> Option<Finding> {
    let asked = container
        .drain_time
        .as_ref()
        .filter(|asked| asked.source.is_object())?;
    let Setting::For(Seconds(drain)) = asked.value else {
        return None;
    };
    let grace = template.template.grace()?;
    let path = template
        .template
        .spec_path()
        .key("terminationGracePeriodSeconds");
    if grace == plan::DEFAULT_GRACE || case.plan.writes(&path) || case.plan.is_ours(&path) {
        return None;
    }
    let hook = container
        .container
        .pre_stop
        .as_ref()
        .map(|hook| hook.at_least().unwrap_or(0));
    let needed = hook.or_else(|| injected(case, container)).unwrap_or(0) + drain;
    if grace >= needed {
        return None;
    }
    let message = format!(
        "terminationGracePeriodSeconds stays {grace}, although {} asks for {drain} s: the spec wins, set it to {needed} or remove it",
        annotations::DRAIN_TIME
    );
    Some(Finding {
        container: Some(container.container.name.clone()),
        ..RULE.at(path, message)
    })
}

/// The sleep that the container is about to get.
fn injected(case: &Case<'_>, container: &ContainerIntent<'_>) -> Option<i64> {
    let path = container.container.path.keys(&["lifecycle", "preStop"]);
    let edit = case.plan.edits.iter().find(|edit| edit.path == path)?;
    edit.value.as_ref()?.pointer("/sleep/seconds")?.as_i64()
}
