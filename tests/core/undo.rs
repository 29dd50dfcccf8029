//! `warmgate undo` on what an API server stores.

use serde_json::{Value, json};
use warmgate::admit::admit;
use warmgate::facts::{Facts, Mode, Origin};
use warmgate::plan::{Left, NoUndo, Stays, Undo, undo};
use warmgate::report;
use warmgate::words::MESSAGE_LIMIT;

use crate::generate::{create, inject_sidecar, replace, with_server_defaults};

const CHANGES: &str = "/metadata/annotations/warmgate.io~1changes";
const SPEC: &str = "/spec/template/spec";
const ENGINE: &str = "/spec/template/spec/containers/0";

/// A Deployment as an API server shows it to a webhook.
fn deployment() -> Value {
    let object = json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "chat", "annotations": {"warmgate.io/max-startup-time": "15m"}},
        "spec": {"template": {
            "metadata": {"labels": {"app": "chat"}},
            "spec": {"containers": [{
                "name": "engine",
                "image": "registry.example/own/server:1.4",
                "ports": [{"containerPort": 8000}],
                "resources": {"limits": {"nvidia.com/gpu": "1"}},
                "livenessProbe": {"httpGet": {
                    "path": "/health", "port": 8000,
                    "httpHeaders": [{"name": "Authorization", "value": "Bearer very-secret"}],
                }},
            }]},
        }},
    });
    with_server_defaults(&object, &facts())
}

fn facts() -> Facts {
    Facts::new(Mode::Fix, Origin::Admission)
}

/// What is stored of an object that is created, or that replaces `old`.
#[track_caller]
fn stored(old: Option<&Value>, new: &Value) -> Value {
    let request = match old {
        Some(old) => replace(old, new, "team"),
        None => create(new, "team"),
    };
    let mut object = new.clone();
    let patch = admit(&request, &facts()).patch;
    json_patch::patch(&mut object, &patch).expect("a patch that applies");
    with_server_defaults(&object, &facts())
}

#[track_caller]
fn undone(object: &Value) -> (Undo, Value) {
    let undone = undo(object, &facts().knowledge).expect("there is a record");
    let mut after = object.clone();
    json_patch::patch(&mut after, &undone.patch).expect("a patch that applies");
    (undone, after)
}

/// The mended Deployment with a change, taken back.
#[track_caller]
fn undone_after(change: impl FnOnce(&mut Value)) -> (Undo, Value) {
    let mut object = stored(None, &deployment());
    change(&mut object);
    undone(&object)
}

fn at<'v>(object: &'v mut Value, pointer: &str) -> &'v mut Value {
    object.pointer_mut(pointer).expect("the field is there")
}

fn names(left: &[Left]) -> Vec<&str> {
    left.iter().map(|left| left.name.as_str()).collect()
}

#[test]
fn everything_is_taken_back_with_what_was_made_for_it() {
    let owners = deployment();
    let mended = stored(None, &owners);
    let (undone, after) = undone(&mended);
    let fields: Vec<String> = undone
        .edits
        .iter()
        .map(|edit| edit.path.to_string())
        .collect();
    assert_eq!(
        fields,
        [
            "spec.progressDeadlineSeconds",
            "spec.template.metadata.annotations[warmgate.io/max-startup-time]",
            "spec.template.spec.containers[0].lifecycle.preStop",
            "spec.template.spec.containers[0].livenessProbe.timeoutSeconds",
            "spec.template.spec.containers[0].startupProbe",
            "spec.template.spec.terminationGracePeriodSeconds",
        ]
    );
    assert_eq!(undone.left, []);
    assert_eq!(after, owners);
    let again = undo(&after, &facts().knowledge);
    assert!(matches!(again, Err(NoUndo::NoRecord)));
}

#[test]
fn a_container_in_front_moves_nothing() {
    let owners = inject_sidecar(&deployment());
    let (undo, after) = undone(&inject_sidecar(&stored(None, &deployment())));
    assert_eq!(undo.edits.len(), 6);
    assert_eq!(after, owners);
}

#[test]
fn what_the_owner_has_said_since_stays() {
    let (undo, after) = undone_after(|object| {
        *at(object, &format!("{ENGINE}/livenessProbe/timeoutSeconds")) = json!(20);
        *at(object, &format!("{ENGINE}/startupProbe/failureThreshold")) = json!(400);
        *at(object, &format!("{SPEC}/terminationGracePeriodSeconds")) = json!(300);
        let lifecycle = at(object, &format!("{ENGINE}/lifecycle")).as_object_mut();
        lifecycle
            .expect("a map")
            .insert("stopSignal".to_owned(), json!("SIGINT"));
    });
    let mut wanted = deployment();
    let engine = at(&mut wanted, ENGINE);
    engine["livenessProbe"]["timeoutSeconds"] = json!(20);
    engine["lifecycle"] = json!({"stopSignal": "SIGINT"});
    engine["startupProbe"] = after.pointer(ENGINE).expect("the engine")["startupProbe"].clone();
    at(&mut wanted, SPEC)["terminationGracePeriodSeconds"] = json!(300);
    assert_eq!(engine_of(&after)["startupProbe"]["failureThreshold"], 400);
    assert_eq!(after, wanted);
    let said: Vec<String> = undo.left.iter().map(report::left).collect();
    assert_eq!(
        said,
        [
            "spec.template.spec.containers[engine].livenessProbe.timeoutSeconds is 20 and warmgate wrote 5, so it is the \
             owner's: left as it is",
            "spec.template.spec.containers[engine].startupProbe is not as warmgate wrote it, so it is the owner's: left as it is",
            "spec.template.spec.terminationGracePeriodSeconds is 300 and warmgate wrote 75, so it is the owner's: left as it is",
        ]
    );
}

fn engine_of(object: &Value) -> &Value {
    object.pointer(ENGINE).expect("the engine is there")
}

#[test]
fn a_handler_of_the_owners_beside_ours_stays_alone() {
    let (undo, after) = undone_after(|object| {
        at(object, &format!("{ENGINE}/startupProbe"))["exec"] = json!({"command": ["true"]});
        at(object, &format!("{ENGINE}/startupProbe"))["periodSeconds"] = json!(7);
    });
    assert_eq!(undo.left, []);
    assert_eq!(
        engine_of(&after)["startupProbe"],
        json!({"exec": {"command": ["true"]}, "periodSeconds": 7, "successThreshold": 1})
    );
}

#[test]
fn what_is_gone_is_named() {
    let (undo, after) = undone_after(|object| {
        let engine = at(object, ENGINE).as_object_mut().expect("a map");
        engine.shift_remove("startupProbe");
        engine.shift_remove("lifecycle");
    });
    assert_eq!(after, deployment());
    assert!(undo.left.iter().all(|left| left.why == Stays::Gone));
    assert_eq!(
        names(&undo.left),
        [
            "spec.template.spec.containers[engine].lifecycle.preStop",
            "spec.template.spec.containers[engine].startupProbe",
        ]
    );
    let (undo, _) = undone_after(|object| at(object, ENGINE)["name"] = json!("another"));
    assert_eq!(undo.left.len(), 3);
}

#[test]
fn what_was_applied_by_name_since_is_the_owners() {
    let (undo, after) = undone_after(|object| {
        let applied =
            json!({"spec": {"template": {"spec": {"terminationGracePeriodSeconds": 75}}}});
        at(object, "/metadata/annotations")["kubectl.kubernetes.io/last-applied-configuration"] =
            json!(applied.to_string());
    });
    assert_eq!(
        after.pointer(SPEC).expect("a spec")["terminationGracePeriodSeconds"],
        75
    );
    assert_eq!(undo.left.len(), 1);
    assert_eq!(undo.left[0].why, Stays::Applied);
}

/// What the API server would refuse without our value keeps it, and is known as ours until it can go.
#[test]
fn what_the_owners_word_needs_stays_ours() {
    let (undo, mut after) = undone_after(|object| {
        *at(object, &format!("{ENGINE}/lifecycle/preStop/sleep/seconds")) = json!(60);
        at(object, "/spec")["minReadySeconds"] = json!(700);
    });
    let said: Vec<String> = undo.left.iter().map(report::left).collect();
    assert_eq!(
        said,
        [
            "spec.progressDeadlineSeconds stays, the API server would refuse the object without it: minReadySeconds is 700, \
             and 600 was before",
            "spec.template.spec.containers[engine].lifecycle.preStop is not as warmgate wrote it, so it is the owner's: left \
             as it is",
            "spec.template.spec.terminationGracePeriodSeconds stays, the API server would refuse the object without it: \
             containers[engine] sleeps 60 s in preStop, and 30 was before",
        ]
    );
    assert_eq!(undone(&after).0.patch.0.len(), 0);
    *at(
        &mut after,
        &format!("{ENGINE}/lifecycle/preStop/sleep/seconds"),
    ) = json!(20);
    at(&mut after, "/spec")["minReadySeconds"] = json!(10);
    let (undo, after) = undone(&after);
    assert_eq!((undo.edits.len(), undo.left.len()), (2, 0));
    assert_eq!(after["spec"]["progressDeadlineSeconds"], 600);
    assert_eq!(after.pointer(CHANGES), None);
}

#[test]
fn nothing_is_taken_back_without_a_record_of_the_objects_own() {
    let mended = stored(None, &deployment());
    let fails = |change: &dyn Fn(&mut Value)| {
        let mut object = mended.clone();
        change(&mut object);
        let why = undo(&object, &facts().knowledge).expect_err("nothing is known to be ours");
        let said = report::no_undo(&why);
        assert!(said.chars().count() <= MESSAGE_LIMIT, "{said}");
        why
    };
    let owner = json!([{"apiVersion": "apps/v1", "kind": "Deployment", "name": "chat", "uid": "u", "controller": true}]);
    // The controller of Deployments copies annotations onto ReplicaSets.
    let copied = fails(&|object| {
        object["kind"] = json!("ReplicaSet");
        object["metadata"]["ownerReferences"] = owner.clone();
    });
    assert!(matches!(copied, NoUndo::Owned(owner) if owner.name == "chat"));
    let revision = fails(&|object| object["kind"] = json!("ControllerRevision"));
    assert!(matches!(revision, NoUndo::Kind(_)));
    for record in [json!("{"), json!("[]"), json!(""), json!(1)] {
        let unreadable = fails(&|object| *at(object, CHANGES) = record.clone());
        assert_eq!(unreadable, NoUndo::Unreadable);
    }
}

/// A pod that a controller owns was mended itself.
#[test]
fn a_pod_is_its_own() {
    let owners = json!({
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": "chat-0",
            "annotations": {"warmgate.io/max-startup-time": "15m"},
            "ownerReferences": [{"apiVersion": "x/v1", "kind": "Engine", "name": "chat", "uid": "u", "controller": true}],
        },
        "spec": {"containers": [{
            "name": "engine",
            "image": "registry.example/own/server:1.4",
            "startupProbe": {"tcpSocket": {"port": 8000}, "failureThreshold": 6},
        }]},
    });
    let owners = with_server_defaults(&owners, &facts());
    let mended = stored(None, &owners);
    assert_eq!(
        mended["spec"]["containers"][0]["startupProbe"]["failureThreshold"],
        114
    );
    assert_eq!(undone(&mended).1, owners);
}

#[test]
fn no_secret_is_told() {
    let (undo, _) = undone_after(|object| {
        let startup = at(
            object,
            &format!("{ENGINE}/startupProbe/httpGet/httpHeaders/0"),
        );
        startup["value"] = json!("another-secret");
        *at(
            object,
            "/spec/template/metadata/annotations/warmgate.io~1max-startup-time",
        ) = json!("a-secret");
    });
    let said: Vec<String> = undo.left.iter().map(report::left).collect();
    assert_eq!(said.len(), 2, "{said:?}");
    assert!(!said.concat().contains("secret"), "{said:?}");
}

/// The replace that brings what was taken back is an update like any other: the webhook mends it again, unless it is told to
/// leave the object alone.
#[test]
fn the_webhook_writes_again_unless_it_is_told_not_to() {
    let mended = stored(None, &deployment());
    let (_, mut after) = undone(&mended);
    assert_eq!(stored(Some(&mended), &after), mended);
    after["metadata"]["annotations"]["warmgate.io/skip"] = json!("tuned by hand");
    let left_alone = stored(Some(&mended), &after);
    assert_eq!(engine_of(&left_alone), engine_of(&deployment()));
    assert_eq!(left_alone["spec"]["progressDeadlineSeconds"], 600);
    // The annotations are copied to where the pods see them, and that is recorded.
    assert_eq!(undone(&left_alone).0.edits.len(), 2);
}
