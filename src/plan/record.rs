//! What `changes` says of a value: enough to know it again, and no secret.

use serde_json::{Map, Value, json};

use super::edit::{Edit, EditKind};
use super::handler::is_handler;

/// What the API server adds to a probe by itself.
pub(super) fn is_default(key: &str, value: &Value) -> bool {
    value.is_null()
        || matches!(
            (key, value.as_i64()),
            ("successThreshold", Some(0 | 1)) | ("initialDelaySeconds", Some(0))
        )
}

/// A handler without what the API server adds to it by itself.
pub(super) fn normal_handler(key: &str, handler: &Value) -> Value {
    let Some(members) = handler.as_object() else {
        return handler.clone();
    };
    let is_default = |member: &str, value: &Value| {
        value.is_null()
            || matches!(
                (key, member, value.as_str()),
                ("httpGet", "scheme", Some("HTTP"))
                    | ("httpGet", "path", Some("/"))
                    | (_, "host", Some(""))
                    | ("grpc", "service", Some(""))
            )
    };
    let kept = members
        .iter()
        .filter(|(member, value)| !is_default(member, value));
    Value::Object(
        kept.map(|(member, value)| (member.clone(), value.clone()))
            .collect(),
    )
}

/// Whether two values of a field mean the same to the API server.
pub(super) fn means_same(kind: EditKind, one: &Value, other: &Value) -> bool {
    if kind != EditKind::StartupProbe {
        return one == other;
    }
    let normal = |probe: &Value| -> Option<Map<String, Value>> {
        let members = probe
            .as_object()?
            .iter()
            .filter(|(key, value)| !is_default(key, value));
        Some(
            members
                .map(|(key, value)| {
                    let value = if is_handler(key) {
                        normal_handler(key, value)
                    } else {
                        value.clone()
                    };
                    (key.clone(), value)
                })
                .collect(),
        )
    };
    normal(one) == normal(other)
}

/// What `changes` says of an edit: the value, what it replaced, and why.
pub(super) fn record(edit: &Edit) -> Option<Value> {
    let value = edit.value.as_ref()?;
    let set = match (edit.kind, value) {
        (EditKind::Annotation, value) => json!(digest(value)),
        (EditKind::StartupProbe, Value::Object(members)) => members
            .iter()
            .filter(|(key, value)| !is_default(key, value))
            .map(|(key, value)| {
                let value = if is_handler(key) {
                    json!(digest(&normal_handler(key, value)))
                } else {
                    value.clone()
                };
                (key.clone(), value)
            })
            .collect(),
        (_, value) => value.clone(),
    };
    Some(match &edit.was {
        None => json!({"set": set, "why": edit.why}),
        Some(was) => json!({"set": set, "was": was, "why": edit.why}),
    })
}

/// A digest (FNV-1a, 64 bits) that is the same for the same JSON in any order: it tells whether a value still stands, and
/// hides it.
pub(super) fn digest(value: &Value) -> String {
    fn sorted(value: &Value) -> Value {
        match value {
            Value::Array(items) => items.iter().map(sorted).collect(),
            Value::Object(members) => {
                let mut members: Vec<(&String, &Value)> = members.iter().collect();
                members.sort_unstable_by_key(|(key, _)| *key);
                Value::Object(
                    members
                        .into_iter()
                        .map(|(key, value)| (key.clone(), sorted(value)))
                        .collect(),
                )
            }
            other => other.clone(),
        }
    }
    let mix = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    let hash = sorted(value)
        .to_string()
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325, mix);
    format!("#{hash:016x}")
}
