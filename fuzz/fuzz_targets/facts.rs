//! The files that widen what is known, and a pod judged with what they say.

#![no_main]

#[path = "../../tests/core/answered.rs"]
#[expect(dead_code, reason = "the properties use more of it")]
mod answered;
#[path = "../../tests/core/lawful.rs"]
#[expect(dead_code, reason = "the properties use more of it")]
mod lawful;

use libfuzzer_sys::fuzz_target;
use serde_json::{Value, json};
use warmgate::admit::admit;
use warmgate::facts::{Facts, Mode, Origin};
use warmgate::review::{Kind, Request};
use warmgate_fuzz::within_limits;

fuzz_target!(|bytes: &[u8]| within_limits(|| {
    let facts = Facts::new(Mode::Enforce, Origin::Admission);
    let known = [
        facts.with_facts_file("facts", bytes),
        facts.with_config_file("config", bytes),
    ];
    known.iter().flatten().for_each(judge);
}));

fn judge(facts: &Facts) {
    let object = pod();
    let request = Request {
        kind: Kind {
            group: String::new(),
            version: "v1".to_owned(),
            kind: "Pod".to_owned(),
        },
        namespace: "team".to_owned(),
        object: Some(object.clone()),
        ..Request::default()
    };
    let patch = admit(&request, facts).patch;
    assert_eq!(answered::objection_to_operations(&patch.0, &object), None);
}

fn pod() -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "chat", "namespace": "team"},
        "spec": {
            "containers": [{
                "name": "engine",
                "image": "vllm/vllm-openai:v0.10.0",
                "livenessProbe": {"httpGet": {"path": "/health", "port": 8000}},
                "resources": {"limits": {"nvidia.com/gpu": "1"}, "claims": [{"name": "gpu"}]},
            }],
            "resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": "gpu"}],
        },
    })
}
