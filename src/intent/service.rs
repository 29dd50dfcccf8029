//! Which containers serve.
//!
//! A container serves if it has a probe or runs a known server by its command or entry point; an image name or a port alone
//! is not enough, so that a developer's `sleep infinity` in a server's image stays alone.

use super::{ContainerIntent, Layers};
use crate::annotations::{self, StartupProbe};
use crate::facts::Facts;
use crate::knowledge::{Evidence, Launch, Part, Recognition};
use crate::subject::{Accelerators, Container, Place, PodTemplate, Subject};

/// The labels by which a pod tells that it is no leader of its group.
const WORKER_INDEX: &str = "leaderworkerset.sigs.k8s.io/worker-index";
const RAY_NODE: &str = "ray.io/node-type";

/// Proxies and helpers that stand beside a server; their probes are their makers' business.
const HELPERS: [&str; 12] = [
    "aibrix-runtime",
    "envoy",
    "istio-proxy",
    "istio-validation",
    "linkerd-proxy",
    "llm-d-routing-sidecar",
    "lora-syncer",
    "oauth-proxy",
    "pd-sidecar",
    "queue-proxy",
    "routing-proxy",
    "vault-agent",
];

/// Whether a container serves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Service {
    /// It does not: neither edited nor judged.
    Bystander(String),
    /// It does not serve either, being a member of a group that another member serves for.
    Follower(String),
    /// It does, and why.
    Serves(String),
    /// It holds an accelerator, or no container of the pod does and none serves; it has no probe and runs nothing that is
    /// known: not edited, judged by `no-probes` only.
    Unknown,
}

/// Why a template is ours.
pub(super) fn why_ours(layers: &Layers, accelerators: &Accelerators) -> Option<String> {
    let holder = accelerators
        .holders
        .first()
        .map(|(container, by)| format!("container {container} asks for {by}"));
    holder.or_else(|| layers.opt_in().map(|key| format!("annotation {key}")))
}

/// The containers of a template with what is wanted of each.
pub(super) fn containers<'a>(
    subject: &'a Subject<'a>,
    template: &'a PodTemplate<'a>,
    layers: &Layers,
    accelerators: &Accelerators,
    facts: &'a Facts,
) -> Vec<ContainerIntent<'a>> {
    let recognised: Vec<Recognition<'a>> = template
        .containers
        .iter()
        .map(|container| recognise(container, facts))
        .collect();
    let follower = follower_template(subject, template);
    let candidates = candidates(template, layers, accelerators, &recognised);
    let alone = candidates.iter().filter(|one| one.is_ok()).count() == 1;
    let workload = workload_name(subject);
    let mut intents = Vec::with_capacity(template.containers.len());
    for ((container, recognition), candidate) in
        template.containers.iter().zip(recognised).zip(candidates)
    {
        let service = match (&follower, candidate) {
            (_, Err(why)) => Service::Bystander(why.to_owned()),
            (Some(why), Ok(())) => Service::Follower(why.clone()),
            (None, Ok(())) => service(container, &recognition, layers, alone),
        };
        let name = container.name.as_str();
        intents.push(ContainerIntent {
            container,
            service,
            recognition,
            declared: layers.max_startup_time(name),
            measured: facts.longest_start(&subject.namespace, &workload, name),
            startup_probe: layers.startup_probe(name),
            probe_timeout: layers.probe_timeout(name),
            prestop_sleep: layers.prestop_sleep(name),
            drain_time: layers.drain_time(name),
        });
    }
    if accelerators.holders.is_empty() {
        leave_helpers(&mut intents);
    }
    intents
}

/// Where no accelerator tells who serves, what is not known to serve stands beside what is.
fn leave_helpers(intents: &mut [ContainerIntent<'_>]) {
    if !intents.iter().any(ContainerIntent::serves) {
        return;
    }
    for intent in intents {
        if intent.service == Service::Unknown {
            intent.service = Service::Bystander("another container serves".to_owned());
        }
    }
}

fn recognise<'a>(container: &'a Container<'a>, facts: &'a Facts) -> Recognition<'a> {
    if container.place == Place::Init {
        return Recognition::Unknown;
    }
    facts.knowledge.recognise(&Launch {
        image: container.image,
        command: &container.command,
        args: &container.args,
        env: &container.env,
    })
}

/// Which containers may serve, or why one may not.
fn candidates(
    template: &PodTemplate<'_>,
    layers: &Layers,
    accelerators: &Accelerators,
    recognised: &[Recognition<'_>],
) -> Vec<Result<(), &'static str>> {
    let listed = layers.containers();
    let holders = !accelerators.holders.is_empty();
    let regular = template
        .containers
        .iter()
        .filter(|container| container.place == Place::Regular)
        .count();
    // A member of a group runs a server too, one that serves by another pod.
    let runs_one = |known: &Recognition<'_>| {
        matches!(known, Recognition::Follower(_) | Recognition::Server(_))
    };
    let servers = template
        .containers
        .iter()
        .zip(recognised)
        .any(|(container, known)| container.place == Place::Regular && runs_one(known));
    let of = |container: &Container<'_>, recognition: &Recognition<'_>| {
        if container.place == Place::Init {
            return Err("it ends before the others start");
        }
        if let Some(listed) = &listed {
            let here = listed.contains(&container.name) || layers.names(&container.name);
            return if here {
                Ok(())
            } else {
                Err("the annotation containers does not list it")
            };
        }
        if layers.names(&container.name) {
            return Ok(());
        }
        if holders {
            let holds = accelerators.holds(&container.name);
            return if holds {
                Ok(())
            } else {
                Err("it asks for no accelerator")
            };
        }
        if HELPERS.contains(&container.name.as_str()) {
            return Err("it is a proxy or helper");
        }
        if container.place == Place::Sidecar {
            return Err("it is a sidecar");
        }
        if servers && regular > 1 && !runs_one(recognition) {
            return Err("another container runs the server");
        }
        Ok(())
    };
    template
        .containers
        .iter()
        .zip(recognised)
        .map(|(container, recognition)| of(container, recognition))
        .collect()
}

/// What a container that may serve does; `alone` is whether no other one may.
fn service(
    container: &Container<'_>,
    recognition: &Recognition<'_>,
    layers: &Layers,
    alone: bool,
) -> Service {
    let listed = layers
        .containers()
        .is_some_and(|listed| listed.contains(&container.name));
    match recognition {
        Recognition::Follower(why) => Service::Follower(why.clone()),
        Recognition::Server(server) => {
            let evidence = match &server.evidence {
                Evidence::Command(words) => format!("command {words}"),
                Evidence::Image(tail) => format!("image {tail}"),
            };
            Service::Serves(format!("it runs {} ({evidence})", server.preset.title()))
        }
        _ if listed => Service::Serves(format!("annotation {}", annotations::CONTAINERS)),
        _ if layers.names(&container.name) => Service::Serves("an annotation names it".to_owned()),
        _ if container.has_probe() => Service::Serves("it has a probe".to_owned()),
        Recognition::Infrastructure(why)
        | Recognition::Interactive(why)
        | Recognition::Idle(why) => Service::Bystander(why.clone()),
        Recognition::Unknown if alone && asks_for_probe(layers, &container.name) => {
            Service::Serves(format!("annotation {}", annotations::STARTUP_PROBE))
        }
        Recognition::Unknown => Service::Unknown,
    }
}

/// Whether the owner names a handler for the startup probe: where only one container may serve, his word can mean no other.
fn asks_for_probe(layers: &Layers, container: &str) -> bool {
    layers.startup_probe(container).is_some_and(|asked| {
        asked.source.is_object() && matches!(asked.value, StartupProbe::Handler(_))
    })
}

/// Why no pod of the template serves by itself: the others of its group serve for it.
fn follower_template(subject: &Subject<'_>, template: &PodTemplate<'_>) -> Option<String> {
    if template.part == Part::Worker && subject.templates.iter().any(|one| one.part == Part::Leader)
    {
        return Some("the worker template of a group with a leader template".to_owned());
    }
    match template.label(WORKER_INDEX) {
        Some("0") | None => {}
        Some(index) => return Some(format!("label {WORKER_INDEX}: {index}")),
    }
    (template.label(RAY_NODE) == Some("worker")).then(|| format!("label {RAY_NODE}: worker"))
}

/// The name under which starts are measured: that of the workload, which a pod's owner carries without its hash.
fn workload_name(subject: &Subject<'_>) -> String {
    let Some(owner) = subject.controller.as_ref().filter(|_| subject.is_pod()) else {
        return subject.name.clone();
    };
    match subject.label("pod-template-hash") {
        Some(hash) if owner.kind == "ReplicaSet" => owner
            .name
            .strip_suffix(hash)
            .and_then(|name| name.strip_suffix('-'))
            .unwrap_or(&owner.name)
            .to_owned(),
        _ => owner.name.clone(),
    }
}
