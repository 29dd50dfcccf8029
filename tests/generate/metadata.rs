//! What stands on the object's own metadata: annotations, owners, apply records.

use serde_json::{Map, Value, json};

use super::{Source, annotations};

/// Fills in the metadata of an object that has its spec already.
pub(super) fn fill(source: &mut Source<'_>, object: &mut Value, is_pod: bool) {
    let mut metadata = match object.get("metadata") {
        Some(Value::Object(metadata)) => metadata.clone(),
        _ => Map::new(),
    };
    if is_pod && source.chance(2) {
        metadata.insert("generateName".to_owned(), json!("chat-abc-"));
    } else {
        metadata.insert("name".to_owned(), json!("chat"));
    }
    if source.chance(2) {
        metadata.insert(
            "namespace".to_owned(),
            source.word(&["team", "other", "kube-system"]),
        );
    }
    if source.chance(2) && !is_pod {
        let mut ours = Map::new();
        annotations::add(source, &mut ours);
        metadata.insert("annotations".to_owned(), Value::Object(ours));
    }
    if source.chance(if is_pod { 2 } else { 10 }) {
        metadata.insert("ownerReferences".to_owned(), owners(source));
    }
    if source.chance(40) {
        metadata.insert(
            "deletionTimestamp".to_owned(),
            json!("2026-01-01T00:00:00Z"),
        );
    }
    object["metadata"] = Value::Object(metadata);
    if source.chance(6) {
        record_write(source, object);
    }
}

fn owners(source: &mut Source<'_>) -> Value {
    let (version, kind) = source.one(&[
        ("apps/v1", "ReplicaSet"),
        ("apps/v1", "StatefulSet"),
        ("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet"),
        ("ray.io/v1", "RayCluster"),
        ("serving.knative.dev/v1", "Revision"),
        ("kubeflow.org/v1", "Notebook"),
        ("example.com/v1", "Operator"),
    ]);
    json!([{"apiVersion": version, "kind": kind, "name": "chat-abc", "uid": "u", "controller": !source.chance(8)}])
}

/// Records how the object was written: applied by name, the whole or a part of it, or just written.
fn record_write(source: &mut Source<'_>, object: &mut Value) {
    if source.chance(2) {
        let text = object.to_string();
        object["metadata"]["annotations"]["kubectl.kubernetes.io/last-applied-configuration"] =
            json!(text);
    } else {
        let fields = fields_of(object);
        let operation = source.one(&["Apply", "Update"]);
        object["metadata"]["managedFields"] =
            json!([{"manager": "argocd", "operation": operation, "fieldsV1": fields}]);
    }
}

/// The set of fields that an object has, as `fieldsV1` writes it.
fn fields_of(value: &Value) -> Value {
    match value {
        Value::Object(members) => members
            .iter()
            .map(|(key, value)| (format!("f:{key}"), fields_of(value)))
            .collect::<Map<_, _>>()
            .into(),
        Value::Array(items) => {
            let keyed = |item: &Value| {
                Some((
                    format!("k:{}", json!({"name": item.get("name")?})),
                    fields_of(item),
                ))
            };
            items.iter().filter_map(keyed).collect::<Map<_, _>>().into()
        }
        _ => json!({}),
    }
}
