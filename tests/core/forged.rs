//! Records that no edit of ours has made: `changes` is the user's to write.

use serde_json::{Value, json};
use warmgate::admit::admit;
use warmgate::facts::{Facts, Mode, Origin};
use warmgate::plan::{Left, Stays, undo};

use super::updates::workload;
use crate::generate::create;

fn facts() -> Facts {
    Facts::new(Mode::Fix, Origin::Admission)
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
