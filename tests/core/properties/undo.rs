//! Edits of ours that are taken back.

use serde_json::{Map, Value, json};
use warmgate::facts::Facts;
use warmgate::plan::{NoUndo, Stays, Undo, undo};

use super::updates::owners_version;
use super::{editing, ensure, mended, patched, with_object};
use crate::generate::{THEIRS, drawn, drawn_forgery, drawn_update, with_server_defaults};
use crate::lawful::{MARK, is_allowed_path, same, steps};

/// The maps that edits make where they are missing.
const MADE: [&str; 5] = [
    "annotations",
    "lifecycle",
    "metadata",
    "rollingUpdate",
    "strategy",
];

/// What is mended and taken back is what it was, also where the API server has filled in its defaults before or since. What
/// cannot be known: whether a field that we filled was absent or null, and whether a map in which nothing of the owner's is
/// stood there empty. What the API server would not store without our value keeps it, and its record.
pub(super) fn what_was_mended_becomes_what_it_was(bytes: &[u8]) -> Result<(), String> {
    let drawn = drawn(bytes);
    let facts = editing(&drawn);
    let shown = with_server_defaults(&drawn.object, &facts);
    for object in [&drawn.object, &shown] {
        let (_, stored) = mended(&with_object(&drawn.create(), object), &facts)?;
        if !can_be_recorded(object) {
            continue;
        }
        comes_back(object, &stored, &facts, |object| object.clone())?;
        let stored = with_server_defaults(&stored, &facts);
        comes_back(object, &stored, &facts, |object| {
            with_server_defaults(object, &facts)
        })?;
    }
    Ok(())
}

fn comes_back(
    object: &Value,
    stored: &Value,
    facts: &Facts,
    server: impl Fn(&Value) -> Value,
) -> Result<(), String> {
    let (undone, after) = taken_back(stored, facts)?;
    let mut wanted = object.clone();
    let mut found = after.clone();
    if let Some(undone) = &undone {
        keep_needed(undone, stored, &mut wanted, &mut found)?;
    }
    let (wanted, found) = (server(&known(&wanted)), server(&known(&found)));
    ensure(same(&wanted, &found), || {
        format!("{object}\nstored {stored}\nundone {after}\n{undone:?}")
    })
}

/// Whether an object has a place for the record, and names by which its containers are found again. An API server stores
/// no other.
fn can_be_recorded(object: &Value) -> bool {
    let is_map =
        |value: Option<&Value>| value.is_none_or(|value| value.is_null() || value.is_object());
    is_map(object.get("metadata"))
        && is_map(object.pointer("/metadata/annotations"))
        && !names_twice(object)
}

/// Whether two elements of a list have the same name.
fn names_twice(value: &Value) -> bool {
    match value {
        Value::Array(items) => {
            let names: Vec<&Value> = items.iter().filter_map(|item| item.get("name")).collect();
            let twice = (1..names.len()).any(|at| names[..at].contains(&names[at]));
            twice || items.iter().any(names_twice)
        }
        Value::Object(members) => members.values().any(names_twice),
        _ => false,
    }
}

/// What is made of an object; `None` where it has no record.
fn taken_back(object: &Value, facts: &Facts) -> Result<(Option<Undo>, Value), String> {
    match undo(object, &facts.knowledge) {
        Ok(undone) => {
            let after = patched(object, &undone.patch)?;
            Ok((Some(undone), after))
        }
        Err(NoUndo::NoRecord) => Ok((None, object.clone())),
        Err(why) => Err(format!("{why:?} of {object}")),
    }
}

/// Puts what the API server needs into the object as it should be, and takes the record of exactly that away.
fn keep_needed(
    undone: &Undo,
    stored: &Value,
    wanted: &mut Value,
    found: &mut Value,
) -> Result<(), String> {
    let mut names = Vec::new();
    for left in &undone.left {
        let (Stays::Needed(_), Some(path)) = (&left.why, &left.path) else {
            continue;
        };
        names.push(left.name.clone());
        let pointer = path.pointer();
        let (parent, key) = pointer.rsplit_once('/').unwrap_or_default();
        let members = wanted.pointer_mut(parent).and_then(Value::as_object_mut);
        if let (Some(members), Some(value)) = (members, stored.pointer(&pointer)) {
            members.insert(key.to_owned(), value.clone());
        }
    }
    let annotations = found
        .pointer_mut("/metadata/annotations")
        .and_then(Value::as_object_mut);
    let record = annotations.and_then(|members| members.shift_remove(MARK));
    let record = record.as_ref().and_then(Value::as_str).unwrap_or("{}");
    let records: Map<String, Value> =
        serde_json::from_str(record).map_err(|error| error.to_string())?;
    let recorded: Vec<String> = records.keys().cloned().collect();
    ensure(recorded == names, || format!("{recorded:?}, not {names:?}"))
}

/// The document without what nobody can know: nulls, and the maps that are empty and may be of our making.
fn known(document: &Value) -> Value {
    match document {
        Value::Array(items) => items.iter().map(known).collect(),
        Value::Object(members) => members
            .iter()
            .map(|(key, value)| (key.clone(), known(value)))
            .filter(|(key, value)| {
                let empty = MADE.contains(&key.as_str()) && *value == json!({});
                !value.is_null() && !empty
            })
            .collect(),
        other => other.clone(),
    }
}

pub(super) fn what_the_owner_has_made_of_it_since_stays(bytes: &[u8]) -> Result<(), String> {
    let update = drawn_update(bytes);
    if !can_be_recorded(&update.new) || !can_be_recorded(&update.old) {
        return Ok(());
    }
    let (undone, after) = taken_back(&update.new, &update.facts())?;
    let mut wanted = owners_version(&update);
    let mut found = after.clone();
    if let Some(undone) = &undone {
        keep_needed(undone, &update.new, &mut wanted, &mut found)?;
    }
    ensure(same(&known(&wanted), &known(&found)), || {
        format!(
            "old {}\nnew {}\nundone {after}\nwanted {wanted}\n{undone:?}",
            update.old, update.new
        )
    })
}

pub(super) fn taking_back_twice_is_taking_back_once(bytes: &[u8]) -> Result<(), String> {
    let update = drawn_update(bytes);
    let facts = update.facts();
    for object in [&update.old, &update.new] {
        let Ok((_, once)) = taken_back(object, &facts) else {
            continue;
        };
        let (_, twice) = taken_back(&once, &facts)?;
        ensure(once == twice, || {
            format!("{object}\nonce {once}\ntwice {twice}")
        })?;
    }
    Ok(())
}

/// Fields that no edit writes, and their pointers.
const LIES: [(&str, &str); 9] = [
    ("", ""),
    ("a[", "/a"),
    (
        "metadata.annotations[warmgate.io/skip]",
        "/metadata/annotations/warmgate.io~1skip",
    ),
    ("metadata.name", "/metadata/name"),
    ("spec", "/spec"),
    ("spec.containers[engine].image", "/spec/containers/0/image"),
    ("spec.template.spec", "/spec/template/spec"),
    (
        "spec.template.spec.containers[engine].image",
        "/spec/template/spec/containers/0/image",
    ),
    (
        "spec.template.spec.containers[engine].livenessProbe",
        "/spec/template/spec/containers/0/livenessProbe",
    ),
];

/// Whatever a record says was there before, only what edits can have replaced is put back.
pub(super) fn a_record_that_lies_puts_nothing_back(bytes: &[u8]) -> Result<(), String> {
    let update = drawn_forgery(bytes);
    let Ok(undone) = undo(&update.new, &update.facts().knowledge) else {
        return Ok(());
    };
    let is_allowed = |pointer: &str| {
        let steps = steps(pointer);
        let keys: Vec<&str> = steps.iter().map(String::as_str).collect();
        is_allowed_path(&keys)
    };
    let mut operations = undone.patch.0.iter();
    let told = json!(undone.patch).to_string();
    let fine =
        operations.all(|operation| is_allowed(operation.path().as_ref())) && !told.contains(THEIRS);
    ensure(fine, || format!("{told}\nof {}", update.new))
}

/// A record is the user's to write: whatever it claims, nothing else than what edits write is touched.
pub(super) fn a_record_that_lies_reaches_no_further_than_edits(bytes: &[u8]) -> Result<(), String> {
    let update = drawn_update(bytes);
    let mut object = update.new.clone();
    let Some(record) = object
        .pointer("/metadata/annotations/warmgate.io~1changes")
        .and_then(Value::as_str)
    else {
        return Ok(());
    };
    let mut records: Map<String, Value> =
        serde_json::from_str(record).map_err(|error| error.to_string())?;
    for (name, pointer) in LIES {
        let stands = object.pointer(pointer).cloned().unwrap_or(Value::Null);
        records.insert(name.to_owned(), json!({"set": stands, "was": "theirs"}));
    }
    let honest = taken_back(&object, &update.facts());
    object["metadata"]["annotations"][MARK] = json!(Value::Object(records).to_string());
    let lied = taken_back(&object, &update.facts());
    match (honest, lied) {
        (Ok((_, honest)), Ok((_, lied))) => ensure(honest == lied, || {
            format!("{object}\nhonest {honest}\nlied {lied}")
        }),
        (Err(_), Err(_)) => Ok(()),
        other => Err(format!("{other:?}")),
    }
}
