//! Why: what is ours and what is not, every value with its source, and what each probe may do.

use std::fmt::Display;

use serde_json::Value;

use super::style::{BAD, FAINT, GOOD, TITLE, paint, severity};
use super::{Entry, brief, pods, simulate};
use crate::annotations::{Setting, StartupProbe};
use crate::facts::Facts;
use crate::intent::{self, ContainerIntent, Intent, Service, Sourced, TemplateIntent};
use crate::knowledge::{Bind, Group, Known, Server};
use crate::kubelet::bounds::{self, Verdict};
use crate::rules;
use crate::subject::{Handler, Place, Port, Probe, Role, Subject};
use crate::words::Seconds;

/// Everything that is known of an object, as text.
///
/// `object` is what the entry was made from; `load` is how long the containers that load take in the simulation, else what
/// is declared, else [`DEFAULT_LOAD`](pods::DEFAULT_LOAD).
pub fn explain(entry: &Entry, object: &Value, facts: &Facts, load: Option<Seconds>) -> String {
    let mut page = Page::default();
    let outcome = entry.decision.outcome.word();
    let title = paint(TITLE, &entry.title());
    page.line(
        0,
        format!("{title} ({}:{}): {outcome}", entry.file, entry.line),
    );
    if let Some(why) = entry.not_checked() {
        page.line(1, why);
        return page.0;
    }
    let namespace = entry.namespace.as_deref().unwrap_or_default();
    let Ok(subject) = Subject::read(object, namespace, &facts.knowledge) else {
        return page.0;
    };
    let intent = intent::resolve(&subject, facts, rules::ids());
    whole(&mut page, entry, &subject, &intent);
    for template in &intent.templates {
        of_template(&mut page, template, facts, load);
    }
    findings(&mut page, entry);
    fix(&mut page, entry);
    timelines(&mut page, entry, object, namespace, facts, load);
    page.0
}

/// Text as it grows, a line at a time.
#[derive(Default)]
struct Page(String);

impl Page {
    fn line(&mut self, depth: usize, text: impl Display) {
        self.0.push_str(&"  ".repeat(depth));
        self.0.push_str(&format!("{text}\n"));
    }

    fn heading(&mut self, text: &str) {
        self.0.push('\n');
        self.line(1, paint(TITLE, text));
    }

    /// A value with its source.
    fn value(&mut self, depth: usize, name: &str, value: impl Display, source: impl Display) {
        let source = paint(FAINT, &format!("from {source}"));
        self.line(depth, format!("{name:<16} {value}  {source}"));
    }
}

fn whole(page: &mut Page, entry: &Entry, subject: &Subject<'_>, intent: &Intent<'_>) {
    if let Some(skip) = entry.skip().or(intent.skip.as_ref()) {
        let reason = skip.reason.word();
        page.line(
            1,
            format!("neither edited nor judged: {} [{reason}]", skip.detail),
        );
    }
    if let Some(owner) = &subject.controller {
        page.line(
            1,
            format!("owned by {} {}: never refused", owner.kind, owner.name),
        );
    }
    if intent.stepped_down {
        page.line(1, format!("steps down to mode {}", intent.mode.word()));
    }
    if let Some(rollout) = &intent.rollout {
        page.value(1, "rollout", "no-surge", &rollout.source);
    }
}

fn of_template(
    page: &mut Page,
    template: &TemplateIntent<'_>,
    facts: &Facts,
    load: Option<Seconds>,
) {
    let path = template.template.path.to_string();
    let place = if path.is_empty() { "pod" } else { &path };
    match (&template.ours, &template.skip) {
        (Some(ours), None) => page.line(1, format!("{place} is ours: {ours}")),
        (Some(ours), Some(skip)) => {
            page.line(
                1,
                format!("{place} would be ours ({ours}), but {}", skip.detail),
            );
        }
        (None, _) => page.line(1, format!("{place} is not ours")),
    }
    let notes = [
        ("runs on spot capacity only", &template.spot),
        ("no startup probe is injected", &template.ready_gate),
        ("nothing is edited", &template.hands_off),
        ("no preset becomes a startup probe", &template.no_preset),
        ("no handler is copied", &template.no_copy),
    ];
    for (what, why) in notes {
        if let Some(why) = why {
            page.line(2, format!("{what}: {why}"));
        }
    }
    if template.mesh {
        page.line(2, "a mesh proxy captures its traffic");
    }
    for container in &template.containers {
        of_container(page, template, container, facts, load);
    }
}

fn of_container(
    page: &mut Page,
    template: &TemplateIntent<'_>,
    one: &ContainerIntent<'_>,
    facts: &Facts,
    load: Option<Seconds>,
) {
    let container = one.container;
    let service = match &one.service {
        Service::Bystander(why) => format!("does not serve: {why}"),
        Service::Follower(why) => format!("follows another pod: {why}"),
        Service::Serves(why) => format!("serves: {why}"),
        Service::Unknown => {
            "unknown: it holds an accelerator, has no probe and runs nothing known".to_owned()
        }
    };
    page.line(2, format!("{} {service}", paint(TITLE, &container.label())));
    if container.place == Place::Init {
        return;
    }
    if one.serves() && template.skip.is_none() {
        wanted(page, one, facts);
    }
    if let Some(server) = one.server() {
        known(page, server);
    }
    let load = load.or(one.declared.as_ref().map(|declared| declared.value));
    for role in Role::ALL {
        if let Some(probe) = container.probe(role) {
            of_probe(page, template, one, role, probe, load);
        }
    }
    if let Some(hook) = &container.pre_stop {
        page.value(
            3,
            "preStop",
            pods::hook(hook),
            container.path.keys(&["lifecycle", "preStop"]),
        );
    }
}

/// What the owner wants, or what holds because he says nothing.
fn wanted(page: &mut Page, one: &ContainerIntent<'_>, facts: &Facts) {
    let defaults = &facts.config.defaults;
    match (&one.declared, one.measured) {
        (Some(declared), _) => page.value(3, "start time", declared.value, &declared.source),
        (None, Some(measured)) => {
            page.value(3, "start time", measured, "the longest start measured")
        }
        (None, None) => page.value(
            3,
            "start time",
            format!("not declared, so a window of {} s", defaults.startup_window),
            "default",
        ),
    }
    if let Some(probe) = &one.startup_probe {
        let value = match &probe.value {
            StartupProbe::Handler(handler) => brief(&handler.to_json()),
            StartupProbe::None => "none".to_owned(),
        };
        page.value(3, "startup probe", value, &probe.source);
    }
    let settings = [
        ("probe timeout", &one.probe_timeout, defaults.probe_timeout),
        ("preStop sleep", &one.prestop_sleep, defaults.prestop_sleep),
    ];
    for (name, asked, default) in settings {
        setting(
            page,
            name,
            asked.as_ref(),
            Known {
                value: default,
                source: "default".to_owned(),
            },
        );
    }
    let server = one.server().and_then(|server| server.drain.clone());
    let default = Known {
        value: defaults.drain_time,
        source: "default".to_owned(),
    };
    setting(
        page,
        "drain",
        one.drain_time.as_ref(),
        server.unwrap_or(default),
    );
}

fn setting(page: &mut Page, name: &str, asked: Option<&Sourced<Setting>>, otherwise: Known<i64>) {
    match asked {
        Some(asked) => {
            let value = match asked.value {
                Setting::Off => "none".to_owned(),
                Setting::For(seconds) => seconds.to_string(),
            };
            page.value(3, name, value, &asked.source);
        }
        None => page.value(3, name, Seconds(otherwise.value), otherwise.source),
    }
}

/// What is known of the server that a container runs.
fn known(page: &mut Page, server: &Server<'_>) {
    match &server.port {
        Some(port) => page.value(3, "port", port.value, &port.source),
        None => page.line(3, "port             cannot be told"),
    }
    match &server.https {
        Some(https) => {
            let scheme = if https.value { "https" } else { "http" };
            page.value(3, "scheme", scheme, &https.source);
        }
        None => page.line(3, "scheme           cannot be told"),
    }
    let bind = match server.bind.value {
        Bind::Everywhere => "every address",
        Bind::Loopback => "the loopback address only",
        Bind::Unknown => "cannot be told",
    };
    page.value(3, "listens on", bind, &server.bind.source);
    if let Some(model) = &server.model {
        let fetched = if server.fetches_model {
            ", fetched at the start"
        } else {
            ""
        };
        page.value(
            3,
            "model",
            format!("{}{fetched}", model.value),
            &model.source,
        );
    }
    if let Some(limit) = &server.start_limit {
        page.value(3, "own start limit", Seconds(limit.value), &limit.source);
    }
    match &server.group {
        Group::Alone => {}
        Group::Member(why) => page.line(3, format!("group            one of several pods: {why}")),
        Group::RankAtRunTime(why) => {
            page.line(
                3,
                format!("group            its rank is told at run time: {why}"),
            );
        }
    }
}

/// A probe, and the seconds within which it can kill.
fn of_probe(
    page: &mut Page,
    template: &TemplateIntent<'_>,
    one: &ContainerIntent<'_>,
    role: Role,
    probe: &Probe,
    load: Option<Seconds>,
) {
    let source = one.container.probe_path(role);
    page.value(3, role.field(), described(probe), source);
    for fault in intent::fault::faults(template, one, &probe.handler) {
        page.line(4, paint(BAD, &fault.short()));
    }
    let started = one.container.probe(Role::Startup).is_some();
    match role {
        Role::Readiness => page.line(4, "never kills; not ready until it passes"),
        Role::Liveness if started => page.line(
            4,
            format!(
                "held off until the startup probe has passed; then an outage of {} s never kills, one of {} s always",
                bounds::outage_survived(probe),
                bounds::hang_fatal(probe)
            ),
        ),
        Role::Liveness | Role::Startup => page.line(4, window(probe, load)),
    }
}

fn window(probe: &Probe, load: Option<Seconds>) -> String {
    let kills = format!(
        "kills a server that has not answered: {} s after each start at the earliest, {} s at the latest",
        bounds::guaranteed_window(probe),
        bounds::latest_kill(probe)
    );
    let Some(load) = load else {
        return kills;
    };
    let verdict = match bounds::verdict(probe, load.0) {
        Verdict::Depends => paint(
            BAD,
            &format!("a start of {load} lives or dies by the phase"),
        ),
        Verdict::Dies => paint(BAD, &format!("a start of {load} dies in every phase")),
        Verdict::Survives => paint(GOOD, &format!("a start of {load} lives in every phase")),
    };
    format!("{kills}; {verdict}")
}

/// A probe on one line.
fn described(probe: &Probe) -> String {
    let grace = probe
        .termination_grace
        .map(|grace| format!(", grace {grace}"))
        .unwrap_or_default();
    format!(
        "{}, delay {}, period {}, timeout {}, failures {}{grace}",
        handler(&probe.handler),
        probe.initial_delay,
        probe.period,
        probe.timeout,
        probe.failure_threshold
    )
}

fn handler(handler: &Handler) -> String {
    let port = |port: &Port| match port {
        Port::Name(name) => name.clone(),
        Port::Number(number) => number.to_string(),
    };
    match handler {
        Handler::Exec { command } => format!("exec {}", command.join(" ")),
        Handler::Grpc { port, service } => format!("grpc :{port}/{service}"),
        Handler::Http {
            host,
            path,
            port: asked,
            https,
            ..
        } => format!(
            "{}://{}:{}{path}",
            if *https { "https" } else { "http" },
            host.as_deref().unwrap_or_default(),
            port(asked)
        ),
        Handler::Tcp { host, port: asked } => {
            format!(
                "tcp://{}:{}",
                host.as_deref().unwrap_or_default(),
                port(asked)
            )
        }
    }
}

fn findings(page: &mut Page, entry: &Entry) {
    if entry.decision.findings.is_empty() {
        return;
    }
    page.heading("findings");
    for (finding, (line, _)) in entry.decision.findings.iter().zip(&entry.places) {
        let word = paint(severity(finding.severity), finding.severity.word());
        page.line(2, format!("line {line} {word}: {}", finding.line()));
    }
}

fn fix(page: &mut Page, entry: &Entry) {
    let decision = &entry.decision;
    if decision.patch.0.is_empty() && decision.withheld.is_empty() && decision.left_alone.is_none()
    {
        return;
    }
    page.heading("fix");
    if let Some(why) = decision.left_alone {
        page.line(2, format!("leaves it alone: {why}"));
    }
    for edit in &decision.edits {
        page.line(2, paint(GOOD, &super::edit(edit)));
    }
    for withheld in &decision.withheld {
        let why = super::brief::why(&withheld.why);
        page.line(2, format!("not done: {}: {why}", withheld.path));
    }
}

fn timelines(
    page: &mut Page,
    entry: &Entry,
    object: &Value,
    namespace: &str,
    facts: &Facts,
    load: Option<Seconds>,
) {
    let mut mended = object.clone();
    let patched = !entry.decision.patch.0.is_empty()
        && json_patch::patch(&mut mended, &entry.decision.patch).is_ok();
    page.heading(if patched {
        "timeline before the fix"
    } else {
        "timeline"
    });
    for simulated in simulate(object, namespace, facts, load) {
        page.0.push_str(&indented(&simulated.text()));
    }
    if patched {
        page.heading("timeline after the fix");
        for simulated in simulate(&mended, namespace, facts, load) {
            page.0.push_str(&indented(&simulated.text()));
        }
    }
}

fn indented(text: &str) -> String {
    text.lines().map(|line| format!("  {line}\n")).collect()
}
