//! An object that was mended before, and what its owner, or an injector, made of it since.

use serde_json::{Map, Value, json};
use warmgate::admit::admit;
use warmgate::facts::{Facts, Mode};
use warmgate::review::Request;

use super::{Drawn, Source, annotations, container, replace};

/// An old and a new version of an object.
#[derive(Clone, Debug)]
pub(crate) struct Update {
    /// The object as its owner wrote it first.
    pub(crate) owners: Value,
    /// What was made of it when it was created: what is stored.
    pub(crate) old: Value,
    /// What the owner sends now.
    pub(crate) new: Value,
    pub(crate) drawn: Drawn,
}

impl Update {
    /// The request of the update.
    pub(crate) fn request(&self) -> Request {
        replace(&self.old, &self.new, self.drawn.namespace)
    }

    /// The facts of an API server that asks in a mode that edits.
    pub(crate) fn facts(&self) -> Facts {
        self.drawn.admission(self.drawn.facts.mode.max(Mode::Fix))
    }
}

pub(super) fn draw(source: &mut Source<'_>) -> Update {
    let drawn = super::draw(source);
    let facts = drawn.admission(drawn.facts.mode.max(Mode::Fix));
    let mut old = drawn.object.clone();
    let patch = admit(&drawn.create(), &facts).patch;
    json_patch::patch(&mut old, &patch).expect("the patch of a creation applies");
    let mut new = old.clone();
    for _ in 0..source.one(&[1, 1, 2, 3, 0]) {
        edit(source, &mut new);
    }
    Update {
        owners: drawn.object.clone(),
        old,
        new,
        drawn,
    }
}

/// One change as an owner makes it.
fn edit(source: &mut Source<'_>, object: &mut Value) {
    match source.below(24) {
        0 => set(object, "/spec/replicas", source.number(&[3, 5])),
        1 => set(
            object,
            "/spec/progressDeadlineSeconds",
            source.number(&[600, 900, 10_000]),
        ),
        2 => set(object, "/spec/minReadySeconds", json!(60)),
        3 => annotate(source, object, ""),
        4 => drop(
            object
                .pointer_mut("/metadata/annotations")
                .and_then(Value::as_object_mut)
                .map(Map::clear),
        ),
        5 => {
            if let Some(members) = object
                .pointer_mut("/metadata/annotations")
                .and_then(Value::as_object_mut)
            {
                members.shift_remove("warmgate.io/changes");
            }
        }
        6 => set(
            object,
            "/spec/startupPolicy",
            source.word(&["LeaderReady", "LeaderCreated"]),
        ),
        kind => {
            let specs = pod_specs(object);
            if specs.is_empty() {
                return;
            }
            let spec = specs[source.below(specs.len())].clone();
            match kind {
                7 => annotate(source, object, spec.trim_end_matches("/spec")),
                8 => set(
                    object,
                    &format!("{spec}/terminationGracePeriodSeconds"),
                    source.number(&[30, 10, 120, 75]),
                ),
                9 => inject(object, &spec, sidecar()),
                10 => set(
                    object,
                    &format!("{spec}/nodeSelector"),
                    json!({"cloud.google.com/gke-spot": "true"}),
                ),
                11 => set(
                    object,
                    &format!("{}/metadata/annotations", spec.trim_end_matches("/spec")),
                    json!({}),
                ),
                12 => lose_what_was_applied(object, &spec),
                _ => edit_container(source, object, &spec),
            }
        }
    }
}

/// Takes a startup probe away that the record of an earlier apply names: the record comes in as it was.
fn lose_what_was_applied(object: &mut Value, spec: &str) {
    let container = object
        .pointer_mut(&format!("{spec}/containers/0"))
        .and_then(Value::as_object_mut);
    let Some(container) = container else {
        return;
    };
    container.shift_remove("startupProbe");
    let named = json!({"containers": [{"name": container.get("name"), "startupProbe": {}}]});
    let steps = spec.trim_start_matches('/').split('/');
    let applied = steps.rfold(named, |below, step| json!({ step: below }));
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        let key = "kubectl.kubernetes.io/last-applied-configuration";
        merge(metadata, "annotations", key, json!(applied.to_string()));
    }
}

/// Images of several servers, and of what serves nobody.
const IMAGES: [&str; 5] = [
    "registry.example/vllm-openai:v0.12.0",
    "ghcr.io/huggingface/text-generation-inference:3",
    "nvcr.io/nim/meta/llama-3.1-8b-instruct:1.8",
    "registry.example/own/server:1.4",
    "nvcr.io/nvidia/k8s/dcgm-exporter:4",
];

fn edit_container(source: &mut Source<'_>, object: &mut Value, spec: &str) {
    let containers = object
        .pointer_mut(&format!("{spec}/containers"))
        .and_then(Value::as_array_mut);
    let Some(containers) = containers.filter(|containers| !containers.is_empty()) else {
        return;
    };
    let index = source.below(containers.len());
    let Some(members) = containers[index].as_object_mut() else {
        return;
    };
    let role = source.one(&["livenessProbe", "readinessProbe", "startupProbe"]);
    match source.below(12) {
        0 => drop(members.insert("image".to_owned(), source.word(&IMAGES))),
        1 => drop(members.insert("ports".to_owned(), container::ports(source))),
        2 => drop(members.insert("env".to_owned(), container::env(source))),
        3 => drop(members.insert(
            "args".to_owned(),
            json!(["--model", "acme/chat", "--port", "9000"]),
        )),
        4 => drop(members.insert(role.to_owned(), container::probe(source))),
        5 => drop(members.shift_remove(role)),
        6 => {
            let (handler, value) = container::handler(source);
            merge(members, role, handler, value);
        }
        7 => {
            let field = source.one(&[
                "timeoutSeconds",
                "failureThreshold",
                "periodSeconds",
                "initialDelaySeconds",
            ]);
            merge(members, role, field, source.number(&[1, 5, 7, 60]));
        }
        8 => {
            let hook = json!({"command": ["sleep", source.word(&["20", "40"])]});
            merge(members, "lifecycle", "preStop", json!({}));
            if let Some(lifecycle) = members.get_mut("lifecycle").and_then(Value::as_object_mut) {
                merge(lifecycle, "preStop", "exec", hook);
            }
        }
        9 => drop(members.shift_remove("resources")),
        10 => drop(members.insert(
            "envFrom".to_owned(),
            json!([{"configMapRef": {"name": "settings"}}]),
        )),
        _ => drop(members.insert("lifecycle".to_owned(), container::lifecycle(source))),
    }
}

/// Sets a member of a map that may be there already, as a merge patch does. An empty map only makes sure that one is there.
fn merge(members: &mut Map<String, Value>, map: &str, key: &str, value: Value) {
    let inner = members.entry(map).or_insert_with(|| json!({}));
    if let Some(inner) = inner.as_object_mut() {
        if value.as_object().is_some_and(Map::is_empty) {
            inner.entry(key).or_insert(value);
        } else {
            inner.insert(key.to_owned(), value);
        }
    }
}

fn annotate(source: &mut Source<'_>, object: &mut Value, home: &str) {
    let Some(home) = object.pointer_mut(home).and_then(Value::as_object_mut) else {
        return;
    };
    let (key, value) = annotations::entry(source);
    let metadata = home.entry("metadata").or_insert_with(|| json!({}));
    if let Some(metadata) = metadata.as_object_mut() {
        merge(metadata, "annotations", &key, value);
    }
}

fn set(object: &mut Value, pointer: &str, value: Value) {
    let (parent, key) = pointer.rsplit_once('/').expect("a pointer has a slash");
    if let Some(members) = object.pointer_mut(parent).and_then(Value::as_object_mut) {
        members.insert(key.to_owned(), value);
    }
}

/// Where the pod specs of an object stand.
fn pod_specs(object: &Value) -> Vec<String> {
    const PLACES: [&str; 5] = [
        "/spec",
        "/spec/template/spec",
        "/spec/jobTemplate/spec/template/spec",
        "/spec/leaderWorkerTemplate/leaderTemplate/spec",
        "/spec/leaderWorkerTemplate/workerTemplate/spec",
    ];
    let is_spec = |place: &&str| {
        object
            .pointer(place)
            .is_some_and(|spec| spec["containers"].is_array())
    };
    PLACES
        .into_iter()
        .filter(is_spec)
        .map(str::to_owned)
        .collect()
}

/// The object with a sidecar in front of the containers of every pod, as an injector puts it there.
pub(crate) fn inject_sidecar(object: &Value) -> Value {
    let mut injected = object.clone();
    for spec in pod_specs(object) {
        inject(&mut injected, &spec, sidecar());
    }
    injected
}

/// Whether every container has a name, by which it is found again once another is put before it.
pub(crate) fn is_named(object: &Value) -> bool {
    pod_specs(object).iter().all(|spec| {
        let containers = object
            .pointer(spec)
            .and_then(|spec| spec["containers"].as_array());
        containers
            .into_iter()
            .flatten()
            .all(|container| container["name"].is_string())
    })
}

fn inject(object: &mut Value, spec: &str, sidecar: Value) {
    let containers = object
        .pointer_mut(&format!("{spec}/containers"))
        .and_then(Value::as_array_mut);
    if let Some(containers) = containers
        && !containers
            .iter()
            .any(|container| container["name"] == sidecar["name"])
    {
        containers.insert(0, sidecar);
    }
}

fn sidecar() -> Value {
    json!({
        "name": "log-agent",
        "image": "registry.example/agent:1",
        "readinessProbe": {"httpGet": {"path": "/healthz", "port": 15021}, "timeoutSeconds": 1},
        "lifecycle": {"preStop": {"exec": {"command": ["sleep", "5"]}}},
    })
}
