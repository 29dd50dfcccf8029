//! What is known of one container: every value with its source, and the seconds within which its probes can kill.

use super::meets::Meets;
use super::page::Page;
use super::style::{BAD, GOOD, TITLE, paint};
use super::{brief, pods};
use crate::annotations::{Setting, StartupProbe};
use crate::facts::Facts;
use crate::intent::{self, ContainerIntent, Service, Sourced, TemplateIntent};
use crate::knowledge::{Bind, Group, Known, Server};
use crate::kubelet::bounds::{self, Verdict};
use crate::subject::{Handler, Place, Port, Probe, Role};
use crate::words::Seconds;

/// Tells of a container. `load` is how long it is taken to load; without it what is declared counts.
pub(super) fn of_container(
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
        Service::Unknown if template.accelerators.holds(&container.name) => {
            "unknown: it holds an accelerator, has no probe and runs nothing known".to_owned()
        }
        Service::Unknown => "unknown: it has no probe and runs nothing known".to_owned(),
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
    let declared = one.declared.as_ref().map(|declared| declared.value);
    let load = load.or(declared).filter(|_| one.serves());
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
        Group::Spread(why) => page.line(3, format!("group            of several devices: {why}")),
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
    let meets = Meets::of(template, one, probe);
    let does = match (role, meets) {
        (Role::Readiness, Meets::Errs | Meets::Never) => {
            "never passes, so the pod is never Ready".to_owned()
        }
        (Role::Readiness, _) => "never kills; not ready until it passes".to_owned(),
        (Role::Startup, Meets::Errs) => {
            "its errors count for nothing: it never kills, and the container never counts as started"
                .to_owned()
        }
        (Role::Liveness, Meets::Errs) => "its errors count for nothing: it never kills".to_owned(),
        (Role::Liveness | Role::Startup, Meets::Always) => {
            "passes whatever the server does: it never kills".to_owned()
        }
        (Role::Liveness, _) if started => format!(
            "held off until the startup probe has passed; then an outage of {} s never kills, one of {} s always",
            bounds::outage_survived(probe),
            bounds::hang_fatal(probe)
        ),
        (Role::Liveness | Role::Startup, _) => window(probe, meets, load),
    };
    page.line(4, does);
}

fn window(probe: &Probe, meets: Meets, load: Option<Seconds>) -> String {
    let kills = format!(
        "kills a server that has not answered: {} s after each start at the earliest, {} s at the latest",
        bounds::guaranteed_window(probe),
        bounds::latest_kill(probe)
    );
    let verdict = match (meets, load) {
        (Meets::Never, _) => paint(BAD, "and it never answers this probe"),
        (Meets::Early, _) => paint(BAD, "and this probe is answered while it still loads"),
        (_, None) => return kills,
        (_, Some(load)) => match bounds::verdict(probe, load.0) {
            Verdict::Depends => paint(
                BAD,
                &format!("a start of {load} lives or dies by the phase"),
            ),
            Verdict::Dies => paint(BAD, &format!("a start of {load} dies in every phase")),
            Verdict::Survives => paint(GOOD, &format!("a start of {load} lives in every phase")),
        },
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
