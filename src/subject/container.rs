//! One container of a pod template.

use k8s_openapi::api::core::v1 as api;
use serde::Deserialize;
use serde_json::Value;

use super::probe::{Handler, Port, Probe, Role};
use super::{Unreadable, quantity, raw};
use crate::knowledge::EnvValue;
use crate::words::{FieldPath, split_words};

/// Which list of the pod a container stands in, and what that makes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// An init container that ends before the others start; it has no probes.
    Init,
    /// One of `containers`.
    Regular,
    /// An init container with restartPolicy Always: it starts before the others and stays.
    Sidecar,
}

/// A container, with its pieces read one by one.
#[derive(Debug)]
pub struct Container<'a> {
    /// The JSON it was read from; always a map.
    pub raw: &'a Value,
    /// Where it stands in the object.
    pub path: FieldPath,
    /// What it is in the pod.
    pub place: Place,
    /// Its name.
    pub name: String,
    /// Its image.
    pub image: Option<&'a str>,
    /// `command`: replaces the image's entry point.
    pub command: Vec<String>,
    /// `args`.
    pub args: Vec<String>,
    /// `env`, in order.
    pub env: Vec<(String, EnvValue)>,
    /// Whether more variables come from a ConfigMap or Secret as a whole.
    pub env_from: bool,
    /// The ports it declares.
    pub ports: Vec<api::ContainerPort>,
    /// The keys of `resources.requests` and `resources.limits` that ask for more than nothing.
    pub resources: Vec<String>,
    /// The resource claims of the pod that it uses.
    pub claims: Vec<ClaimUse>,
    /// Its preStop hook.
    pub pre_stop: Option<Hook>,
    /// Whether probes, hooks and ports could be read.
    pub readable: bool,
    probes: [Option<Probe>; 3],
}

/// A resource claim as a container uses it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClaimUse {
    /// The name of the claim in the pod.
    pub claim: String,
    /// The one request of the claim that is used; all of them where none is named. A choice stands behind a slash.
    pub request: Option<String>,
}

/// A preStop hook.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Hook {
    /// A command; `seconds` where it is a literal `sleep N`.
    Exec {
        /// The command.
        command: Vec<String>,
        /// How long it takes, where that can be read off.
        seconds: Option<i64>,
    },
    /// A request, or anything else whose length cannot be seen.
    Other,
    /// The native sleep action, in seconds.
    Sleep(i64),
}

impl Hook {
    /// How long the hook takes in seconds, where that can be read off.
    pub fn literal(&self) -> Option<i64> {
        match self {
            Self::Exec { seconds, .. } => *seconds,
            Self::Other => None,
            Self::Sleep(seconds) => Some(*seconds),
        }
    }
}

impl<'a> Container<'a> {
    /// Reads a container; what does not read goes to `unreadable`. `None` if it is no map.
    pub(super) fn read(
        value: &'a Value,
        path: FieldPath,
        is_init: bool,
        unreadable: &mut Vec<Unreadable>,
    ) -> Option<Self> {
        let name = raw::text(value, "name").unwrap_or_default().to_owned();
        let mut reader = Reader {
            value,
            path: &path,
            name: &name,
            troubles: Vec::new(),
        };
        if !value.is_object() {
            reader.trouble(
                &path,
                format!("is {}, not a container", raw::kind_of(value)),
            );
            unreadable.append(&mut reader.troubles);
            return None;
        }
        let always = raw::text(value, "restartPolicy") == Some("Always");
        let probes = Role::ALL.map(|role| reader.probe(role));
        let pre_stop = reader.pre_stop();
        let ports = reader.list::<api::ContainerPort>("ports");
        let readable = reader.troubles.is_empty();
        let command = reader.list::<String>("command");
        let args = reader.list::<String>("args");
        let env = reader
            .list::<api::EnvVar>("env")
            .into_iter()
            .map(env_value)
            .collect();
        let resources = raw::member(value, "resources");
        unreadable.append(&mut reader.troubles);
        Some(Self {
            raw: value,
            place: match (is_init, always) {
                (false, _) => Place::Regular,
                (true, true) => Place::Sidecar,
                (true, false) => Place::Init,
            },
            image: raw::text(value, "image").filter(|image| !image.is_empty()),
            command,
            args,
            env,
            env_from: !raw::items(value, "envFrom").is_empty(),
            ports,
            resources: resources.map(asked_for).unwrap_or_default(),
            claims: resources.map(claims_used).unwrap_or_default(),
            pre_stop,
            readable,
            probes,
            name,
            path,
        })
    }

    /// The probe of a role, with defaults filled in.
    pub fn probe(&self, role: Role) -> Option<&Probe> {
        self.probes[role as usize].as_ref()
    }

    /// The probe of a role as it stands.
    pub fn raw_probe(&self, role: Role) -> Option<&'a Value> {
        raw::member(self.raw, role.field())
    }

    /// Whether it has any probe, readable or not.
    pub fn has_probe(&self) -> bool {
        Role::ALL
            .into_iter()
            .any(|role| self.raw_probe(role).is_some())
    }

    /// Where the probe of a role stands.
    pub fn probe_path(&self, role: Role) -> FieldPath {
        self.path.key(role.field())
    }

    /// The number of a port as the kubelet resolves it: a name counts only if this container declares it
    /// (`ResolveContainerPort` in `pkg/probe/util.go`).
    pub fn resolve_port(&self, port: &Port) -> Option<i64> {
        match port {
            Port::Number(number) => Some(*number),
            Port::Name(name) => self
                .ports
                .iter()
                .find(|declared| declared.name.as_deref() == Some(name))
                .map(|declared| i64::from(declared.container_port)),
        }
    }

    /// The names of the ports it declares.
    pub fn port_names(&self) -> impl Iterator<Item = &str> {
        self.ports.iter().filter_map(|port| port.name.as_deref())
    }

    /// `containers[engine]`, as messages name it.
    pub fn label(&self) -> String {
        let list = if self.place == Place::Regular {
            "containers"
        } else {
            "initContainers"
        };
        format!("{list}[{}]", self.name)
    }
}

/// Reads the pieces of one container and collects what does not read.
struct Reader<'r> {
    value: &'r Value,
    path: &'r FieldPath,
    name: &'r str,
    troubles: Vec<Unreadable>,
}

impl Reader<'_> {
    fn trouble(&mut self, path: &FieldPath, why: String) {
        self.troubles.push(Unreadable {
            path: path.clone(),
            container: Some(self.name.to_owned()),
            why,
        });
    }

    fn probe(&mut self, role: Role) -> Option<Probe> {
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

    /// The probe, unless it has two handlers or a number that no probe can have.
    fn whole_probe(&mut self, path: &FieldPath, probe: Probe, value: &Value) -> Option<Probe> {
        let handlers = handlers(value);
        let numbers = [
            probe.initial_delay,
            probe.period,
            probe.timeout,
            probe.failure_threshold,
            probe.success_threshold,
        ];
        if handlers.len() > 1 {
            self.trouble(
                path,
                format!(
                    "has {} handlers ({}), a probe has one",
                    handlers.len(),
                    handlers.join(", ")
                ),
            );
        } else if numbers.iter().any(|number| *number < 0)
            || probe.termination_grace.is_some_and(|grace| grace < 1)
        {
            self.trouble(
                path,
                "has a number below what the API server accepts".to_owned(),
            );
        } else {
            return Some(probe);
        }
        None
    }

    fn pre_stop(&mut self) -> Option<Hook> {
        let value = raw::member(self.value, "lifecycle")?;
        let path = self.path.key("lifecycle");
        let lifecycle = match api::Lifecycle::deserialize(value) {
            Ok(lifecycle) => lifecycle,
            Err(error) => {
                self.trouble(&path, error.to_string());
                return None;
            }
        };
        let hook = lifecycle.pre_stop?;
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
        if let Some(sleep) = hook.sleep {
            return Some(Hook::Sleep(sleep.seconds));
        }
        if let Some(exec) = hook.exec {
            let command = exec.command.unwrap_or_default();
            return Some(Hook::Exec {
                seconds: literal_sleep(&command),
                command,
            });
        }
        Some(Hook::Other)
    }

    fn list<T: for<'de> Deserialize<'de>>(&mut self, key: &str) -> Vec<T> {
        let Some(value) = raw::member(self.value, key) else {
            return Vec::new();
        };
        let path = self.path.key(key);
        let Some(items) = value.as_array() else {
            self.trouble(&path, format!("is {}, not a list", raw::kind_of(value)));
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

/// The handlers of a probe or hook that are there.
fn handlers(value: &Value) -> Vec<&'static str> {
    let handlers = ["exec", "grpc", "httpGet", "sleep", "tcpSocket"];
    handlers
        .into_iter()
        .filter(|handler| raw::member(value, handler).is_some())
        .collect()
}

fn env_value(variable: api::EnvVar) -> (String, EnvValue) {
    let value = match (variable.value, variable.value_from) {
        (_, Some(_)) => EnvValue::Elsewhere,
        (value, None) => EnvValue::Literal(value.unwrap_or_default()),
    };
    (variable.name, value)
}

fn asked_for(resources: &Value) -> Vec<String> {
    let mut keys: Vec<String> = Vec::new();
    for list in ["limits", "requests"] {
        for (key, quantity) in resources
            .get(list)
            .and_then(Value::as_object)
            .into_iter()
            .flatten()
        {
            if quantity::is_positive(quantity) && !keys.contains(key) {
                keys.push(key.clone());
            }
        }
    }
    keys
}

fn claims_used(resources: &Value) -> Vec<ClaimUse> {
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

/// The seconds of a command that only sleeps: `sleep 15`, or a shell that is told to.
fn literal_sleep(command: &[String]) -> Option<i64> {
    let words: Vec<String> = match command {
        [shell, flag, script]
            if is_shell(shell) && flag.starts_with('-') && flag.ends_with('c') =>
        {
            split_words(script).ok()?
        }
        words => words.to_vec(),
    };
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let words = words.strip_prefix(&["exec"]).unwrap_or(&words);
    let [program, length] = words else {
        return None;
    };
    if program.rsplit('/').next() != Some("sleep") {
        return None;
    }
    let (number, unit) = length.split_at(length.bytes().take_while(u8::is_ascii_digit).count());
    let unit = match unit {
        "" | "s" => 1,
        "m" => 60,
        "h" => 3600,
        _ => return None,
    };
    number.parse::<i64>().ok()?.checked_mul(unit)
}

/// Whether a program is a shell that takes a script after `-c`.
pub(super) fn is_shell(program: &str) -> bool {
    matches!(
        program.rsplit('/').next(),
        Some("ash" | "bash" | "busybox" | "dash" | "sh" | "zsh")
    )
}

/// Whether a handler passes whatever the server does: `true`, `exit 0` and the like.
pub(super) fn always_passes(command: &[String]) -> bool {
    let words: Vec<String> = match command {
        [shell, flag, script] if is_shell(shell) && flag.ends_with('c') => {
            split_words(script).unwrap_or_default()
        }
        words => words.to_vec(),
    };
    let words: Vec<&str> = words
        .iter()
        .map(|word| word.trim_end_matches(';'))
        .collect();
    match words.as_slice() {
        ["exit", "0"] | [":"] => true,
        [program, ..] => {
            matches!(program.rsplit('/').next(), Some("true" | "echo"))
                && !words.iter().any(|word| word.contains(['|', '&', '$', '`']))
        }
        [] => false,
    }
}

impl Handler {
    /// Whether the handler passes whatever the server does, so that it tells nothing.
    pub fn always_passes(&self) -> bool {
        matches!(self, Self::Exec { command } if always_passes(command))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn words(command: &[&str]) -> Vec<String> {
        command.iter().map(|word| (*word).to_owned()).collect()
    }

    #[test]
    fn a_literal_sleep_is_read_off() {
        for (command, seconds) in [
            (&["sleep", "15"][..], Some(15)),
            (&["/bin/sleep", "20s"], Some(20)),
            (&["sh", "-c", "sleep 60"], Some(60)),
            (&["/bin/bash", "-ec", "exec sleep 2m"], Some(120)),
            (&["sh", "-c", "sleep 5; nginx -s quit"], None),
            (&["sh", "-c", "sleep $N"], None),
            (&["drain", "30"], None),
            (&[], None),
        ] {
            assert_eq!(literal_sleep(&words(command)), seconds, "{command:?}");
        }
    }

    #[test]
    fn a_handler_that_tells_nothing() {
        for command in [
            &["true"][..],
            &["/bin/true"],
            &["sh", "-c", "exit 0"],
            &["echo", "ok"],
        ] {
            assert!(always_passes(&words(command)), "{command:?}");
        }
        for command in [
            &["cat", "/tmp/ready"][..],
            &["sh", "-c", "exit 1"],
            &["sh", "-c", "echo ruok | nc localhost 1"],
            &[],
        ] {
            assert!(!always_passes(&words(command)), "{command:?}");
        }
    }

    #[test]
    fn what_does_not_read_is_told_and_the_rest_is_kept() {
        let value = json!({
            "name": "engine",
            "image": "x",
            "livenessProbe": {"httpGet": {"port": 8000}, "periodSeconds": "ten"},
            "readinessProbe": {"tcpSocket": {"port": "api"}, "exec": {"command": ["true"]}},
            "startupProbe": {"grpc": {"port": 9000}},
            "ports": [{"name": "api", "containerPort": 8000}, {"containerPort": "x"}],
            "env": [{"name": "A", "value": "1"}, {"name": "B", "value": 2}],
            "resources": {"limits": {"nvidia.com/gpu": 1, "cpu": "0"}, "claims": [{"name": "card"}]}
        });
        let mut unreadable = Vec::new();
        let container =
            Container::read(&value, FieldPath::of(&["c"]), false, &mut unreadable).unwrap();
        let paths: Vec<String> = unreadable.iter().map(|one| one.path.to_string()).collect();
        assert_eq!(
            paths,
            [
                "c.livenessProbe",
                "c.readinessProbe",
                "c.ports[1]",
                "c.env[1]"
            ]
        );
        assert!(!container.readable);
        assert_eq!(
            container.probe(Role::Startup).unwrap().handler,
            Handler::Grpc {
                port: 9000,
                service: String::new()
            }
        );
        assert_eq!(container.probe(Role::Liveness), None);
        assert_eq!(container.resources, ["nvidia.com/gpu"]);
        assert_eq!(
            container.claims,
            [ClaimUse {
                claim: "card".to_owned(),
                request: None
            }]
        );
        assert_eq!(
            container.resolve_port(&Port::Name("api".to_owned())),
            Some(8000)
        );
        assert_eq!(container.resolve_port(&Port::Name("http".to_owned())), None);
    }
}
