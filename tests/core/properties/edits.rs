//! What edits do to an object.

use json_patch::PatchOperation;
use serde_json::{Value, json};
use warmgate::admit::admit;
use warmgate::facts::{Facts, Mode, Origin};
use warmgate::manifest::Manifest;
use warmgate::plan::own_values;
use warmgate::review::Request;
use warmgate::subject::{ApplyRecord, Subject};

use super::{editing, ensure, mended, namespace_defaults, patched, with_object};
use crate::answered::objection_to_operations;
use crate::generate::{
    THEIRS, create, drawn, drawn_forgery, drawn_update, inject_sidecar, is_named,
    with_server_defaults,
};
use crate::lawful::{MARK, changes, identical, same, steps, unlawful_under};

/// Both requests that bytes can make: of a new object, and of an update.
fn requests(bytes: &[u8]) -> [(Request, Facts); 2] {
    let (drawn, update) = (drawn(bytes), drawn_update(bytes));
    [
        (drawn.create(), editing(&drawn)),
        (update.request(), update.facts()),
    ]
}

fn object(request: &Request) -> &Value {
    request
        .object
        .as_ref()
        .expect("drawn requests have an object")
}

pub(super) fn mending_twice_is_mending_once(bytes: &[u8]) -> Result<(), String> {
    for (request, facts) in requests(bytes) {
        mends_once(&request, &facts, |object| object.clone())?;
        let with_defaults = |object: &Value| with_server_defaults(object, &facts);
        let arrived = Request {
            old_object: request.old_object.as_ref().map(with_defaults),
            ..with_object(&request, &with_defaults(object(&request)))
        };
        mends_once(&arrived, &facts, with_defaults)?;
    }
    Ok(())
}

/// Mends the object of a request, and again what a server makes of it.
fn mends_once(
    request: &Request,
    facts: &Facts,
    server: impl Fn(&Value) -> Value,
) -> Result<(), String> {
    let (first, after) = mended(request, facts)?;
    let second = admit(&with_object(request, &server(&after)), facts).patch;
    ensure(second.0.is_empty(), || {
        format!(
            "of {}\nfirst {}\nsecond {}",
            object(request),
            json!(first.patch),
            json!(second)
        )
    })
}

pub(super) fn a_sidecar_may_come_before_or_after(bytes: &[u8]) -> Result<(), String> {
    let drawn = drawn(bytes);
    let facts = editing(&drawn);
    let request = drawn.create();
    // A share of a device belongs to the first container that no annotation names.
    if drawn.object.to_string().contains("gpu-fraction") || !is_named(&drawn.object) {
        return Ok(());
    }
    let (_, before) = mended(
        &with_object(&request, &inject_sidecar(&drawn.object)),
        &facts,
    )?;
    let (_, once) = mended(&request, &facts)?;
    let (again, after) = mended(&with_object(&request, &inject_sidecar(&once)), &facts)?;
    // Where a sidecar changes who serves, our hook goes and its map stays: nobody knows any more who made the map.
    let is_same = same(&without_empty_hooks(&before), &without_empty_hooks(&after));
    ensure(is_same, || {
        format!(
            "of {}\nbefore {before}\nafter {after}\npatch {}",
            drawn.object,
            json!(again.patch)
        )
    })
}

/// The document without `lifecycle: {}`, which says nothing.
fn without_empty_hooks(document: &Value) -> Value {
    match document {
        Value::Array(items) => items.iter().map(without_empty_hooks).collect(),
        Value::Object(members) => members
            .iter()
            .filter(|(key, value)| key.as_str() != "lifecycle" || **value != json!({}))
            .map(|(key, value)| (key.clone(), without_empty_hooks(value)))
            .collect(),
        other => other.clone(),
    }
}

pub(super) fn what_is_recorded_is_known_again(bytes: &[u8]) -> Result<(), String> {
    for (request, facts) in requests(bytes) {
        let (decision, after) = mended(&request, &facts)?;
        let marks = |operation: &PatchOperation| {
            let path: &str = operation.path().as_ref();
            path.contains("/metadata")
        };
        let text = after["metadata"]["annotations"][MARK].as_str();
        let (Some(text), true) = (text, decision.patch.0.iter().any(marks)) else {
            continue;
        };
        let records: serde_json::Map<String, Value> =
            serde_json::from_str(text).map_err(|error| error.to_string())?;
        let subject =
            Subject::read(&after, "", &facts.knowledge).map_err(|no| format!("{no:?}"))?;
        let own = own_values(&subject, &ApplyRecord::read(&after));
        ensure(own.len() == records.len(), || {
            format!(
                "{} of {text}\nof {}\n{}",
                own.len(),
                object(&request),
                json!(decision.patch)
            )
        })?;
    }
    Ok(())
}

pub(super) fn what_is_not_ours_stays_as_it_was_written(bytes: &[u8]) -> Result<(), String> {
    for (request, facts) in requests(bytes) {
        let (decision, after) = mended(&request, &facts)?;
        let touched: Vec<Vec<String>> = decision
            .patch
            .0
            .iter()
            .map(|operation| steps(operation.path().as_ref()))
            .collect();
        let moved = moved(object(&request), &after, &mut Vec::new(), &touched);
        ensure(moved.is_none(), || {
            format!(
                "{moved:?} of {}\n{}",
                object(&request),
                json!(decision.patch)
            )
        })?;
    }
    Ok(())
}

/// Where two documents differ, byte by byte, outside the places that were touched.
fn moved(
    before: &Value,
    after: &Value,
    path: &mut Vec<String>,
    touched: &[Vec<String>],
) -> Option<String> {
    if touched.contains(path) {
        return None;
    }
    let inside = touched.iter().any(|one| one.starts_with(path));
    let children: Vec<(String, &Value)> = match before {
        Value::Object(members) if inside => members
            .iter()
            .map(|(key, value)| (key.clone(), value))
            .collect(),
        Value::Array(items) if inside => items
            .iter()
            .enumerate()
            .map(|(index, value)| (index.to_string(), value))
            .collect(),
        _ => return (!identical(before, after)).then(|| path.join("/")),
    };
    children.into_iter().find_map(|(step, value)| {
        let other = match after {
            Value::Array(items) => items.get(step.parse::<usize>().ok()?),
            other => other.get(&step),
        };
        path.push(step);
        let found = match other {
            Some(other) => moved(value, other, path, touched),
            None if touched.contains(path) => None,
            None => Some(path.join("/")),
        };
        path.pop();
        found
    })
}

pub(super) fn every_operation_is_allowed_and_applies(bytes: &[u8]) -> Result<(), String> {
    for (request, facts) in requests(bytes) {
        let patch = admit(&request, &facts).patch;
        let objection = objection_to_operations(&patch.0, object(&request));
        ensure(objection.is_none(), || {
            format!("{objection:?} of {}\n{}", object(&request), json!(patch))
        })?;
    }
    Ok(())
}

/// A record is the user's to write: whatever it claims, only fields of edits are written, and only with what edits write.
pub(super) fn a_record_that_lies_writes_nothing_that_edits_would_not(
    bytes: &[u8],
) -> Result<(), String> {
    let update = drawn_forgery(bytes);
    let facts = update.facts();
    let (updated, created) = (
        update.request(),
        create(&update.new, update.drawn.namespace),
    );
    for request in [updated, created] {
        let patch = admit(&request, &facts).patch;
        let objection = objection_to_operations(&patch.0, object(&request))
            .or_else(|| patch.0.iter().find_map(objection_to_value));
        ensure(objection.is_none(), || {
            format!("{objection:?} of {}\n{}", object(&request), json!(patch))
        })?;
        mends_once(&request, &facts, |object| object.clone())?;
    }
    Ok(())
}

/// Why an operation does not write what an edit does: it has a lie in it, or no number where one belongs.
fn objection_to_value(operation: &PatchOperation) -> Option<String> {
    let operation = json!(operation);
    let path = operation["path"].as_str().unwrap_or_default();
    let value = operation.get("value")?;
    let is_number = path.ends_with("Seconds") || path.ends_with("/failureThreshold");
    let is_wrong = is_number && value.as_i64().is_none_or(|value| value < 0);
    (is_wrong || value.to_string().contains(THEIRS)).then(|| format!("{path} = {value}"))
}

pub(super) fn nothing_of_the_owners_is_weakened(bytes: &[u8]) -> Result<(), String> {
    let drawn = drawn(bytes);
    let in_file = Facts {
        origin: Origin::File,
        ..drawn.facts.clone()
    };
    for facts in [editing(&drawn), in_file] {
        let (decision, after) = mended(&drawn.create(), &facts)?;
        let reasons = unlawful_under(&namespace_defaults(&drawn), &drawn.object, &after);
        ensure(reasons.is_empty(), || {
            format!("{reasons:?} of {}\n{}", drawn.object, json!(decision.patch))
        })?;
    }
    Ok(())
}

pub(super) fn files_and_admission_agree(bytes: &[u8]) -> Result<(), String> {
    let drawn = drawn(bytes);
    if has_apply_record(&drawn.object) {
        return Ok(());
    }
    let facts = drawn.admission(Mode::Enforce);
    let in_file = Facts {
        origin: Origin::File,
        ..facts.clone()
    };
    let (file, fixed) = mended(&drawn.create(), &in_file)?;
    // Where a value cannot be read, files are left alone in every mode.
    if file.left_alone.is_some() && file.mode != Mode::Enforce {
        return Ok(());
    }
    let arrived = with_server_defaults(&drawn.object, &facts);
    let (answer, mut admitted) = mended(&with_object(&drawn.create(), &arrived), &facts)?;
    let fixed = with_server_defaults(&fixed, &facts);
    admitted = with_server_defaults(&admitted, &facts);
    drop_mark(&mut admitted, &fixed);
    let differs = changes(&fixed, &admitted)
        .iter()
        .any(|change| change.old.is_some() || change.new.is_some());
    ensure(!differs, || {
        format!(
            "of {}\nfile {}\nadmission {}",
            drawn.object,
            json!(file.patch),
            json!(answer.patch)
        )
    })
}

fn has_apply_record(object: &Value) -> bool {
    let metadata = &object["metadata"];
    metadata["annotations"]["kubectl.kubernetes.io/last-applied-configuration"].is_string()
        || metadata["managedFields"].is_array()
}

/// Takes the record of what was changed out, which files do not get, and the map that was made for it.
fn drop_mark(admitted: &mut Value, fixed: &Value) {
    let Some(members) = admitted
        .pointer_mut("/metadata/annotations")
        .and_then(Value::as_object_mut)
    else {
        return;
    };
    members.shift_remove(MARK);
    let is_new = members.is_empty()
        && fixed
            .pointer("/metadata/annotations")
            .is_none_or(Value::is_null);
    if let Some(metadata) = admitted["metadata"].as_object_mut().filter(|_| is_new) {
        metadata.shift_remove("annotations");
    }
    let is_new = admitted["metadata"]
        .as_object()
        .is_some_and(serde_json::Map::is_empty);
    if let Some(object) = admitted
        .as_object_mut()
        .filter(|_| is_new && fixed["metadata"].is_null())
    {
        object.shift_remove("metadata");
    }
}

pub(super) fn a_file_is_mended_in_place(bytes: &[u8]) -> Result<(), String> {
    let drawn = drawn(bytes);
    let text = serde_json::to_string_pretty(&drawn.object).map_err(|error| error.to_string())?;
    let manifest = Manifest::read("drawn.json", &text);
    let [object] = manifest.objects.as_slice() else {
        return Err(format!("{} objects in {text}", manifest.objects.len()));
    };
    let facts = Facts {
        origin: Origin::File,
        ..drawn.facts.clone()
    };
    let patch = admit(&create(&object.value, drawn.namespace), &facts).patch;
    let edited = manifest
        .edit(&[(0, &patch)])
        .map_err(|error| format!("{error} of {text}\n{}", json!(patch)))?;
    let read = Manifest::read("drawn.json", &edited);
    ensure(
        read.objects.first().is_some_and(|read| {
            patched(&object.value, &patch).is_ok_and(|it| same(&it, &read.value))
        }),
        || format!("{edited}\nof {text}"),
    )
}
