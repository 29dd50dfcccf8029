//! Our own values: what the annotation `changes` names, as long as it still stands there and nobody applied it by name.
//!
//! A record is kept by the names of containers, not by their places, so that a sidecar injected in front moves nothing.
//! Handlers and annotations may hold secrets, so of them only a digest is recorded.

use serde_json::{Map, Value, json};

use super::edit::{Edit, EditKind};
use super::handler::is_handler;
use super::place::{kind_of, resolve};
use super::record::{digest, is_default, normal_handler};
use super::{Write, present};
use crate::annotations;
use crate::subject::{ApplyRecord, Subject};
use crate::words::{FieldPath, Segment};

/// A value of ours that an object carries.
#[derive(Clone, Debug, PartialEq)]
pub struct Own {
    /// The field.
    pub path: FieldPath,
    /// What the edit was for.
    pub kind: EditKind,
    /// The value as it stands.
    pub value: Value,
    /// What stood there before.
    pub was: Option<Value>,
    /// Why it was written, as recorded.
    pub why: String,
    /// What `changes` says of it.
    pub(super) record: Value,
    pub(super) container: Option<String>,
    /// The template it stands in, by its place in the subject.
    pub(super) template: Option<usize>,
    /// Where the owner has set a handler beside ours: the members that are ours.
    pub(super) ours_beside_owners: Option<Vec<String>>,
}

impl Own {
    /// The value as an edit that is made already.
    pub(super) fn as_edit(&self) -> Edit {
        Edit {
            kind: self.kind,
            container: self.container.clone(),
            path: self.path.clone(),
            value: Some(self.value.clone()),
            was: self.was.clone(),
            why: self.why.clone(),
        }
    }
}

/// Reads the values of ours that an object carries.
pub fn own_values(subject: &Subject<'_>, applied: &ApplyRecord) -> Vec<Own> {
    let Some(text) = subject.annotation(annotations::CHANGES) else {
        return Vec::new();
    };
    let Ok(Value::Object(records)) = serde_json::from_str::<Value>(text) else {
        return Vec::new();
    };
    records
        .iter()
        .filter_map(|(name, record)| own_value(subject, applied, name, record))
        .collect()
}

fn own_value(
    subject: &Subject<'_>,
    applied: &ApplyRecord,
    name: &str,
    record: &Value,
) -> Option<Own> {
    let path = resolve(name, subject.object)?;
    let kind = kind_of(&path)?;
    let value = present(subject.object, &path)?;
    let set = record.get("set")?;
    let matching = matching(kind, value, set)?;
    let is_applied = match &matching {
        Match::Whole => applied.names(subject.object, &path),
        Match::Beside(members) => members
            .iter()
            .any(|member| is_handler(member) && applied.names(subject.object, &path.key(member))),
    };
    if is_applied {
        return None;
    }
    let container = subject
        .templates
        .iter()
        .flat_map(|template| &template.containers)
        .find(|container| path.starts_with(&container.path));
    let inside = |template: &crate::subject::PodTemplate<'_>| path.starts_with(&template.path);
    Some(Own {
        kind,
        value: value.clone(),
        was: record.get("was").filter(|was| !was.is_null()).cloned(),
        why: record
            .get("why")
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned(),
        record: record.clone(),
        container: container.map(|container| container.name.clone()),
        template: subject.templates.iter().position(inside),
        ours_beside_owners: match matching {
            Match::Whole => None,
            Match::Beside(members) => Some(members),
        },
        path,
    })
}

enum Match {
    /// The value is the one we wrote.
    Whole,
    /// These members are ours; the owner has set a handler beside them.
    Beside(Vec<String>),
}

/// Whether what stands there is what was recorded.
fn matching(kind: EditKind, value: &Value, set: &Value) -> Option<Match> {
    match kind {
        EditKind::Annotation => (set.as_str() == Some(&digest(value))).then_some(Match::Whole),
        EditKind::PreStop | EditKind::StartupProbe => {
            matching_handler(kind, value.as_object()?, set.as_object()?)
        }
        _ => (value == set).then_some(Match::Whole),
    }
}

fn matching_handler(
    kind: EditKind,
    value: &Map<String, Value>,
    set: &Map<String, Value>,
) -> Option<Match> {
    let hook = kind == EditKind::PreStop;
    let is_handler = |key: &str| is_handler(key) || (hook && key == "sleep");
    let same = |key: &str| match (value.get(key), set.get(key)) {
        (Some(value), Some(Value::String(recorded))) if is_handler(key) => {
            recorded == &digest(&normal_handler(key, value))
        }
        (value, set) => value == set,
    };
    let ours = set
        .keys()
        .find(|key| is_handler(key))
        .filter(|key| same(key))?;
    let another = value
        .iter()
        .any(|(key, value)| is_handler(key) && key != ours && !value.is_null());
    if another {
        return Some(Match::Beside(
            set.keys().filter(|key| same(key)).cloned().collect(),
        ));
    }
    let untouched = set.keys().all(|key| same(key));
    let nothing_more = value
        .iter()
        .all(|(key, value)| set.contains_key(key) || is_default(key, value));
    (untouched && nothing_more).then_some(Match::Whole)
}

/// The object as it would be without values of ours.
pub(super) fn without(object: &Value, own: &[Own]) -> Value {
    let mut bare = object.clone();
    for own in own {
        let Some(parent) = own
            .path
            .parent()
            .and_then(|parent| bare.pointer_mut(&parent.pointer()))
        else {
            continue;
        };
        let (Some(parent), Some(Segment::Key(key))) =
            (parent.as_object_mut(), own.path.segments().last())
        else {
            continue;
        };
        match (&own.ours_beside_owners, &own.was) {
            (Some(members), _) => {
                if let Some(Value::Object(probe)) = parent.get_mut(key) {
                    members
                        .iter()
                        .for_each(|member| drop(probe.shift_remove(member)));
                }
            }
            (None, Some(was)) => drop(parent.insert(key.clone(), was.clone())),
            (None, None) => drop(parent.shift_remove(key)),
        }
    }
    bare
}

/// The values of ours that stay: those whose reasons an update does not touch.
pub(super) fn kept(
    subject: &Subject<'_>,
    bare: &Subject<'_>,
    own: &[Own],
    write: Write<'_>,
) -> Vec<Own> {
    let Write::Update(update) = write else {
        return Vec::new();
    };
    let old_object = Value::clone(update.old);
    let Ok(old) = Subject::read(&old_object, &subject.namespace, subject.knowledge) else {
        return Vec::new();
    };
    let old_bare = without(
        &old_object,
        &own_values(&old, &ApplyRecord::read(&old_object)),
    );
    let Ok(old_bare) = Subject::read(&old_bare, &subject.namespace, subject.knowledge) else {
        return Vec::new();
    };
    own.iter()
        .filter(|own| own.kind != EditKind::Annotation && own.ours_beside_owners.is_none())
        .filter(|own| reasons(bare, own) == reasons(&old_bare, own))
        .cloned()
        .collect()
}

/// Everything a value of ours was made from.
fn reasons(bare: &Subject<'_>, own: &Own) -> Vec<Value> {
    let ours = |annotations: Option<&Value>| -> Value {
        let members = annotations.and_then(Value::as_object).into_iter().flatten();
        let ours =
            members.filter(|(key, _)| annotations::is_ours(key) && *key != annotations::CHANGES);
        Value::Object(
            ours.map(|(key, value)| (key.clone(), value.clone()))
                .collect(),
        )
    };
    let mut reasons = vec![ours(bare.annotations())];
    if own.kind == EditKind::Rollout {
        return reasons;
    }
    for (index, template) in bare.templates.iter().enumerate() {
        if own.template.is_some_and(|own| own != index) {
            continue;
        }
        reasons.push(ours(template.annotations()));
        reasons.push(json!(template.grace()));
        let containers = template.containers.iter().filter(|container| {
            own.container
                .as_ref()
                .is_none_or(|name| *name == container.name)
        });
        reasons.extend(containers.map(|container| container_reasons(container.raw)));
    }
    if own.kind == EditKind::ProgressDeadline {
        reasons.push(
            bare.object
                .pointer("/spec/minReadySeconds")
                .cloned()
                .unwrap_or_default(),
        );
    }
    reasons
}

fn container_reasons(container: &Value) -> Value {
    let keys = [
        "args",
        "command",
        "env",
        "lifecycle",
        "livenessProbe",
        "ports",
        "readinessProbe",
        "startupProbe",
    ];
    let is_empty = |value: &Value| value.is_null() || value.as_object().is_some_and(Map::is_empty);
    let members = keys
        .into_iter()
        .filter_map(|key| Some((key, container.get(key).filter(|value| !is_empty(value))?)));
    Value::Object(
        members
            .map(|(key, value)| (key.to_owned(), value.clone()))
            .collect(),
    )
}
