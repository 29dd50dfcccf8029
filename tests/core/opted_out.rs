//! Values of ours in an object that is ours no more.

use serde_json::{Value, json};

use super::updates::{after, declares, named, restart, stored, workload};

const CONTAINER: &str = "/spec/template/spec/containers/0";
const GRACE: &str = "/spec/template/spec/terminationGracePeriodSeconds";
const DEADLINE: &str = "/spec/progressDeadlineSeconds";

/// A Deployment without an accelerator, whose template opts it in.
fn opted_in() -> Value {
    let mut object = workload("Deployment", declares("15m"));
    let container = &mut object["spec"]["template"]["spec"]["containers"][0];
    container
        .as_object_mut()
        .expect("a map")
        .shift_remove("resources");
    object
}

fn opt_out(object: &mut Value) {
    object["spec"]["template"]["metadata"]["annotations"] = json!({});
}

/// The server moves to another port, and its liveness probe with it.
fn move_port(object: &mut Value) {
    let container = &mut object["spec"]["template"]["spec"]["containers"][0];
    container["args"] = json!(["--port", "9000"]);
    container["ports"] = json!([{"containerPort": 9000}]);
    container["livenessProbe"]["httpGet"]["port"] = json!(9000);
}

/// Nothing of ours is left in an object, and it does not say otherwise.
#[track_caller]
fn is_the_owners(object: &Value) {
    let container = object.pointer(CONTAINER).expect("a container");
    assert_eq!(container.get("startupProbe"), None, "{object}");
    assert_eq!(container.pointer("/lifecycle/preStop"), None, "{object}");
    assert_eq!(container["livenessProbe"]["timeoutSeconds"], 1, "{object}");
    assert_eq!(object.pointer(GRACE), Some(&json!(30)), "{object}");
    assert_eq!(object.pointer(DEADLINE), Some(&json!(600)), "{object}");
    assert!(named(object).is_empty(), "{object}");
}

#[test]
fn what_was_made_for_a_declared_time_goes_with_its_annotation() {
    let old = stored(None, &opted_in());
    assert_eq!(named(&old).len(), 5, "{old}");
    is_the_owners(&after(&old, opt_out));
    is_the_owners(&after(&old, |new| {
        opt_out(new);
        move_port(new);
    }));
    is_the_owners(&after(&after(&old, opt_out), move_port));
}

/// The webhook was not there when the object was opted out.
#[test]
fn what_was_left_goes_once_its_reasons_change() {
    let old = stored(None, &opted_in());
    let mut left = old.clone();
    opt_out(&mut left);
    let restarted = after(&left, restart);
    let startup = "/spec/template/spec/containers/0/startupProbe";
    assert_eq!(restarted.pointer(startup), old.pointer(startup));
    is_the_owners(&after(&restarted, move_port));
}

#[test]
fn nothing_goes_before_the_template_is_written() {
    let on_object = |object: &mut Value| {
        let annotations = &mut object["metadata"]["annotations"];
        annotations["warmgate.io/accelerator"] = json!("false");
    };
    let old = stored(None, &workload("Deployment", declares("15m")));
    let told = after(&old, on_object);
    assert_eq!(told["spec"], old["spec"]);
    let scaled = after(&told, |new| new["spec"]["replicas"] = json!(3));
    assert_eq!(scaled["spec"]["template"], old["spec"]["template"]);
    let waits = after(&told, |new| new["spec"]["minReadySeconds"] = json!(60));
    assert_eq!(waits.pointer(DEADLINE), old.pointer(DEADLINE));

    let mut restarted = after(&told, restart);
    let copied = "/spec/template/metadata/annotations/warmgate.io~1accelerator";
    assert_eq!(restarted.pointer(copied), Some(&json!("false")));
    let copy = "spec.template.metadata.annotations[warmgate.io/accelerator]";
    assert_eq!(named(&restarted), [copy]);
    restarted["metadata"]["annotations"] = json!({});
    is_the_owners(&restarted);
}

#[test]
fn what_serves_nobody_any_more_keeps_nothing_of_ours() {
    let with_accelerator = stored(None, &workload("Deployment", json!({})));
    for change in [
        json!({"resources": {}}),
        json!({"command": ["sleep", "infinity"], "livenessProbe": null}),
        json!({"image": "nvcr.io/nvidia/k8s/dcgm-exporter:4"}),
    ] {
        let new = after(&with_accelerator, |new| {
            let container = &mut new["spec"]["template"]["spec"]["containers"][0];
            for (key, value) in change.as_object().expect("members") {
                container[key] = value.clone();
            }
        });
        assert!(named(&new).is_empty(), "{change} {new}");
        let container = new.pointer(CONTAINER).expect("a container");
        assert_eq!(container.get("startupProbe"), None, "{change}");
        assert_eq!(new.pointer(DEADLINE), Some(&json!(600)), "{change}");
    }
}

/// The API server would refuse the update: a deadline must outlast the wait, and a grace period the sleep in it.
#[test]
fn what_the_owners_word_needs_stays_ours_until_it_does_not() {
    let old = stored(None, &opted_in());
    let needed = after(&old, |new| {
        opt_out(new);
        new["spec"]["minReadySeconds"] = json!(700);
        let container = &mut new["spec"]["template"]["spec"]["containers"][0];
        container["lifecycle"]["preStop"]["sleep"]["seconds"] = json!(40);
    });
    assert_eq!(needed.pointer(DEADLINE), old.pointer(DEADLINE));
    assert_eq!(needed.pointer(GRACE), old.pointer(GRACE));
    let numbers = [
        "spec.progressDeadlineSeconds",
        "spec.template.spec.terminationGracePeriodSeconds",
    ];
    assert_eq!(named(&needed), numbers);
    let free = after(&needed, |new| {
        new["spec"]["minReadySeconds"] = json!(0);
        new["spec"]["template"]["spec"]["containers"][0]["lifecycle"] = json!({});
        restart(new);
    });
    is_the_owners(&free);
}

/// The same where the object stays ours.
#[test]
fn a_deadline_without_reason_stays_above_the_wait() {
    let old = stored(None, &workload("Deployment", json!({})));
    let new = after(&old, |new| {
        new["spec"]["minReadySeconds"] = json!(700);
        let container = &mut new["spec"]["template"]["spec"]["containers"][0];
        container
            .as_object_mut()
            .expect("a map")
            .shift_remove("livenessProbe");
    });
    assert_eq!(
        new.pointer("/spec/template/spec/containers/0/startupProbe"),
        None
    );
    assert_eq!(new.pointer(DEADLINE), old.pointer(DEADLINE));
    assert_eq!(named(&new), ["spec.progressDeadlineSeconds"]);
}

/// Who takes the word back that he wants no part of it is looked after again, once the template is written: his word stood
/// on the object, and what stands in the template is our copy.
#[test]
fn who_opts_in_again_is_mended_again() {
    for (key, word) in [
        ("warmgate.io/accelerator", "false"),
        ("warmgate.io/mode", "warn"),
        ("warmgate.io/skip", "we tune it ourselves"),
    ] {
        let mut owners = workload("Deployment", declares("15m"));
        let mended = stored(None, &owners);
        owners["metadata"]["annotations"] = json!({key: word});
        let left_alone = stored(None, &owners);
        assert_eq!(left_alone.pointer(GRACE), Some(&json!(30)), "{key}");
        let take_back = |new: &mut Value| {
            let annotations = new["metadata"]["annotations"].as_object_mut();
            annotations.expect("a map").shift_remove(key);
        };
        let told = after(&left_alone, take_back);
        assert_eq!(told["spec"], left_alone["spec"], "{key}");
        let again = after(&told, restart);
        assert_eq!(again.pointer(GRACE), mended.pointer(GRACE), "{key}");
        assert_eq!(named(&again), named(&mended), "{key}");
        let at_once = after(&left_alone, |new| {
            take_back(new);
            restart(new);
        });
        assert_eq!(at_once, again, "{key}");
    }
}

/// What was mended before it was left alone goes on from there.
#[test]
fn what_was_mended_and_then_left_alone_is_looked_after_again() {
    let mended = stored(None, &workload("Deployment", declares("15m")));
    let left_alone = after(&mended, |new| {
        new["metadata"]["annotations"]["warmgate.io/skip"] = json!("we tune it ourselves");
        move_port(new);
    });
    let startup = "/spec/template/spec/containers/0/startupProbe";
    assert_eq!(left_alone.pointer(startup), mended.pointer(startup));
    let again = after(&left_alone, |new| {
        let annotations = new["metadata"]["annotations"].as_object_mut();
        annotations.expect("a map").shift_remove("warmgate.io/skip");
        restart(new);
    });
    let port = format!("{startup}/httpGet/port");
    assert_eq!(again.pointer(&port), Some(&json!(9000)), "{again}");
    assert_eq!(named(&again), named(&mended));
}

/// His own word in the template is no copy of ours.
#[test]
fn what_the_owner_says_in_the_template_holds() {
    let mut owners = workload("Deployment", declares("15m"));
    owners["spec"]["template"]["metadata"]["annotations"]["warmgate.io/skip"] =
        json!("we tune it ourselves");
    let left_alone = stored(None, &owners);
    let restarted = after(&left_alone, restart);
    assert_eq!(restarted.pointer(GRACE), Some(&json!(30)));
    assert!(named(&restarted).is_empty());
}

/// With `skip` nothing is written, in the one template that says so as in an object that does.
#[test]
fn what_is_skipped_keeps_what_it_has() {
    let template = workload("StatefulSet", json!({}))["spec"]["template"].clone();
    let group = json!({
        "apiVersion": "leaderworkerset.x-k8s.io/v1",
        "kind": "LeaderWorkerSet",
        "metadata": {"name": "chat"},
        "spec": {"leaderWorkerTemplate": {
            "size": 2, "leaderTemplate": template, "workerTemplate": template,
        }},
    });
    let old = stored(None, &group);
    let leader = "/spec/leaderWorkerTemplate/leaderTemplate/spec";
    assert!(named(&old).len() > 2, "{old}");
    let skipped = after(&old, |new| {
        let template = &mut new["spec"]["leaderWorkerTemplate"]["leaderTemplate"];
        template["metadata"]["annotations"]["warmgate.io/skip"] = json!("we tune it ourselves now");
        template["spec"]["containers"][0]["livenessProbe"]["httpGet"]["path"] = json!("/alive");
    });
    let mut wanted = old.clone();
    wanted.pointer_mut(leader).expect("a spec")["containers"][0]["livenessProbe"]["httpGet"]["path"] =
        json!("/alive");
    assert_eq!(skipped.pointer(leader), wanted.pointer(leader));
    assert_eq!(named(&skipped), named(&old));
}
