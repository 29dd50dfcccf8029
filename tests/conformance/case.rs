//! A pod whose servers' behaviour is known.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use warmgate::facts::Version;
use warmgate::knowledge::Knowledge;
use warmgate::kubelet::{Container, Deletion, Micros, Pod};
use warmgate::subject::{Handler, Role, Subject};

use super::server::Server;

/// A pod, what the servers in it do, and what is done to it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Case {
    /// The manifest of the pod, without the images and the servers' flags.
    pub(crate) pod: Value,
    /// What the server of each container does.
    pub(crate) servers: BTreeMap<String, Server>,
    /// When the pod is deleted, if it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) removal: Option<Removal>,
    /// The longest back-off that the node is configured with, in seconds, where it is not the default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) longest_back_off: Option<i64>,
    /// How many seconds it is watched, counted from when its first container is made.
    pub(crate) watched: i64,
}

/// A delete request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Removal {
    /// So many seconds after the pod was made.
    pub(crate) after: i64,
    /// The grace period that the request asks for, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) grace: Option<i64>,
}

/// The port of the first container's HTTP server; gRPC and plain TCP follow. Each further container has its ports ten higher.
pub(crate) const PORT: u16 = 8000;

/// The port of the HTTP server of the container with this number.
pub(crate) fn port(container: usize) -> u16 {
    PORT + 10 * u16::try_from(container).expect("few containers")
}

impl Case {
    /// The same pod as it is created: under this name, with images and flags.
    pub(crate) fn manifest(&self, name: &str) -> Value {
        let mut pod = self.pod.clone();
        pod["apiVersion"] = json!("v1");
        pod["kind"] = json!("Pod");
        pod["metadata"]["name"] = json!(name);
        // Less to do for the kubelet.
        pod["spec"]["automountServiceAccountToken"] = json!(false);
        pod["spec"]["enableServiceLinks"] = json!(false);
        let mut number = 0;
        for list in ["initContainers", "containers"] {
            for container in pod["spec"][list].as_array_mut().into_iter().flatten() {
                let name = container["name"].as_str().unwrap_or_default().to_owned();
                let server = self.servers.get(&name).cloned().unwrap_or_default();
                container["image"] = json!("slowserver:local");
                // A little of a processor is its own: whoever asks for nothing is starved when many start.
                container["resources"] = json!({"requests": {"cpu": "8m"}});
                container["args"] = json!(server.flags(port(number)));
                number += 1;
            }
        }
        pod
    }

    /// The pod as a kubelet of this version is told, read as warmgate reads it.
    ///
    /// # Panics
    ///
    /// When it is no pod.
    pub(crate) fn pod(&self, version: Version) -> Pod {
        let manifest = self.manifest("case");
        let knowledge = Knowledge::builtin();
        let subject = Subject::read(&manifest, "", &knowledge).expect("the case is a pod");
        assert_eq!(subject.unreadable, [], "{manifest}");
        let mut pod = Pod::read(&subject.templates[0], version);
        if let Some(longest) = self.longest_back_off {
            pod.longest_back_off = Micros::secs(longest);
        }
        pod.deletion = self.removal.map(|removal| Deletion {
            at: Micros::secs(removal.after),
            grace: removal.grace,
        });
        pod
    }

    /// The server of a container.
    pub(crate) fn server(&self, container: &Container) -> Server {
        self.servers
            .get(&container.name)
            .cloned()
            .unwrap_or_default()
    }
}

/// What the probes of a container do.
pub(crate) fn handlers(container: &Container) -> Vec<(Role, Handler)> {
    Role::ALL
        .into_iter()
        .filter_map(|role| Some((role, container.probe(role)?.handler.clone())))
        .collect()
}
