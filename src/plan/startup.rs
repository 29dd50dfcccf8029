//! The startup probe that holds the liveness probe off while the model loads.

use serde_json::{Map, Value, json};

use super::termination::Ending;
use super::{Edit, EditKind, Site, Why, Withheld, present};
use crate::annotations::StartupProbe;
use crate::intent::{ContainerIntent, Source, TemplateIntent, fault};
use crate::knowledge::{Bind, Group, Part, PresetHandler};
use crate::kubelet::bounds;
use crate::subject::{Handler, Place, Probe, Role};

/// Up to here a period of 5 s keeps the time to Ready short; above it the usual 10 s do.
const SHORT_WINDOW: i64 = 120;

/// A server that never started has nothing to drain; so many seconds after its hook it may be killed.
const GRACE_AFTER_HOOK: i64 = 30;

/// Where a handler comes from.
struct Chosen {
    /// The member of the probe: `{"httpGet": {...}}`.
    handler: Map<String, Value>,
    /// The timeout of the probe it was copied from, in seconds.
    timeout: i64,
    source: String,
}

/// Plans the startup probes of a template; returns the startup windows that its serving containers end up with.
pub(super) fn plan(
    site: &Site<'_>,
    template: &TemplateIntent<'_>,
    ending: &Ending,
    edits: &mut Vec<Edit>,
    withheld: &mut Vec<Withheld>,
) -> Vec<i64> {
    let mut windows = Vec::new();
    for (index, container) in template
        .containers
        .iter()
        .enumerate()
        .filter(|(_, one)| one.serves())
    {
        let path = container.container.probe_path(Role::Startup);
        let enabled = site.facts.config.edits.startup_probe && container.container.readable;
        if let Some(probe) = container.container.probe(Role::Startup) {
            let raised = if enabled {
                raise(site, container, probe)
            } else {
                None
            };
            windows.push(
                raised
                    .as_ref()
                    .map_or_else(|| window(probe), |(window, _)| *window),
            );
            edits.extend(raised.map(|(_, edit)| edit));
            continue;
        }
        if !enabled || present(site.subject.object, &path).is_some() {
            continue;
        }
        match choose(template, container) {
            Ok(None) => {}
            Ok(Some(chosen)) => {
                let (window, edit) =
                    inject(site, container, chosen, ending.grace, ending.hooks[index]);
                windows.push(window);
                edits.push(edit);
            }
            Err(why) => withheld.push(Withheld {
                kind: EditKind::StartupProbe,
                container: Some(container.container.name.clone()),
                path,
                why,
            }),
        }
    }
    windows
}

/// The startup windows that stand in a template that is not written.
pub(super) fn standing_windows<'t>(
    template: &'t TemplateIntent<'t>,
) -> impl Iterator<Item = i64> + 't {
    template
        .serving()
        .filter_map(|container| container.container.probe(Role::Startup))
        .map(window)
}

/// The window that a rollout must leave to a startup probe: D + (F-1) P.
pub(crate) fn window(probe: &Probe) -> i64 {
    bounds::guaranteed_window(probe).saturating_add(i64::from(probe.initial_delay > 0))
}

/// In a pod that a controller owns nobody can be refused, and the team often cannot reach the operator's probe: the
/// declared time is a floor.
fn raise(site: &Site<'_>, container: &ContainerIntent<'_>, probe: &Probe) -> Option<(i64, Edit)> {
    let declared = container
        .declared
        .as_ref()
        .filter(|_| site.is_owned_pod())?;
    if bounds::guaranteed_window(probe) >= declared.value.0 {
        return None;
    }
    let wanted = with_margin(declared.value.0);
    let threshold = bounds::failure_threshold_for(wanted, probe.initial_delay, probe.period);
    let path = container
        .container
        .probe_path(Role::Startup)
        .key("failureThreshold");
    let raised = Probe {
        failure_threshold: threshold,
        ..probe.clone()
    };
    let why = format!(
        "{} declared, {} s guaranteed",
        declared.value.short(),
        bounds::guaranteed_window(&raised)
    );
    let edit = Edit {
        kind: EditKind::StartupWindow,
        container: Some(container.container.name.clone()),
        was: present(site.subject.object, &path).cloned(),
        value: Some(json!(threshold)),
        path,
        why,
    };
    Some((window(&raised), edit))
}

/// A quarter more than declared: loads vary.
fn with_margin(seconds: i64) -> i64 {
    seconds
        .saturating_add(seconds / 4)
        .saturating_add(i64::from(seconds % 4 != 0))
}

fn inject(
    site: &Site<'_>,
    container: &ContainerIntent<'_>,
    chosen: Chosen,
    grace: i64,
    hook: Option<i64>,
) -> (i64, Edit) {
    let mut wanted = match &container.declared {
        Some(declared) => with_margin(declared.value.0),
        None => {
            let measured = container
                .measured
                .map_or(0, |measured| with_margin(measured.0));
            site.facts.config.defaults.startup_window.max(measured)
        }
    };
    if let Some(liveness) = container.container.probe(Role::Liveness) {
        wanted = wanted.max(window(liveness));
    }
    let (period, least_timeout) = if wanted <= SHORT_WINDOW {
        (5, 3)
    } else {
        (10, 5)
    };
    let threshold = bounds::failure_threshold_for(wanted, 0, period);
    let mut probe = chosen.handler;
    probe.insert("periodSeconds".to_owned(), json!(period));
    probe.insert(
        "timeoutSeconds".to_owned(),
        json!(chosen.timeout.max(least_timeout)),
    );
    probe.insert("failureThreshold".to_owned(), json!(threshold));
    if let Some(hook) = hook {
        let own_grace = grace.min(hook.saturating_add(GRACE_AFTER_HOOK));
        if own_grace >= 1 {
            probe.insert("terminationGracePeriodSeconds".to_owned(), json!(own_grace));
        }
    }
    let guaranteed = (threshold - 1).saturating_mul(period);
    let time = match (&container.declared, container.measured) {
        (Some(declared), _) => format!("{} declared", declared.value.short()),
        (None, Some(measured)) => format!("nothing declared, {measured} measured"),
        (None, None) => "nothing declared".to_owned(),
    };
    let edit = Edit {
        kind: EditKind::StartupProbe,
        container: Some(container.container.name.clone()),
        path: container.container.probe_path(Role::Startup),
        value: Some(Value::Object(probe)),
        was: None,
        why: format!(
            "{time}, {guaranteed} s guaranteed, handler of {}",
            chosen.source
        ),
    };
    (guaranteed, edit)
}

/// The handler: the annotation's, else the liveness probe's, else (with a declared time) the readiness probe's, else (where
/// no probe exists) the preset's. `None` where a startup probe would protect nothing.
fn choose(
    template: &TemplateIntent<'_>,
    container: &ContainerIntent<'_>,
) -> Result<Option<Chosen>, Why> {
    let asked = container.startup_probe.as_ref();
    if asked.is_some_and(|asked| asked.value == StartupProbe::None) {
        return Err(Why::OwnersNone);
    }
    let unknown_port = |asked: &crate::intent::Sourced<StartupProbe>| match &asked.value {
        StartupProbe::Handler(handler) => handler
            .port_name()
            .is_some_and(|name| !container.container.port_names().any(|port| port == name)),
        StartupProbe::None => false,
    };
    let asked = asked.filter(|asked| !unknown_port(asked));
    let candidate = match asked {
        Some(asked) => Some(from_annotation(template, asked)?),
        None => from_container(template, container)?,
    };
    match (&template.ready_gate, candidate) {
        (Some(gate), Some(_)) => Err(Why::ReadyGate(gate.clone())),
        (_, candidate) => Ok(candidate),
    }
}

fn from_annotation(
    template: &TemplateIntent<'_>,
    asked: &crate::intent::Sourced<StartupProbe>,
) -> Result<Chosen, Why> {
    let StartupProbe::Handler(value) = &asked.value else {
        return Err(Why::OwnersNone);
    };
    let Value::Object(handler) = value.to_json() else {
        return Err(Why::OwnersNone);
    };
    if template.mesh && !handler.contains_key("exec") {
        return Err(Why::BehindMesh);
    }
    Ok(Chosen {
        handler,
        timeout: 0,
        source: asked.source.to_string(),
    })
}

fn from_container(
    template: &TemplateIntent<'_>,
    container: &ContainerIntent<'_>,
) -> Result<Option<Chosen>, Why> {
    let declared = container.declared.is_some();
    if container.container.place == Place::Sidecar && !declared {
        return Ok(None);
    }
    let liveness = container
        .container
        .probe(Role::Liveness)
        .map(|probe| (Role::Liveness, probe));
    let readiness = container
        .container
        .probe(Role::Readiness)
        .map(|probe| (Role::Readiness, probe))
        .filter(|_| declared);
    let mut refused = None;
    for (role, probe) in liveness.into_iter().chain(readiness) {
        match copy(template, container, role, probe) {
            Ok(chosen) => return Ok(Some(chosen)),
            Err(why) => refused = refused.or(Some(why)),
        }
    }
    if let Some(why) = refused {
        return Err(why);
    }
    if container.container.has_probe() {
        Ok(None)
    } else {
        Ok(from_preset(template, container))
    }
}

fn copy(
    template: &TemplateIntent<'_>,
    container: &ContainerIntent<'_>,
    role: Role,
    probe: &Probe,
) -> Result<Chosen, Why> {
    if let Some(why) = &template.no_copy {
        return Err(Why::ReadyGate(why.clone()));
    }
    if let Some(fault) = fault::faults(template, container, &probe.handler).first() {
        return Err(Why::BadHandler(fault.short()));
    }
    let is_exec = matches!(probe.handler, Handler::Exec { .. });
    if template.mesh && !is_exec && !fault::rewritten(&probe.handler) {
        return Err(Why::BehindMesh);
    }
    let raw = container
        .container
        .raw_probe(role)
        .and_then(Value::as_object);
    let handler = raw
        .into_iter()
        .flatten()
        .filter(|(key, value)| is_handler(key) && !value.is_null());
    let mut handler: Map<String, Value> = handler
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect();
    drop_busy_query(container, &mut handler);
    Ok(Chosen {
        handler,
        timeout: probe.timeout,
        source: role.field().to_owned(),
    })
}

pub(super) fn is_handler(key: &str) -> bool {
    matches!(key, "exec" | "grpc" | "httpGet" | "tcpSocket")
}

/// A query that makes a busy server answer "dead" is left out of the copy.
fn drop_busy_query(container: &ContainerIntent<'_>, handler: &mut Map<String, Value>) {
    let Some(path) = handler
        .get_mut("httpGet")
        .and_then(|get| get.get_mut("path"))
    else {
        return;
    };
    let Some(text) = path.as_str() else { return };
    let (Some(busy), Some((bare, query))) =
        (fault::busy_query(container, text), text.split_once('?'))
    else {
        return;
    };
    let is_kept = |part: &&str| part.split('=').next() != Some(busy);
    let kept: Vec<&str> = query.split('&').filter(is_kept).collect();
    *path = if kept.is_empty() {
        json!(bare)
    } else {
        json!(format!("{bare}?{}", kept.join("&")))
    };
}

/// The preset's handler, where server, port and scheme are certain and the probe can reach the server.
fn from_preset(template: &TemplateIntent<'_>, container: &ContainerIntent<'_>) -> Option<Chosen> {
    let server = container.server()?;
    let (port, https) = (server.port.as_ref()?, server.https.as_ref()?);
    let reachable =
        server.bind.value == Bind::Everywhere && !server.client_certificates && !server.credentials;
    let leads = template.template.part == Part::Leader;
    let serves =
        matches!(server.group, Group::Alone) || (leads && matches!(server.group, Group::Member(_)));
    let port_may_move = container.container.env_from
        && port.source.starts_with("default")
        && server.preset.port_follows_env();
    let barred = template.no_preset.is_some() || template.mesh;
    if barred || !reachable || !serves || port_may_move {
        return None;
    }
    let handler = match server.startup.as_ref()? {
        PresetHandler::Tcp => json!({"tcpSocket": {"port": port.value}}),
        PresetHandler::Http(path) if https.value => {
            json!({"httpGet": {"path": path, "port": port.value, "scheme": "HTTPS"}})
        }
        PresetHandler::Http(path) => json!({"httpGet": {"path": path, "port": port.value}}),
    };
    let Value::Object(handler) = handler else {
        return None;
    };
    let source = Source::Preset(server.preset.title().to_owned()).to_string();
    Some(Chosen {
        handler,
        timeout: 0,
        source,
    })
}
