//! What values of ours were made from, and what becomes of them when an update changes it.

use serde_json::{Value, json};

use super::updates::{after, named, stored, workload};

const STARTUP: &str = "/spec/template/spec/containers/0/startupProbe";
const PRESTOP: &str = "/spec/template/spec/containers/0/lifecycle/preStop";
const GRACE: &str = "/spec/template/spec/terminationGracePeriodSeconds";
const DEADLINE: &str = "/spec/progressDeadlineSeconds";

const VLLM: &str = "vllm/vllm-openai:v0.11.0";
const TGI: &str = "ghcr.io/huggingface/text-generation-inference:3";
const LLAMA: &str = "ghcr.io/ggml-org/llama.cpp:server-cuda";
const NIM: &str = "nvcr.io/nim/meta/llama-3.1-8b-instruct:1.8";
const UNKNOWN: &str = "registry.example/own/server:1.4";

/// A Deployment of that image, started by its entry point, without a probe.
fn served_by(image: &str) -> Value {
    let mut object = workload("Deployment", json!({}));
    let container = &mut object["spec"]["template"]["spec"]["containers"][0];
    let members = container.as_object_mut().expect("a container");
    members.shift_remove("livenessProbe");
    members.shift_remove("ports");
    container["image"] = json!(image);
    object
}

fn image(image: &str) -> impl Fn(&mut Value) {
    move |object| object["spec"]["template"]["spec"]["containers"][0]["image"] = json!(image)
}

/// What is in force, without the maps that were made for what is gone.
fn in_force(object: &Value) -> [Option<Value>; 4] {
    [STARTUP, PRESTOP, GRACE, DEADLINE].map(|field| object.pointer(field).cloned())
}

/// The mended object with a change is as if it had been created so.
#[track_caller]
fn becomes_what_a_new_one_is(owners: &Value, change: impl Fn(&mut Value)) -> (Value, Value) {
    let old = stored(None, owners);
    let changed = after(&old, &change);
    let mut fresh = owners.clone();
    change(&mut fresh);
    let fresh = stored(None, &fresh);
    assert_eq!(in_force(&changed), in_force(&fresh), "{changed}");
    assert_eq!(named(&changed), named(&fresh));
    (old, changed)
}

#[test]
fn a_preset_goes_with_the_server_that_it_was_made_for() {
    for (before, then) in [(TGI, VLLM), (VLLM, TGI), (LLAMA, VLLM), (VLLM, NIM)] {
        let (old, new) = becomes_what_a_new_one_is(&served_by(before), image(then));
        assert!(new.pointer(STARTUP).is_some(), "{then}");
        assert_ne!(old.pointer(STARTUP), new.pointer(STARTUP), "{then}");
    }
    let (old, new) = becomes_what_a_new_one_is(&served_by(VLLM), image(UNKNOWN));
    assert_eq!(old.pointer(DEADLINE), Some(&json!(3900)));
    assert_eq!(new.pointer(STARTUP), None);
    assert_eq!(new.pointer(DEADLINE), Some(&json!(600)));
    assert!(named(&new).is_empty(), "{new}");
}

/// The variables of a ConfigMap may name another port.
#[test]
fn a_preset_goes_where_the_port_is_certain_no_more() {
    let (old, new) = becomes_what_a_new_one_is(&served_by(TGI), |object| {
        object["spec"]["template"]["spec"]["containers"][0]["envFrom"] =
            json!([{"configMapRef": {"name": "settings"}}]);
    });
    assert!(old.pointer(STARTUP).is_some());
    assert_eq!(new.pointer(STARTUP), None);
}

/// So may those that a script reads from a file, as the Vault agent writes one.
#[test]
fn a_preset_goes_where_a_script_reads_variables_from_a_file() {
    let script = ". /vault/secrets/env && exec text-generation-launcher --model-id m";
    let (old, new) = becomes_what_a_new_one_is(&served_by(TGI), |object| {
        object["spec"]["template"]["spec"]["containers"][0]["command"] =
            json!(["sh", "-c", script]);
    });
    assert!(old.pointer(STARTUP).is_some());
    assert_eq!(new.pointer(STARTUP), None);
}

/// The object as an earlier release would have written it, with another window.
fn of_another_release(object: &Value) -> Value {
    let text = object.to_string();
    let text = text.replace("\"failureThreshold\":361", "\"failureThreshold\":200");
    let text = text.replace(
        "\\\"failureThreshold\\\":361",
        "\\\"failureThreshold\\\":200",
    );
    serde_json::from_str(&text).expect("JSON")
}

#[test]
fn another_release_of_the_same_server_changes_nothing() {
    let old = of_another_release(&stored(None, &served_by(VLLM)));
    let new = after(&old, image("vllm/vllm-openai:v0.11.1"));
    assert_eq!(in_force(&new), in_force(&old));
    assert_eq!(
        new.pointer(STARTUP).expect("ours")["failureThreshold"],
        json!(200)
    );
}

#[test]
fn a_handler_that_was_copied_is_not_made_anew_for_another_image() {
    let old = of_another_release(&stored(None, &workload("Deployment", json!({}))));
    let new = after(&old, image("registry.example/another/server:2"));
    assert_eq!(in_force(&new), in_force(&old));
    let new = after(&old, |object| {
        image(VLLM)(object);
        object["spec"]["template"]["metadata"]["labels"]["version"] = json!("2");
    });
    assert_eq!(in_force(&new), in_force(&old));
}

/// A server that needs longer to drain than usual is the reason of a longer grace period.
#[test]
fn a_grace_period_goes_with_the_server_that_it_was_made_for() {
    for (before, then) in [(TGI, VLLM), (VLLM, TGI), (NIM, VLLM), (VLLM, NIM)] {
        becomes_what_a_new_one_is(&served_by(before), image(then));
    }
}

/// A LeaderWorkerSet whose leader has a liveness probe.
fn group(policy: &str) -> Value {
    let template = workload("StatefulSet", json!({}))["spec"]["template"].clone();
    json!({
        "apiVersion": "leaderworkerset.x-k8s.io/v1",
        "kind": "LeaderWorkerSet",
        "metadata": {"name": "chat"},
        "spec": {"startupPolicy": policy, "leaderWorkerTemplate": {
            "size": 2, "leaderTemplate": template, "workerTemplate": template,
        }},
    })
}

const LEADER: &str = "/spec/leaderWorkerTemplate/leaderTemplate/spec/containers/0/startupProbe";

/// Once the workers wait for the leader to be Ready, a startup probe would wait for them.
#[test]
fn a_startup_probe_goes_where_peers_come_to_wait_for_ready() {
    let old = stored(None, &group("LeaderCreated"));
    assert!(old.pointer(LEADER).is_some());
    let waits = after(&old, |new| {
        new["spec"]["startupPolicy"] = json!("LeaderReady")
    });
    assert_eq!(
        waits.pointer(LEADER),
        old.pointer(LEADER),
        "no template is written"
    );
    let labelled = |policy: &'static str| {
        move |new: &mut Value| {
            new["spec"]["startupPolicy"] = json!(policy);
            let template = &mut new["spec"]["leaderWorkerTemplate"]["leaderTemplate"];
            template["metadata"]["labels"]["version"] = json!("2");
        }
    };
    let gated = after(&old, labelled("LeaderReady"));
    assert_eq!(gated.pointer(LEADER), None);
    let mut free = after(&gated, |new| {
        labelled("LeaderCreated")(new);
        let template = &mut new["spec"]["leaderWorkerTemplate"]["leaderTemplate"];
        template["metadata"]["labels"]["version"] = json!("3");
    });
    free["spec"]["leaderWorkerTemplate"]["leaderTemplate"]["metadata"]["labels"] =
        old["spec"]["leaderWorkerTemplate"]["leaderTemplate"]["metadata"]["labels"].clone();
    assert_eq!(free, old);
}

#[test]
fn a_sleep_is_short_once_the_pods_run_on_spot_capacity_only() {
    let owners = workload("Deployment", json!({}));
    let spot = |object: &mut Value| {
        object["spec"]["template"]["spec"]["nodeSelector"] =
            json!({"cloud.google.com/gke-spot": "true"});
    };
    let (old, new) = becomes_what_a_new_one_is(&owners, spot);
    let sleeps = |seconds: i64| json!({"sleep": {"seconds": seconds}});
    assert_eq!(old.pointer(PRESTOP), Some(&sleeps(15)));
    assert_eq!(old.pointer(GRACE), Some(&json!(75)));
    assert_eq!(new.pointer(PRESTOP), Some(&sleeps(5)));
    assert_eq!(new.pointer(GRACE), Some(&json!(30)));
    let back = after(&new, |object| {
        let spec = &mut object["spec"]["template"]["spec"];
        spec.as_object_mut()
            .expect("a map")
            .shift_remove("nodeSelector");
    });
    assert_eq!(back, old);
}
