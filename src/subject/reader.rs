//! Reads the pieces of one container, each by itself.

use k8s_openapi::api::core::v1 as api;
use serde::Deserialize;
use serde_json::Value;

use super::container::ClaimUse;
use super::hook::{self, Hook};
use super::probe::{Handler, Port, Probe, Role};
use super::{Unreadable, quantity, raw};
use crate::knowledge::EnvValue;
use crate::words::{FieldPath, clip, type_of};

/// Reads the pieces of one container and collects what does not read.
pub(super) struct Reader<'r> {
    pub(super) value: &'r Value,
    pub(super) path: &'r FieldPath,
    pub(super) name: &'r str,
    pub(super) troubles: Vec<Unreadable>,
}

impl Reader<'_> {
    pub(super) fn trouble(&mut self, path: &FieldPath, why: String) {
        self.troubles.push(Unreadable {
            path: path.clone(),
            container: Some(self.name.to_owned()),
            why,
        });
    }

    pub(super) fn probe(&mut self, role: Role) -> Option<Probe> {
        let value = raw::member(self.value, role.field())?;
        let path = self.path.key(role.field());
        match api::Probe::deserialize(value) {
            Err(error) => self.trouble(&path, error.to_string()),
            Ok(probe) => match Probe::read(&probe) {
                None => self.trouble(
                    &path,
                    "has no handler: set one of exec, grpc, httpGet, tcpSocket".to_owned(),
                ),
                Some(probe) => return self.whole_probe(&path, probe, value),
            },
        }
        None
    }

    /// The probe, unless the API server refuses it.
    fn whole_probe(&mut self, path: &FieldPath, probe: Probe, value: &Value) -> Option<Probe> {
        let handlers = handlers(value);
        let numbers = [
            probe.initial_delay,
            probe.period,
            probe.timeout,
            probe.failure_threshold,
            probe.success_threshold,
        ];
        let refused = if handlers.len() > 1 {
            Some(format!(
                "has {} handlers ({}), a probe has one",
                handlers.len(),
                handlers.join(", ")
            ))
        } else if numbers.iter().any(|number| *number < 0)
            || probe.termination_grace.is_some_and(|grace| grace < 1)
        {
            Some("has a number below what the API server accepts".to_owned())
        } else {
            refused_handler(&probe.handler, value)
        };
        match refused {
            Some(why) => self.trouble(path, why),
            None => return Some(probe),
        }
        None
    }

    /// The postStart and the preStop hook.
    pub(super) fn hooks(&mut self) -> (Option<Hook>, Option<Hook>) {
        let Some(value) = raw::member(self.value, "lifecycle") else {
            return (None, None);
        };
        let path = self.path.key("lifecycle");
        let lifecycle = match api::Lifecycle::deserialize(value) {
            Ok(lifecycle) => lifecycle,
            Err(error) => {
                self.trouble(&path, error.to_string());
                return (None, None);
            }
        };
        let handlers = raw::member(value, "preStop")
            .map(self::handlers)
            .unwrap_or_default();
        if handlers.len() > 1 {
            let why = format!(
                "has {} handlers ({}), a hook has one",
                handlers.len(),
                handlers.join(", ")
            );
            self.trouble(&path.key("preStop"), why);
        }
        (lifecycle.post_start.map(hook), lifecycle.pre_stop.map(hook))
    }

    pub(super) fn list<T: for<'de> Deserialize<'de>>(&mut self, key: &str) -> Vec<T> {
        let Some(value) = raw::member(self.value, key) else {
            return Vec::new();
        };
        let path = self.path.key(key);
        let Some(items) = value.as_array() else {
            self.trouble(&path, format!("is {}, not a list", type_of(value)));
            return Vec::new();
        };
        let mut read = Vec::with_capacity(items.len());
        for (index, item) in items.iter().enumerate() {
            match T::deserialize(item) {
                Ok(item) => read.push(item),
                Err(error) => self.trouble(&path.index(index), error.to_string()),
            }
        }
        read
    }
}

fn hook(handler: api::LifecycleHandler) -> Hook {
    if let Some(sleep) = handler.sleep {
        // The API server refuses a negative time; to the kubelet it would be none (`runSleepHandler` in
        // `pkg/kubelet/lifecycle/handlers.go` waits for `time.After`).
        return Hook::Sleep(sleep.seconds.max(0));
    }
    let Some(exec) = handler.exec else {
        return Hook::Other;
    };
    let command = exec.command.unwrap_or_default();
    Hook::Exec {
        length: hook::length(&command),
        command,
    }
}

/// Why the API server refuses the handler of a probe (`validateHandler` in `pkg/apis/core/validation/validation.go`).
fn refused_handler(handler: &Handler, probe: &Value) -> Option<String> {
    if let Some(Port::Number(port)) = handler.port()
        && !(1..=65535).contains(&port)
    {
        return Some(format!("asks port {port}, there are 1 to 65535"));
    }
    match handler {
        Handler::Exec { command } if command.is_empty() => {
            Some("has a command without words".to_owned())
        }
        Handler::Http { .. } => {
            let scheme = probe.pointer("/httpGet/scheme").and_then(Value::as_str)?;
            let known = matches!(scheme, "" | "HTTP" | "HTTPS");
            (!known).then(|| {
                let scheme = clip(scheme, 20);
                format!("has the scheme {scheme:?}, there are HTTP and HTTPS")
            })
        }
        _ => None,
    }
}

/// The handlers of a probe or hook that are there.
fn handlers(value: &Value) -> Vec<&'static str> {
    let handlers = ["exec", "grpc", "httpGet", "sleep", "tcpSocket"];
    handlers
        .into_iter()
        .filter(|handler| raw::member(value, handler).is_some())
        .collect()
}

pub(super) fn env_value(variable: api::EnvVar) -> (String, EnvValue) {
    let value = match (variable.value, variable.value_from) {
        (_, Some(_)) => EnvValue::Elsewhere,
        (value, None) => EnvValue::Literal(value.unwrap_or_default()),
    };
    (variable.name, value)
}

pub(super) fn asked_for(resources: &Value) -> Vec<String> {
    let list = |name: &str| resources.get(name).and_then(Value::as_object);
    let (limits, requests) = (list("limits"), list("requests"));
    let is_limit = |key: &str| limits.is_some_and(|limits| asks(limits.get(key)));
    let limits = limits.into_iter().flatten();
    let more = requests.into_iter().flatten();
    limits
        .chain(more.filter(|(key, _)| !is_limit(key)))
        .filter(|(_, quantity)| asks(Some(quantity)))
        .map(|(key, _)| key.clone())
        .collect()
}

fn asks(quantity: Option<&Value>) -> bool {
    quantity.is_some_and(quantity::is_positive)
}

pub(super) fn claims_used(resources: &Value) -> Vec<ClaimUse> {
    let used = |one: &Value| {
        let request = raw::text(one, "request").filter(|request| !request.is_empty());
        Some(ClaimUse {
            claim: raw::text(one, "name")?.to_owned(),
            request: request.map(str::to_owned),
        })
    };
    raw::items(resources, "claims")
        .iter()
        .filter_map(used)
        .collect()
}
