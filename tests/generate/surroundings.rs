//! What is known besides the object.

use std::sync::Arc;

use serde_json::{Map, Value};
use warmgate::facts::{
    Claims, Cluster, Config, DeviceRequest, Facts, Mode, Neighbours, Origin, Override, Version,
};
use warmgate::words::Severity;

use super::{Source, annotations};

pub(super) fn facts(source: &mut Source<'_>) -> Facts {
    let mode = source.one(&[
        Mode::Enforce,
        Mode::Enforce,
        Mode::Fix,
        Mode::Warn,
        Mode::Audit,
    ]);
    let origin = source.one(&[Origin::Admission, Origin::Admission, Origin::File]);
    let mut facts = Facts::new(mode, origin);
    facts.cluster = Arc::new(cluster(source));
    if source.chance(6) {
        facts.kubernetes = Version { minor: 29 };
    }
    if source.chance(6) {
        facts.config = Arc::new(config(source));
    }
    if origin == Origin::File {
        facts.neighbours = Some(Arc::new(neighbours(source)));
    }
    facts
}

fn cluster(source: &mut Source<'_>) -> Cluster {
    let mut cluster = Cluster::default();
    let request = |class: &str| DeviceRequest {
        name: "r".to_owned(),
        classes: vec![class.to_owned()],
        admin_access: false,
    };
    let claims: Vec<(String, Vec<DeviceRequest>)> = [
        ("gpu", "gpu.nvidia.com"),
        ("nic", "dra.net"),
        ("unknown-class", "things.example.com"),
    ]
    .into_iter()
    .map(|(name, class)| (format!("team/{name}"), vec![request(class)]))
    .collect();
    cluster.claims = Claims {
        templates: claims.iter().cloned().collect(),
        claims: claims.into_iter().collect(),
    };
    if source.chance(4) {
        let mut defaults: Map<String, Value> = Map::new();
        annotations::add(source, &mut defaults);
        cluster.namespaces.insert("team".to_owned(), defaults);
    }
    if source.chance(4) {
        cluster
            .starts
            .insert("team/chat/engine".to_owned(), source.one(&[30, 900, 5000]));
    }
    cluster
}

fn config(source: &mut Source<'_>) -> Config {
    let mut config = Config::default();
    let overrides = Override {
        skip: false,
        allow: vec![Severity::Warn],
        step_down: false,
    };
    match source.below(4) {
        0 => drop(config.overrides.insert(Mode::Enforce, overrides)),
        1 => config.own_namespace = Some("team".to_owned()),
        2 => config.limits.max_startup_time = 600,
        _ => config.edits.pre_stop = false,
    }
    config
}

fn neighbours(source: &mut Source<'_>) -> Neighbours {
    let mut neighbours = Neighbours::default();
    let namespace = source.one(&["team", ""]);
    if source.chance(2) {
        let service = source.one(&["vllm", "chat", "sglang", "ollama"]);
        neighbours
            .services
            .insert(namespace.to_owned(), vec![service.to_owned()]);
    }
    if source.chance(2) {
        let selector = serde_json::json!({"matchLabels": {"app": source.word(&["chat", "other"])}});
        neighbours
            .disruption_budgets
            .insert(namespace.to_owned(), [selector].into_iter().collect());
    }
    neighbours
}
