//! Values of ours over what their owner does with a workload: one step after the other, each mended as in `enforce`.

use serde_json::{Value, json};
use warmgate::admit::{Endpoint, admit};
use warmgate::facts::{Facts, Mode, Origin};
use warmgate::review::{Kind, Operation, Request};
use warmgate::subject::group_and_kind;

const STARTUP: &str = "/spec/template/spec/containers/0/startupProbe";
const PRESTOP: &str = "/spec/template/spec/containers/0/lifecycle/preStop";
const DEADLINE: &str = "/spec/progressDeadlineSeconds";
const TEMPLATE_TIME: &str = "/spec/template/metadata/annotations/warmgate.io~1max-startup-time";
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// A workload with an accelerator, a liveness probe and annotations in its template, as an API server defaults it.
pub(super) fn workload(kind: &str, annotations: Value) -> Value {
    let mut object = json!({
        "apiVersion": "apps/v1",
        "kind": kind,
        "metadata": {"name": "chat"},
        "spec": {"template": {
            "metadata": {"labels": {"app": "chat"}, "annotations": annotations},
            "spec": {"terminationGracePeriodSeconds": 30, "containers": [{
                "name": "engine",
                "image": "registry.example/own/server:1.4",
                "ports": [{"containerPort": 8000}],
                "resources": {"limits": {"nvidia.com/gpu": "1"}},
                "livenessProbe": {
                    "httpGet": {"path": "/health", "port": 8000, "scheme": "HTTP"},
                    "periodSeconds": 10, "timeoutSeconds": 1, "failureThreshold": 3, "successThreshold": 1,
                },
            }]},
        }},
    });
    if kind == "Deployment" {
        object["spec"]["progressDeadlineSeconds"] = json!(600);
        object["spec"]["strategy"] = json!({
            "type": "RollingUpdate", "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": "25%"},
        });
    }
    object
}

pub(super) fn declares(time: &str) -> Value {
    json!({"warmgate.io/max-startup-time": time})
}

/// What is stored of an object that is created, or that replaces `old`.
#[track_caller]
pub(super) fn stored(old: Option<&Value>, new: &Value) -> Value {
    told(old, new).0
}

/// The same, and what its owner reads of the changes.
#[track_caller]
fn told(old: Option<&Value>, new: &Value) -> (Value, Vec<String>) {
    let (group, kind) = group_and_kind(new).unwrap_or_default();
    let request = |object: &Value| Request {
        uid: "step".to_owned(),
        kind: Kind {
            group: group.to_owned(),
            version: "v1".to_owned(),
            kind: kind.to_owned(),
        },
        namespace: "team".to_owned(),
        operation: old.map_or(Operation::Create, |_| Operation::Update),
        object: Some(object.clone()),
        old_object: old.cloned(),
        ..Request::default()
    };
    let facts = Facts::new(Mode::Enforce, Origin::Admission);
    let mut object = new.clone();
    let decision = admit(&request(&object), &facts);
    json_patch::patch(&mut object, &decision.patch).expect("a patch that applies");
    let again = admit(&request(&object), &facts);
    assert!(again.patch.0.is_empty(), "{}", json!(again.patch));
    let answer = again.response(Endpoint::Validate);
    assert!(answer.allowed, "{:?}\n{object}", answer.message);
    (object, decision.response(Endpoint::Mutate).warnings)
}

/// What is stored of `old` with a change.
#[track_caller]
pub(super) fn after(old: &Value, change: impl FnOnce(&mut Value)) -> Value {
    let mut new = old.clone();
    change(&mut new);
    stored(Some(old), &new)
}

/// What `kubectl rollout restart` changes.
pub(super) fn restart(object: &mut Value) {
    object["spec"]["template"]["metadata"]["annotations"]["kubectl.kubernetes.io/restartedAt"] =
        json!("now");
}

/// The fields that `changes` names.
pub(super) fn named(object: &Value) -> Vec<String> {
    let text = object["metadata"]["annotations"]["warmgate.io/changes"].as_str();
    let changes: Value = serde_json::from_str(text.unwrap_or("{}")).expect("JSON");
    let members = changes.as_object().expect("a map");
    members.keys().cloned().collect()
}

fn threshold(object: &Value) -> i64 {
    let threshold = object.pointer(&format!("{STARTUP}/failureThreshold"));
    threshold.and_then(Value::as_i64).expect("a startup probe")
}

#[test]
fn what_came_onto_the_metadata_counts_once_the_template_is_written() {
    let old = stored(None, &workload("Deployment", json!({})));
    assert_eq!(threshold(&old), 361);
    let annotated = after(&old, |new| {
        new["metadata"]["annotations"]["warmgate.io/max-startup-time"] = json!("2h");
    });
    assert_eq!(annotated["spec"], old["spec"]);
    let restarted = after(&annotated, restart);
    assert_eq!(restarted.pointer(TEMPLATE_TIME), Some(&json!("2h")));
    assert_eq!(threshold(&restarted), 901);
    assert_eq!(restarted.pointer(DEADLINE), Some(&json!(9300)));
    let shortened = after(&restarted, |new| {
        new["metadata"]["annotations"]["warmgate.io/max-startup-time"] = json!("15m");
    });
    assert_eq!(shortened["spec"], restarted["spec"]);
    let restarted = after(&shortened, |new| {
        new["spec"]["template"]["metadata"]["labels"]["version"] = json!("2");
    });
    assert_eq!(restarted.pointer(TEMPLATE_TIME), Some(&json!("15m")));
    assert_eq!(threshold(&restarted), 114);
}

#[test]
fn a_restart_leaves_what_came_with_constants_of_another_release() {
    let mut old = stored(None, &workload("Deployment", json!({})));
    old["metadata"]["annotations"]["warmgate.io/max-startup-time"] = json!("15m");
    let old = after(&old, restart);
    let text = old.to_string();
    let earlier = text.replace("\"failureThreshold\":114", "\"failureThreshold\":200");
    let earlier = earlier.replace(
        "\\\"failureThreshold\\\":114",
        "\\\"failureThreshold\\\":200",
    );
    let earlier: Value = serde_json::from_str(&earlier).expect("JSON");
    assert_eq!(threshold(&earlier), 200);
    let restarted = after(&earlier, |new| {
        new["spec"]["template"]["metadata"]["labels"]["version"] = json!("2");
    });
    assert_eq!(threshold(&restarted), 200);
}

#[test]
fn a_rollout_that_the_template_asked_for_goes_with_its_annotation() {
    let asks = json!({"warmgate.io/rollout": "no-surge"});
    let old = stored(None, &workload("Deployment", asks));
    let rolling = "/spec/strategy/rollingUpdate";
    let none = json!({"maxSurge": 0, "maxUnavailable": 1});
    assert_eq!(old.pointer(rolling), Some(&none));
    let without = after(&old, |new| {
        new["spec"]["template"]["metadata"]["annotations"] = json!({});
    });
    let quarters = json!({"maxSurge": "25%", "maxUnavailable": "25%"});
    assert_eq!(without.pointer(rolling), Some(&quarters));
}

/// The API server wants a deadline that is longer than the wait, and refuses the update before anybody can be told.
#[test]
fn a_deadline_follows_the_wait_for_a_ready_pod() {
    let waits =
        |seconds: i64| move |new: &mut Value| new["spec"]["minReadySeconds"] = json!(seconds);
    let old = stored(None, &workload("Deployment", declares("15m")));
    let longer = after(&old, waits(1500));
    assert_eq!(longer.pointer(DEADLINE), Some(&json!(2930)));
    assert_eq!(longer["spec"]["template"], old["spec"]["template"]);
    let why = "a start may take 1130 s, 300 s more to schedule and pull, 600 s before";
    assert!(longer["metadata"].to_string().contains(why), "{longer}");
    let scaled = after(&longer, |new| new["spec"]["replicas"] = json!(3));
    assert_eq!(scaled.pointer(DEADLINE), Some(&json!(2930)));
    assert_eq!(
        after(&longer, waits(0))["spec"]["progressDeadlineSeconds"],
        old["spec"]["progressDeadlineSeconds"]
    );

    // With a short start the default is enough, until it is not.
    let old = stored(None, &workload("Deployment", declares("1m")));
    let longer = after(&old, waits(500));
    assert_eq!(longer.pointer(DEADLINE), Some(&json!(875)));
    assert!(named(&longer).contains(&"spec.progressDeadlineSeconds".to_owned()));
    let shorter = after(&longer, waits(10));
    assert_eq!(shorter.pointer(DEADLINE), Some(&json!(600)));
    assert!(!named(&shorter).contains(&"spec.progressDeadlineSeconds".to_owned()));
}

#[test]
fn a_deadline_of_the_owner_does_not_follow() {
    let old = after(
        &stored(None, &workload("Deployment", declares("15m"))),
        |new| {
            new["spec"]["progressDeadlineSeconds"] = json!(2000);
        },
    );
    let longer = after(&old, |new| new["spec"]["minReadySeconds"] = json!(1500));
    assert_eq!(longer.pointer(DEADLINE), Some(&json!(2000)));
}

/// What is changed with it is made of the same.
#[test]
fn a_wait_may_come_with_another_template() {
    let old = stored(None, &workload("Deployment", declares("15m")));
    let both = after(&old, |new| {
        new["spec"]["minReadySeconds"] = json!(60);
        new["spec"]["template"]["metadata"]["annotations"] = declares("30m");
    });
    assert_eq!(both.pointer(DEADLINE), Some(&json!(2610)));
}

/// `kubectl rollout undo` of a Deployment: the template and the annotations of the older ReplicaSet come back.
#[test]
fn an_undone_deployment_keeps_its_deadline_ours() {
    for (first, deadline) in [("15m", 1430), ("1m", 600)] {
        let old = stored(None, &workload("Deployment", declares(first)));
        assert_eq!(old.pointer(DEADLINE), Some(&json!(deadline)));
        let raised = after(&old, |new| {
            new["spec"]["template"]["metadata"]["annotations"] = declares("30m");
        });
        assert_eq!(raised.pointer(DEADLINE), Some(&json!(2550)));
        let undone = after(&raised, |new| {
            new["spec"]["template"] = old["spec"]["template"].clone();
            new["metadata"]["annotations"] = old["metadata"]["annotations"].clone();
        });
        assert_eq!(undone, old, "{first}");
        let raised = after(&undone, |new| {
            new["spec"]["template"]["metadata"]["annotations"] = declares("1h");
        });
        assert_eq!(raised.pointer(DEADLINE), Some(&json!(4800)));
    }
}

/// The same back to a ReplicaSet of before the namespace was labelled.
#[test]
fn a_deployment_undone_to_what_was_never_mended_keeps_its_deadline_ours() {
    let unmended = workload("Deployment", declares("15m"));
    let mended = after(&unmended, |new| {
        new["spec"]["template"]["metadata"]["annotations"] = declares("30m");
    });
    assert_eq!(mended.pointer(DEADLINE), Some(&json!(2550)));
    let undone = after(&mended, |new| {
        new["spec"]["template"] = unmended["spec"]["template"].clone();
        new["metadata"] = unmended["metadata"].clone();
    });
    assert_eq!(undone, stored(None, &unmended));
}

#[test]
fn a_deadline_goes_to_who_deletes_the_record_of_it() {
    let old = stored(None, &workload("Deployment", declares("15m")));
    let handed_over = after(&old, |new| {
        new["metadata"]["annotations"] = json!({});
        restart(new);
    });
    assert!(named(&handed_over).is_empty(), "{handed_over}");
    assert_eq!(handed_over.pointer(DEADLINE), old.pointer(DEADLINE));
}

/// The API server may ask again about the same update: then `changes` are there, those of the first answer.
#[test]
fn a_deadline_that_was_taken_over_is_not_taken_back_by_new_records() {
    let old = stored(None, &workload("Deployment", declares("15m")));
    let handed_over = after(&old, |new| {
        new["metadata"]["annotations"] = json!({});
        new["spec"]["template"]["spec"]["containers"][0]["lifecycle"] = json!({});
    });
    assert_eq!(
        named(&handed_over),
        ["spec.template.spec.containers[engine].lifecycle.preStop"],
    );
    assert_eq!(handed_over.pointer(DEADLINE), old.pointer(DEADLINE));
}

/// `kubectl rollout undo` of the others: the template comes back, and `changes` go on naming what came later.
#[test]
fn an_undone_template_is_ours_where_no_annotation_comes_back_with_it() {
    for kind in ["StatefulSet", "DaemonSet"] {
        let old = stored(None, &workload(kind, declares("15m")));
        let raised = after(&old, |new| {
            new["spec"]["template"]["metadata"]["annotations"] = declares("30m");
        });
        assert_eq!(threshold(&raised), 226);
        let undone = after(&raised, |new| {
            new["spec"]["template"] = old["spec"]["template"].clone();
        });
        assert_eq!(undone, old, "{kind}");
        let raised = after(&undone, |new| {
            new["spec"]["template"]["metadata"]["annotations"] = declares("1h");
        });
        assert_eq!(threshold(&raised), 451, "{kind}");
    }
}

#[test]
fn a_number_that_is_not_what_we_would_write_is_the_owners() {
    let old = stored(None, &workload("StatefulSet", declares("15m")));
    let changed = after(&old, |new| {
        new["spec"]["template"]["spec"]["containers"][0]["startupProbe"]["failureThreshold"] =
            json!(300);
    });
    assert_eq!(threshold(&changed), 300);
    assert!(
        !named(&changed)
            .iter()
            .any(|name| name.ends_with(".startupProbe")),
        "{changed}"
    );
}

/// A merge puts the owner's handler beside ours, and his numbers over ours; those that are the same are his as well.
#[test]
fn numbers_that_the_owner_applied_with_his_handler_stay() {
    let old = stored(None, &workload("Deployment", declares("15m")));
    let his = json!({"tcpSocket": {"port": 8000}, "periodSeconds": 10, "failureThreshold": 114});
    let merged = after(&old, |new| {
        let container = &mut new["spec"]["template"]["spec"]["containers"][0];
        let probe = container["startupProbe"].as_object_mut().expect("ours");
        probe.extend(his.as_object().expect("a map").clone());
        let applied = json!({"spec": {"template": {"spec": {"containers": [
            {"name": "engine", "startupProbe": his},
        ]}}}});
        new["metadata"]["annotations"][LAST_APPLIED] = json!(applied.to_string());
    });
    assert_eq!(merged.pointer(STARTUP), Some(&his));
    let hook = json!({"exec": {"command": ["/bin/drain"]}});
    let mut new = merged.clone();
    let container = &mut new["spec"]["template"]["spec"]["containers"][0];
    container["lifecycle"]["preStop"]["exec"] = hook["exec"].clone();
    let (hooked, said) = told(Some(&merged), &new);
    assert_eq!(hooked.pointer(PRESTOP), Some(&hook));
    let expected = "warmgate changed 1 field: containers[engine].lifecycle.preStop.sleep taken out";
    assert_eq!(said, [expected]);
}

/// Nobody saw how the server moved: we were down, or its namespace was stepped down. The next update that we see mends it.
#[test]
fn a_probe_of_ours_that_can_never_pass_is_made_anew() {
    let mut owners = workload("Deployment", declares("15m"));
    let container = &mut owners["spec"]["template"]["spec"]["containers"][0];
    container["image"] = json!("vllm/vllm-openai:v0.11.0");
    container["args"] = json!(["--model", "acme/chat", "--port", "8000"]);
    let old = stored(None, &owners);
    let port = format!("{STARTUP}/httpGet/port");
    assert_eq!(old.pointer(&port), Some(&json!(8000)));
    let mut moved = old.clone();
    let container = &mut moved["spec"]["template"]["spec"]["containers"][0];
    container["args"] = json!(["--model", "acme/chat", "--port", "9000"]);
    container["ports"] = json!([{"containerPort": 9000}]);
    container["livenessProbe"]["httpGet"]["port"] = json!(9000);
    let restarted = after(&moved, restart);
    assert_eq!(restarted.pointer(&port), Some(&json!(9000)), "{restarted}");
    assert!(
        named(&restarted)
            .iter()
            .any(|name| name.ends_with("startupProbe"))
    );
}
