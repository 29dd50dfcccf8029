//! The simulated kubelet: drawn pods whose timelines must make sense, drawn starts that must stay within the bounds, and the
//! explanation of a pod whose probes have any numbers.

#![no_main]

#[path = "simulator/random.rs"]
mod conformance;
#[path = "../../tests/core/explained.rs"]
mod explained;
#[path = "../../tests/generate/mod.rs"]
#[expect(dead_code, unused_imports, reason = "the properties use more of it")]
mod generate;
#[path = "../../tests/core/kubelet.rs"]
#[expect(dead_code, unused_imports, reason = "the tests use more of it")]
mod kubelet;
#[path = "../../tests/core/kubelet_bounds.rs"]
#[expect(dead_code, unused_imports, reason = "the tests use more of it")]
mod kubelet_bounds;
#[path = "../../tests/core/kubelet_law.rs"]
#[expect(dead_code, unused_imports, reason = "the tests use more of it")]
mod kubelet_law;
#[path = "../../tests/core/kubelet_random.rs"]
mod kubelet_random;

use libfuzzer_sys::fuzz_target;
use serde_json::{Map, Value, json};
use warmgate::kubelet::Kubelet;
use warmgate::report;
use warmgate::words::Seconds;
use warmgate_fuzz::within_limits;

use crate::conformance::Random;

fuzz_target!(|bytes: &[u8]| within_limits(|| {
    let random = &mut Random::of_bytes(bytes);
    // An explanation may simulate days of seconds, and takes hundreds of times as long as the others.
    match random.of(0, 255) {
        0..128 => drop(kubelet_random::drawn_timeline(random)),
        128..255 => kubelet_bounds::check_case::<Kubelet>(random).expect("the bounds hold"),
        _ => explain(random),
    }
}));

/// Explains a pod of which only the numbers are strange.
fn explain(random: &mut Random) {
    let object = json!({
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "chat", "annotations": {"warmgate.io/max-startup-time": number(random).to_string()}},
        "spec": {
            "terminationGracePeriodSeconds": number(random),
            "containers": [{
                "name": "engine",
                "image": "vllm/vllm-openai:v0.10.0",
                "resources": {"limits": {"nvidia.com/gpu": 1}},
                "livenessProbe": probe(random),
                "readinessProbe": probe(random),
                "startupProbe": probe(random),
                "lifecycle": {"preStop": {"sleep": {"seconds": number(random)}}},
            }],
        },
    });
    let load = random.percent(50).then(|| Seconds(random.of(1, 86_400)));
    let explained = explained::explained(&object, load);
    assert!(!explained.text.is_empty());
    report::svg(&explained.pictures);
}

fn probe(random: &mut Random) -> Value {
    if random.percent(30) {
        return Value::Null;
    }
    let mut probe = Map::new();
    probe.insert(
        "httpGet".to_owned(),
        json!({"path": "/health", "port": 8000}),
    );
    for name in [
        "failureThreshold",
        "initialDelaySeconds",
        "periodSeconds",
        "successThreshold",
        "terminationGracePeriodSeconds",
        "timeoutSeconds",
    ] {
        if random.percent(60) {
            probe.insert(name.to_owned(), json!(number(random)));
        }
    }
    Value::Object(probe)
}

/// A number as people write it, or as they should not.
fn number(random: &mut Random) -> i64 {
    match random.of(0, 3) {
        0 => random.of(0, 20),
        1 => random.of(0, 5_000),
        2 => random.of(-10, 1_000_000),
        _ => random.of(i64::from(i32::MIN), i64::from(i32::MAX)),
    }
}
