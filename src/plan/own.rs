//! Our own values: what the annotation `changes` names, as long as it still stands there and nobody applied it by name.
//!
//! A record is kept by the names of containers, not by their places, so that a sidecar injected in front moves nothing.
//! Handlers and annotations may hold secrets, so of them only a digest is recorded.

use serde_json::{Map, Value};

use super::edit::{Edit, EditKind};
use super::handler::is_handler;
use super::place::resolve;
use super::present;
use super::record::{digest, is_default, normal_handler};
use super::written::{kind_of, replaces};
use crate::annotations;
use crate::subject::{ApplyRecord, Subject, Update};
use crate::words::{FieldPath, Segment};

/// The most bytes of `changes` that are read: the API server stores no more annotations than these together
/// (`TotalAnnotationSizeLimitB` in `staging/src/k8s.io/apimachinery/pkg/api/validation/objectmeta.go`), and each record is looked
/// for in the object.
const MOST_BYTES: usize = 256 << 10;

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
    /// Where the owner has set a handler beside ours: what of the value is ours.
    pub(super) ours_beside_owners: Option<Beside>,
}

/// What is ours in a probe or hook in which the owner has set a handler too.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Beside {
    /// Our handler.
    pub(super) handler: String,
    /// All members that are ours, the handler among them.
    pub(super) members: Vec<String>,
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
    claims(subject)
        .into_iter()
        .filter_map(|claim| proven(subject, applied, claim))
        .collect()
}

/// The fields that `changes` names and that are there, whatever their values are by now.
pub(super) fn claims(subject: &Subject<'_>) -> Vec<Own> {
    let records = records(subject).unwrap_or_default();
    let claims = records
        .iter()
        .filter_map(|(name, record)| claim(subject, name, record));
    let mut claims: Vec<Own> = claims.collect();
    let probes = claims
        .iter()
        .filter(|claim| claim.kind == EditKind::StartupProbe);
    let probes: Vec<FieldPath> = probes.map(|claim| claim.path.clone()).collect();
    // An edit raises the owner's window; in a probe of ours there is none.
    let is_within = |path: &FieldPath| probes.iter().any(|probe| path.starts_with(probe));
    claims.retain(|claim| claim.kind != EditKind::StartupWindow || !is_within(&claim.path));
    claims
}

/// What `changes` says, field by field; `None` where it is absent, cannot be read, or is longer than it can be.
pub(super) fn records(subject: &Subject<'_>) -> Option<Map<String, Value>> {
    let text = subject.annotation(annotations::CHANGES)?;
    let text = Some(text).filter(|text| text.len() <= MOST_BYTES)?;
    serde_json::from_str(text).ok()
}

/// Whether a record says something that an edit of the field can have done. Else nothing of it is believed: what it says was
/// there before would be written out.
pub(super) fn is_believed(kind: EditKind, field: &FieldPath, record: &Value) -> bool {
    let set = record.get("set").unwrap_or(&Value::Null);
    was(record).is_none_or(|was| replaces(kind, field, was, set))
}

fn was(record: &Value) -> Option<&Value> {
    record.get("was").filter(|was| !was.is_null())
}

fn claim(subject: &Subject<'_>, name: &str, record: &Value) -> Option<Own> {
    let path = resolve(name, subject.object)?;
    let kind = kind_of(&path, subject.workload)?;
    let value = present(subject.object, &path)?;
    if !is_believed(kind, &path, record) {
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
        was: was(record).cloned(),
        why: record
            .get("why")
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned(),
        record: record.clone(),
        container: container.map(|container| container.name.clone()),
        template: subject.templates.iter().position(inside),
        ours_beside_owners: None,
        path,
    })
}

/// A claim whose value is the recorded one and that nobody applied by name.
fn proven(subject: &Subject<'_>, applied: &ApplyRecord, claim: Own) -> Option<Own> {
    let is_applied = |path: &FieldPath| applied.names(subject.object, path);
    match matching(claim.kind, &claim.value, claim.record.get("set")?)? {
        Match::Whole => (!is_applied(&claim.path)).then_some(claim),
        Match::Beside(mut beside) => {
            // Numbers that the owner applied are his, also where they are the same as ours.
            let members = &mut beside.members;
            members.retain(|member| !is_applied(&claim.path.key(member)));
            members.contains(&beside.handler).then_some(Own {
                ours_beside_owners: Some(beside),
                ..claim
            })
        }
    }
}

enum Match {
    /// The value is the one we wrote.
    Whole,
    /// Some of it is ours, and the owner has set a handler beside it.
    Beside(Beside),
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
        return Some(Match::Beside(Beside {
            handler: ours.clone(),
            members: set.keys().filter(|key| same(key)).cloned().collect(),
        }));
    }
    let untouched = set.keys().all(|key| same(key));
    let nothing_more = value
        .iter()
        .all(|(key, value)| set.contains_key(key) || is_default(key, value));
    (untouched && nothing_more).then_some(Match::Whole)
}

/// The object of an update and what it was before, both without the values of ours in their fields, `own` being those of the
/// object; `None` where neither carries any.
pub(crate) fn without_ours(
    subject: &Subject<'_>,
    own: &[Own],
    update: Update<'_>,
) -> Option<(Value, Value)> {
    let old = Subject::read(update.old, &subject.namespace, subject.knowledge);
    let old_own = old.map(|old| own_values(&old, &ApplyRecord::read(update.old)));
    let fields = |own: &[Own]| -> Vec<Own> {
        let in_field = |one: &&Own| one.kind != EditKind::Annotation;
        own.iter().filter(in_field).cloned().collect()
    };
    let (now, then) = (fields(own), fields(&old_own.unwrap_or_default()));
    (!now.is_empty() || !then.is_empty())
        .then(|| (without(subject.object, &now), without(update.old, &then)))
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
            (Some(beside), _) => {
                if let Some(Value::Object(probe)) = parent.get_mut(key) {
                    beside
                        .members
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
