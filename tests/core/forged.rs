//! Records that no edit of ours has made: `changes` is the user's to write.

use serde_json::{Value, json};
use warmgate::admit::admit;
use warmgate::facts::{Facts, Mode, Origin};
use warmgate::plan::{Left, Stays, undo};
use warmgate::report;
use warmgate::words::MESSAGE_LIMIT;

use super::updates::{stored, workload};
use crate::generate::create;

const ENGINE: &str = "spec.template.spec.containers[engine]";
const GRACE: &str = "spec.template.spec.terminationGracePeriodSeconds";

fn facts() -> Facts {
    Facts::new(Mode::Fix, Origin::Admission)
}

/// The record of an object.
fn records(object: &Value) -> Value {
    let text = object["metadata"]["annotations"]["warmgate.io/changes"].as_str();
    serde_json::from_str(text.unwrap_or("{}")).expect("JSON")
}

fn record(object: &mut Value, records: &Value) {
    object["metadata"]["annotations"]["warmgate.io/changes"] = json!(records.to_string());
}

/// The operations of the patch on an object that is created.
fn operations(object: &Value) -> Vec<Value> {
    let patch = json!(admit(&create(object, "team"), &facts()).patch);
    patch.as_array().expect("operations").clone()
}

/// What stays of an object of which our edits are taken back, and how it looks then.
fn undone(object: &Value) -> (Vec<Left>, Value) {
    let undone = undo(object, &facts().knowledge).expect("there is a record");
    let mut after = object.clone();
    json_patch::patch(&mut after, &undone.patch).expect("a patch that applies");
    (undone.left, after)
}

/// What an edit cannot have replaced is not written out, neither by an update nor by undo.
#[test]
fn a_value_that_no_edit_replaces_is_not_put_back() {
    let mended = stored(None, &workload("Deployment", json!({})));
    let handler = json!({"exec": {"command": ["theirs"]}});
    let [timeout, startup, hook] = [
        "livenessProbe.timeoutSeconds",
        "startupProbe",
        "lifecycle.preStop",
    ]
    .map(|field| format!("{ENGINE}.{field}"));
    for (name, was) in [
        (GRACE, json!("x")),
        (GRACE, json!({"a": 1})),
        (GRACE, json!([])),
        (GRACE, json!(true)),
        (GRACE, json!(1.5)),
        (GRACE, json!(-5)),
        (GRACE, json!(75)),
        (GRACE, json!(99_999_999_999_i64)),
        ("spec.progressDeadlineSeconds", json!(0)),
        ("spec.progressDeadlineSeconds", json!(599)),
        (timeout.as_str(), json!("x")),
        (timeout.as_str(), json!(-5)),
        (startup.as_str(), handler.clone()),
        (hook.as_str(), handler.clone()),
    ] {
        let mut forged = mended.clone();
        let mut lies = records(&mended);
        lies[name]["was"] = was.clone();
        record(&mut forged, &lies);
        let (left, after) = undone(&forged);
        let [
            Left {
                name: left,
                why: Stays::Disbelieved,
                ..
            },
        ] = left.as_slice()
        else {
            panic!("{name} {was}: {left:?}");
        };
        assert_eq!(left, name);
        let pointer = pointer_of(name);
        assert_eq!(after.pointer(&pointer), mended.pointer(&pointer), "{was}");

        // Nothing serves here any more: all of ours goes, and what is disbelieved is the owner's.
        let container = &mut forged["spec"]["template"]["spec"]["containers"][0];
        container["command"] = json!(["sleep", "infinity"]);
        container
            .as_object_mut()
            .expect("a map")
            .shift_remove("resources");
        let of_it = |operation: &Value| operation["path"] == *pointer;
        assert!(!operations(&forged).iter().any(of_it), "{name} {was}");
    }
}

/// The JSON pointer of a field in an object with one container.
fn pointer_of(name: &str) -> String {
    let numbered = name.replace("[engine]", ".0");
    format!("/{}", numbered.replace('.', "/"))
}

#[test]
fn a_record_that_is_disbelieved_is_told_of() {
    let mut forged = stored(None, &workload("Deployment", json!({})));
    record(
        &mut forged,
        &json!({GRACE: {"set": 75, "was": "x", "why": ""}}),
    );
    let said: Vec<String> = undone(&forged).0.iter().map(report::left).collect();
    let expected = format!("{GRACE} has a record that warmgate does not write: left as it is");
    assert_eq!(said, [expected.as_str()]);
    assert!(expected.len() <= MESSAGE_LIMIT);
}

/// An owner's map may have a member that is named like a field of ours.
#[test]
fn a_field_that_is_named_like_one_of_ours_is_the_owners() {
    for (map, name) in [
        ("/metadata/labels", "metadata.labels"),
        ("/spec/selector/matchLabels", "spec.selector.matchLabels"),
        (
            "/spec/template/metadata/labels",
            "spec.template.metadata.labels",
        ),
        (
            "/spec/template/spec/nodeSelector",
            "spec.template.spec.nodeSelector",
        ),
    ] {
        let mut object = workload("Deployment", json!({}));
        object["metadata"]["labels"] = json!({});
        object["spec"]["selector"] = json!({"matchLabels": {}});
        object["spec"]["template"]["spec"]["nodeSelector"] = json!({});
        for (key, value) in [("progressDeadlineSeconds", "5"), ("type", "x")] {
            object.pointer_mut(map).expect("a map")[key] = json!(value);
        }
        let forged = json!({format!("{name}.progressDeadlineSeconds"): {"set": "5", "why": ""}});
        record(&mut object, &forged);
        let touched = |operation: &Value| {
            let path = operation["path"].as_str().unwrap_or_default();
            path.starts_with(map)
        };
        let operations = operations(&object);
        assert!(
            !operations.is_empty() && !operations.iter().any(touched),
            "{operations:?}"
        );
        let (left, after) = undone(&object);
        assert!(matches!(left[0].why, Stays::Foreign), "{left:?}");
        assert_eq!(after.pointer(map), object.pointer(map));
    }
}

/// What stands in a value of ours cannot be one of its own: both would be taken out.
#[test]
fn a_window_within_a_probe_of_ours_was_raised_by_nobody() {
    let template = workload("Deployment", json!({}))["spec"]["template"].clone();
    let pod = json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "chat"}, "spec": template["spec"],
    });
    let mended = stored(None, &pod);
    let mut forged = mended.clone();
    let mut lies = records(&mended);
    let window = "spec.containers[engine].startupProbe.failureThreshold";
    lies[window] = json!({"set": 361, "was": 0, "why": ""});
    record(&mut forged, &lies);
    let patch = operations(&forged);
    assert_eq!(patch.len(), 1, "{patch:?}");
    assert_eq!(
        patch[0]["path"],
        "/metadata/annotations/warmgate.io~1changes"
    );
    let (left, after) = undone(&forged);
    assert!(matches!(left[0].why, Stays::Disbelieved), "{left:?}");
    assert_eq!(after, undone(&mended).1);
}
