//! Which handler a startup probe gets.

use serde_json::{Map, Value, json};

use super::Why;
use crate::annotations::StartupProbe;
use crate::intent::{ContainerIntent, Source, Sourced, TemplateIntent, fault};
use crate::knowledge::{Bind, Group, Part, PresetHandler};
use crate::subject::{Handler, Place, Probe, Role};

/// Where a handler comes from.
pub(super) struct Chosen {
    /// The member of the probe: `{"httpGet": {...}}`.
    pub(super) handler: Map<String, Value>,
    /// The timeout of the probe it was copied from, in seconds.
    pub(super) timeout: i64,
    /// What it was made from, in words.
    pub(super) source: String,
}

/// The handler: the annotation's, else the liveness probe's, else (with a declared time) the readiness probe's, else (where
/// no probe exists) the preset's. `None` where a startup probe would protect nothing.
pub(super) fn choose(
    template: &TemplateIntent<'_>,
    container: &ContainerIntent<'_>,
) -> Result<Option<Chosen>, Why> {
    let asked = container.startup_probe.as_ref();
    if asked.is_some_and(|asked| asked.value == StartupProbe::None) {
        return Err(Why::OwnersNone);
    }
    let fits = |asked: &Sourced<StartupProbe>| match &asked.value {
        StartupProbe::Handler(handler) => {
            let known = |name: &str| container.container.port_names().any(|port| port == name);
            handler.port_name().is_none_or(known)
                && fault::contradiction(template, container, handler).is_none()
        }
        StartupProbe::None => true,
    };
    let asked = asked.filter(|asked| fits(asked));
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
    asked: &Sourced<StartupProbe>,
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
        return Ok(None);
    }
    match from_preset(template, container) {
        Some(_) if template.mesh => Err(Why::BehindMesh),
        chosen => Ok(chosen),
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

/// The preset's handler, where server, port and scheme are certain and the probe can reach the server but for a mesh proxy.
fn from_preset(template: &TemplateIntent<'_>, container: &ContainerIntent<'_>) -> Option<Chosen> {
    let server = container.server()?;
    let (port, https) = (server.port.as_ref()?, server.https.as_ref()?);
    let reachable =
        server.bind.value == Bind::Everywhere && !server.client_certificates && !server.credentials;
    let leads = template.template.part == Part::Leader;
    let serves = match server.group {
        Group::Alone | Group::Spread(_) => true,
        Group::Member(_) => leads,
        Group::RankAtRunTime(_) => false,
    };
    let hides_env = container.container.env_from || server.doubtful_env;
    let may_differ = hides_env && server.follows_env;
    if template.no_preset.is_some() || !reachable || !serves || may_differ {
        return None;
    }
    let handler = match server.startup.as_ref()? {
        PresetHandler::Http(_) if !server.speaks_http => return None,
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
