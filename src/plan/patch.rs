//! Edits to RFC 6902 on the raw JSON.
//!
//! A patch that does not apply is an error to the user even where the webhook's failures are ignored, so only `add` is used
//! (it also replaces), missing parents are created, and `remove` takes out nothing but what `changes` proves ours.

use json_patch::jsonptr::PointerBuf;
use json_patch::{AddOperation, Patch, PatchOperation, RemoveOperation};
use serde_json::{Map, Value, json};

use super::edit::Edit;
use super::own::Own;
use super::{Plan, present};
use super::{place, record};
use crate::annotations;
use crate::facts::{Facts, Origin};
use crate::subject::Subject;
use crate::words::{FieldPath, Segment};

/// Turns edits into the plan's patch. `edits` are values that the object should carry from us, also where it carries them
/// already; `staying` are values of ours that it carries and keeps, and `removable` those that go unless they stay or an edit
/// wants them.
pub(super) fn build(
    subject: &Subject<'_>,
    facts: &Facts,
    edits: Vec<Edit>,
    plan: &mut Plan,
    staying: &[Own],
    removable: &[Own],
) {
    let mut builder = Builder::of(subject.object);
    let mut done = Vec::new();
    let mut carried = Vec::new();
    for edit in edits {
        let Some(value) = &edit.value else { continue };
        let stands = present(subject.object, &edit.path)
            .is_some_and(|stands| record::means_same(edit.kind, stands, value));
        if stands {
            carried.push(edit);
        } else if builder.add(&edit.path, value.clone()) {
            done.push(edit.clone());
            carried.push(edit);
        }
    }
    let wanted = |own: &&Own| {
        carried.iter().any(|edit: &Edit| edit.path == own.path)
            || staying.iter().any(|stays| stays.path == own.path)
    };
    for own in removable.iter().filter(|own| !wanted(own)) {
        done.push(take_out(&mut builder, own, "its reason is gone"));
    }
    if facts.origin == Origin::Admission {
        write_down(subject, &carried, staying, &mut builder);
    }
    done.sort_by(|one, other| one.path.cmp(&other.path));
    plan.edits = done;
    plan.patch = builder.into_patch();
}

/// Takes a value of ours out again; beside the owner's handler, ours and what belongs to it.
pub(super) fn take_out(builder: &mut Builder<'_>, own: &Own, why: &str) -> Edit {
    let (mut path, mut why) = (own.path.clone(), why);
    match (&own.ours_beside_owners, &own.was) {
        (Some(beside), _) => {
            beside
                .members
                .iter()
                .for_each(|member| builder.remove(&own.path.key(member)));
            path = path.key(&beside.handler);
            why = "the owner has set a handler beside ours";
        }
        (None, Some(was)) => drop(builder.add(&own.path, was.clone())),
        (None, None) => builder.remove(&own.path),
    }
    Edit {
        path,
        value: own.was.clone(),
        was: Some(own.value.clone()),
        why: why.to_owned(),
        ..own.as_edit()
    }
}

/// Writes down what is ours, or takes the record away with the last value. What stays keeps its record to the letter: the
/// owner may have set something beside it. Where an edit is of the same field, its record holds.
pub(super) fn write_down(
    subject: &Subject<'_>,
    edits: &[Edit],
    staying: &[Own],
    builder: &mut Builder<'_>,
) {
    let path = FieldPath::of(&["metadata", "annotations", annotations::CHANGES]);
    let new = edits
        .iter()
        .filter_map(|edit| Some((&edit.path, record::record(edit)?)));
    let old = staying.iter().map(|own| (&own.path, own.record.clone()));
    let mut records: Vec<(String, Value)> = old
        .chain(new)
        .map(|(path, record)| (place::named(path, subject.object), record))
        .collect();
    records.sort_by(|one, other| one.0.cmp(&other.0));
    let stands = path.find(subject.object);
    if records.is_empty() {
        if stands.is_some() {
            builder.remove(&path);
        }
        return;
    }
    let records: Map<String, Value> = records.into_iter().collect();
    let text = json!(Value::Object(records).to_string());
    if stands != Some(&text) {
        builder.add(&path, text);
    }
}

/// The maps that may be made for what edits write.
const MADE: [&str; 5] = [
    "annotations",
    "lifecycle",
    "metadata",
    "rollingUpdate",
    "strategy",
];

/// The operations on an object, which itself is never copied: it is as large as a review, and edits are few.
pub(super) struct Builder<'a> {
    object: &'a Value,
    /// The members that were set, or taken out where there is no value, in the order in which it was done.
    done: Vec<(FieldPath, Option<Value>)>,
}

impl<'a> Builder<'a> {
    pub(super) fn of(object: &'a Value) -> Self {
        Self {
            object,
            done: Vec::new(),
        }
    }

    pub(super) fn into_patch(self) -> Patch {
        let operation = |(path, value): (FieldPath, Option<Value>)| {
            let path = pointer(&path);
            match value {
                Some(value) => PatchOperation::Add(AddOperation { path, value }),
                None => PatchOperation::Remove(RemoveOperation { path }),
            }
        };
        Patch(self.done.into_iter().map(operation).collect())
    }

    /// Sets a field. What is missing above it is created in the same operation. False where something else than a map
    /// stands in the way.
    fn add(&mut self, path: &FieldPath, value: Value) -> bool {
        let mut path = path.clone();
        let mut value = value;
        while let Some(parent) = path
            .parent()
            .filter(|parent| self.find(parent).is_none_or(Value::is_null))
        {
            let Some(Segment::Key(key)) = path.segments().last() else {
                return false;
            };
            value = json!({ (key.clone()): value });
            path = parent;
        }
        let may = self.is_member(&path);
        if may {
            self.done.push((path, Some(value)));
        }
        may
    }

    /// Takes a member out, if it is there.
    fn remove(&mut self, path: &FieldPath) {
        if self.is_member(path) && self.find(path).is_some() {
            self.done.push((path.clone(), None));
        }
    }

    /// Takes the maps out around a member that was taken out, as far as they are empty now and are of those that [`Self::add`]
    /// makes where they are missing.
    pub(super) fn prune(&mut self, path: &FieldPath) {
        let mut path = path.clone();
        while let Some(parent) = path.parent() {
            let Some(Segment::Key(key)) = parent.segments().last() else {
                return;
            };
            if !MADE.contains(&key.as_str()) || !self.is_empty_map(&parent) {
                return;
            }
            self.remove(&parent);
            path = parent;
        }
    }

    /// What stands at a path after all operations; what they have done further below is not seen in it.
    fn find(&self, path: &FieldPath) -> Option<&Value> {
        let mut done = self.done.iter().rev();
        match done.find_map(|(at, value)| Some((path.below(at)?, value))) {
            Some((rest, value)) => rest.find(value.as_ref()?),
            None => path.find(self.object),
        }
    }

    /// Whether a path names a member of a map that is there.
    fn is_member(&self, path: &FieldPath) -> bool {
        let is_key = matches!(path.segments().last(), Some(Segment::Key(_)));
        let parent = path.parent().filter(|_| is_key);
        parent.is_some_and(|parent| self.find(&parent).is_some_and(Value::is_object))
    }

    fn is_empty_map(&self, path: &FieldPath) -> bool {
        let Some(members) = self.find(path).and_then(Value::as_object) else {
            return false;
        };
        let there = |member: &FieldPath| self.find(member).is_some();
        let mut set = self.done.iter().map(|(at, _)| at);
        let stood = members.keys().any(|key| there(&path.key(key)));
        !stood && !set.any(|at| at.parent().as_ref() == Some(path) && there(at))
    }
}

fn pointer(path: &FieldPath) -> PointerBuf {
    PointerBuf::parse(path.pointer()).expect("a field path escapes what a JSON pointer reserves")
}
