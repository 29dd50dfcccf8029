//! What the values add to what the program knows: servers, accelerators, device classes and fractions.

use std::fs;

use serde_json::{Value, json};
use warmgate::admit::Outcome;
use warmgate::facts::Facts;
use warmgate::knowledge::{DeviceClass, Knowledge};

use super::values::configured;
use super::{VARIATIONS, of_kind, render};
use crate::harness::folders;
use crate::suites::judgement::decide;

/// The variation that adds rows of every list.
pub(in crate::suites) const VARIATION: (&str, &str) = VARIATIONS[12];

fn entries(objects: &[Value]) -> Vec<Value> {
    let configurations = [
        "MutatingWebhookConfiguration",
        "ValidatingWebhookConfiguration",
    ];
    let entries = configurations.into_iter().flat_map(|kind| {
        let entries = of_kind(objects, kind)[0]["webhooks"].as_array();
        entries.cloned().unwrap_or_default()
    });
    entries.collect()
}

/// Rows of the values are what the judgement goes by.
pub(in crate::suites) fn reaches_the_judgement() {
    let (name, values) = VARIATION;
    let facts = configured(name, values);
    for (resource, asks) in [
        ("example.com/npu", true),
        ("example.com/npu-2", true),
        ("example.com/npu-monitor", false),
        ("nvidia.com/gpu", true),
    ] {
        assert_eq!(facts.knowledge.accelerator(resource), asks, "{resource}");
    }
    for (class, expected) in [
        ("npu.example.com", DeviceClass::Accelerator),
        ("npu-monitor.example.com", DeviceClass::Other),
    ] {
        assert_eq!(facts.knowledge.device_class(class), expected, "{class}");
    }
    let startup = "/spec/containers/1/startupProbe";
    let written = |facts: &Facts, pod: &Value| {
        let mut pod = pod.clone();
        let decision = decide(facts, "team", &pod);
        json_patch::patch(&mut pod, &decision.patch).expect("a patch that applies");
        (decision.outcome, pod.pointer(startup).cloned())
    };
    let by_resource = pod(|pod| {
        pod["spec"]["containers"][1]["resources"] = json!({"limits": {"example.com/npu": "1"}});
    });
    let by_fraction = pod(|pod| {
        pod["metadata"]["annotations"] =
            json!({"example.com/npu-share": "0.5", "example.com/npu-holder": "server"});
    });
    for pod in [by_resource, by_fraction] {
        let (outcome, probe) = written(&facts, &pod);
        assert_eq!(outcome, Outcome::Allowed, "{pod}");
        let probe = probe.expect("its server is known");
        assert_eq!(probe["httpGet"], json!({"path": "/ready", "port": 7000}));
        // Nobody knows of it otherwise.
        let (outcome, probe) = written(&configured("nothing", ""), &pod);
        assert!(matches!(outcome, Outcome::Skipped(_)), "{outcome:?}");
        assert_eq!(probe, None);
    }
}

/// A pod with a helper, and with the server that the variation describes.
fn pod(change: impl FnOnce(&mut Value)) -> Value {
    let mut pod = json!({
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p"},
        "spec": {"containers": [
            {"name": "helper", "image": "registry.example.com/helper:1"},
            {"name": "server", "image": "registry.example.com/team/our-server:1"},
        ]},
    });
    change(&mut pod);
    pod
}

/// What the judgement takes for an accelerator because of the values, the API server asks about, in every entry.
pub(in crate::suites) fn agrees_with_the_conditions() {
    let mut seen = 0;
    for (name, values) in VARIATIONS {
        let objects = render(values);
        for entry in entries(&objects) {
            let ours = entry["matchConditions"][2]["expression"].as_str();
            let ours = ours.unwrap_or_default();
            for text in looked_for(&objects) {
                assert!(ours.contains(&text), "{name}: {text} is not in {ours}");
                seen += 1;
            }
        }
    }
    assert!(seen > 40, "only {seen}");
}

/// How the conditions look for the rows of the configuration that say what is ours.
fn looked_for(objects: &[Value]) -> Vec<String> {
    let files = of_kind(objects, "ConfigMap");
    let mut files = files
        .iter()
        .filter_map(|map| map["data"]["config.yaml"].as_str());
    let config = &super::objects(files.next().unwrap_or_default())[0];
    let rows = |list: &str, member: &str| -> Vec<String> {
        let rows = config["knowledge"][list].as_array().into_iter().flatten();
        rows.flat_map(|row| super::texts(&row[member]))
            .map(str::to_owned)
            .collect()
    };
    let resources = ["accelerators", "notAccelerators"].map(|list| rows(list, "names"));
    let resources = resources.into_iter().flatten().map(|name| {
        if name.contains('*') {
            let expression = name.replace('.', "[.]").replace('*', ".*");
            format!("k.matches('^{expression}$')")
        } else {
            format!("k == '{name}'")
        }
    });
    let fractions = rows("fractions", "annotations").into_iter();
    let fractions = fractions.map(|key| format!(", '{key}'"));
    resources.chain(fractions).collect()
}

/// Whatever stands in the files of the program may stand in the values.
pub(in crate::suites) fn takes_the_form_of_the_files() {
    let mut values = "knowledge:\n".to_owned();
    for file in ["accelerators.yaml", "servers.yaml"] {
        let file = folders::package().join("knowledge").join(file);
        let text = fs::read_to_string(&file).unwrap_or_else(|error| panic!("{error}"));
        for line in text.lines() {
            values.push_str(&format!("  {line}\n"));
        }
    }
    let facts = configured("the files", &values);
    let ids = |knowledge: &Knowledge| -> Vec<String> {
        let presets = knowledge.presets().iter();
        presets.map(|preset| preset.id().to_owned()).collect()
    };
    assert_eq!(ids(&facts.knowledge), ids(&Knowledge::builtin()));
}
