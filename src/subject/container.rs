//! One container of a pod template.

use k8s_openapi::api::core::v1 as api;
use serde_json::Value;

use super::hook::Hook;
use super::probe::{Port, Probe, Role};
use super::reader::{self, Reader};
use super::{Unreadable, raw};
use crate::knowledge::EnvValue;
use crate::words::{FieldPath, type_of};

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
    /// Its postStart hook.
    pub post_start: Option<Hook>,
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
            reader.trouble(&path, format!("is {}, not a container", type_of(value)));
            unreadable.append(&mut reader.troubles);
            return None;
        }
        let always = raw::text(value, "restartPolicy") == Some("Always");
        let probes = Role::ALL.map(|role| reader.probe(role));
        let (post_start, pre_stop) = reader.hooks();
        let ports = reader.list::<api::ContainerPort>("ports");
        let readable = reader.troubles.is_empty();
        let command = reader.list::<String>("command");
        let args = reader.list::<String>("args");
        let env = reader
            .list::<api::EnvVar>("env")
            .into_iter()
            .map(reader::env_value)
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
            resources: resources.map(reader::asked_for).unwrap_or_default(),
            claims: resources.map(reader::claims_used).unwrap_or_default(),
            post_start,
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::subject::Handler;

    #[test]
    fn a_handler_that_the_api_server_refuses_does_not_read() {
        for (probe, reads) in [
            (json!({"httpGet": {"port": 80, "scheme": "HTTPS"}}), true),
            (json!({"httpGet": {"port": 80, "scheme": ""}}), true),
            (json!({"httpGet": {"port": 80, "scheme": "https"}}), false),
            (json!({"httpGet": {"port": 0}}), false),
            (json!({"tcpSocket": {"port": 65536}}), false),
            (json!({"grpc": {"port": 65535}}), true),
            (json!({"exec": {"command": []}}), false),
            (json!({"exec": {"command": ["true"]}}), true),
        ] {
            let value = json!({"name": "engine", "image": "x", "livenessProbe": probe});
            let mut unreadable = Vec::new();
            let path = FieldPath::of(&["c"]);
            let container = Container::read(&value, path, false, &mut unreadable).unwrap();
            assert_eq!(container.probe(Role::Liveness).is_some(), reads, "{value}");
            assert_eq!(unreadable.is_empty(), reads, "{value}");
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
