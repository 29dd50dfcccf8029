//! Records that lie: `changes` is the user's to write.

use serde_json::{Map, Value, json};

use super::Source;
use super::places::places;

/// What lies say was there before; nothing else that is drawn has this word in it.
pub(crate) const THEIRS: &str = "theirs";

const RECORD: &str = "/metadata/annotations/warmgate.io~1changes";

/// Maps of the owner's, in which a member may have any name.
const MAPS: [&str; 4] = [
    "/metadata/labels",
    "/spec/selector/matchLabels",
    "/spec/template/metadata/labels",
    "/spec/template/spec/nodeSelector",
];

/// The last names of fields that edits write.
const NAMES: [&str; 5] = [
    "failureThreshold",
    "progressDeadlineSeconds",
    "startupProbe",
    "terminationGracePeriodSeconds",
    "timeoutSeconds",
];

/// The object with a record in which lies stand beside what is true: fields that edits never write, and values that they
/// never replace.
pub(super) fn forged(source: &mut Source<'_>, object: &Value) -> Value {
    let mut forged = object.clone();
    if !forged["metadata"]["annotations"].is_object() {
        return forged;
    }
    let misnamed = name_like_ours(source, &mut forged);
    let record = forged.pointer(RECORD).and_then(Value::as_str);
    let mut records: Map<String, Value> = record
        .and_then(|record| serde_json::from_str(record).ok())
        .unwrap_or_default();
    for record in records.values_mut() {
        if source.chance(2) {
            record["was"] = lie(source);
        }
    }
    let mut pointers = places(&forged);
    pointers.extend(misnamed);
    // The last are those that are named like fields of edits.
    for back in [1, 2, 1 + source.below(pointers.len())] {
        let Some(at) = pointers.len().checked_sub(back) else {
            continue;
        };
        let stands = forged.pointer(&pointers[at]).cloned().unwrap_or_default();
        let record = json!({"set": stands, "was": lie(source), "why": ""});
        records.insert(named(&pointers[at], &forged), record);
    }
    forged["metadata"]["annotations"]["warmgate.io/changes"] =
        json!(Value::Object(records).to_string());
    forged
}

/// Gives members of the owner's maps names that edits know, and says where.
fn name_like_ours(source: &mut Source<'_>, object: &mut Value) -> Vec<String> {
    let mut named = Vec::new();
    for map in MAPS {
        let name = source.one(&NAMES);
        let members = object.pointer_mut(map).and_then(Value::as_object_mut);
        if let Some(members) = members.filter(|_| source.chance(2)) {
            members.insert(name.to_owned(), json!("5"));
            named.push(format!("{map}/{name}"));
        }
    }
    named
}

fn lie(source: &mut Source<'_>) -> Value {
    match source.below(8) {
        0 => Value::Null,
        1 => json!(THEIRS),
        2 => json!({"exec": {"command": [THEIRS]}}),
        3 => json!([THEIRS]),
        4 => json!(true),
        5 => json!(1.5),
        6 => source.number(&[-5, i64::MIN]),
        _ => source.number(&[0, 2, i64::MAX]),
    }
}

/// The name of a field in a record: elements of lists go by their names.
fn named(pointer: &str, object: &Value) -> String {
    let mut name = String::new();
    let mut here = object;
    for step in pointer.split('/').skip(1) {
        let key = step.replace("~1", "/").replace("~0", "~");
        let is_item = here.is_array();
        here = match here {
            Value::Array(items) => step.parse::<usize>().ok().and_then(|at| items.get(at)),
            members => members.get(&key),
        }
        .unwrap_or(&Value::Null);
        if is_item {
            let item = here.get("name").and_then(Value::as_str).unwrap_or(step);
            name.push_str(&format!("[{item}]"));
        } else if key.contains(['.', '/']) {
            name.push_str(&format!("[{key}]"));
        } else {
            let dot = if name.is_empty() { "" } else { "." };
            name.push_str(&format!("{dot}{key}"));
        }
    }
    name
}
