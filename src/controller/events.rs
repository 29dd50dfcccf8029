//! Events about namespaces whose defaults cannot be read.

use std::collections::HashSet;

use k8s_openapi::api::core::v1::ObjectReference;
use k8s_openapi::api::events::v1::Event;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::MicroTime;
use k8s_openapi::jiff::Timestamp;
use kube::api::{ObjectMeta, PostParams};
use kube::{Api, Client};

use crate::annotations::Trouble;

use super::api::{CallError, call};
use super::contents::hash;

/// Who reports.
const REPORTER: &str = "warmgate.io/controller";

/// What has been said.
pub(super) struct Events {
    client: Client,
    /// The name of this instance.
    identity: String,
    /// The names of the events that were created.
    said: HashSet<String>,
}

impl Events {
    pub(super) fn new(client: Client, identity: String) -> Self {
        Self {
            client,
            identity,
            said: HashSet::new(),
        }
    }

    /// Says what is wrong with the defaults of namespaces, each thing once while it lasts. One that is refused is said again
    /// next time, and keeps no other from being said.
    pub(super) async fn say(&mut self, troubles: &[(String, Trouble)]) -> Result<(), CallError> {
        let name = |(namespace, trouble): &(String, Trouble)| name(namespace, trouble);
        let current: HashSet<_> = troubles.iter().map(name).collect();
        self.said.retain(|said| current.contains(said));
        let mut all = Ok(());
        for (namespace, trouble) in troubles {
            let event = event(namespace, trouble, &self.identity, Timestamp::now());
            let name = event.metadata.name.clone().unwrap_or_default();
            if self.said.contains(&name) {
                continue;
            }
            let events = Api::<Event>::namespaced(self.client.clone(), namespace);
            match call(events.create(&PostParams::default(), &event)).await {
                Ok(_) => tracing::warn!(namespace, message = trouble.message, "malformed default"),
                // Another leader has said it.
                Err(error) if error.is_conflict() => {}
                // The namespace is on its way out.
                Err(error) if error.is_not_found() || error.is_terminating() => {}
                Err(error) if error.is_refused() => {
                    all = all.and(Err(error));
                    continue;
                }
                Err(error) => return Err(error),
            }
            self.said.insert(name);
        }
        all
    }
}

/// The same trouble makes the same name, so that what one leader said is not said again by the next.
fn name(namespace: &str, trouble: &Trouble) -> String {
    let hash = hash(&[namespace.as_bytes(), trouble.message.as_bytes()]);
    format!("warmgate.{}", &hash[..16])
}

fn event(namespace: &str, trouble: &Trouble, identity: &str, now: Timestamp) -> Event {
    Event {
        metadata: ObjectMeta {
            name: Some(name(namespace, trouble)),
            namespace: Some(namespace.to_owned()),
            ..ObjectMeta::default()
        },
        event_time: Some(MicroTime(now)),
        type_: Some("Warning".to_owned()),
        reason: Some("MalformedDefault".to_owned()),
        action: Some("ReadDefaults".to_owned()),
        note: Some(format!("{}; it counts as absent", trouble.message)),
        // An Event has to be in the namespace of what it is about. In its own namespace the people who can mend it see it.
        regarding: Some(ObjectReference {
            api_version: Some("v1".to_owned()),
            kind: Some("Namespace".to_owned()),
            name: Some(namespace.to_owned()),
            namespace: Some(namespace.to_owned()),
            ..ObjectReference::default()
        }),
        reporting_controller: Some(REPORTER.to_owned()),
        reporting_instance: Some(identity.chars().take(128).collect()),
        ..Event::default()
    }
}
