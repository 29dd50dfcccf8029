//! Our edits taken back: a field that `changes` names and that still has the value we wrote becomes what it was before.
//!
//! Everything else is its owner's and stays. The record goes with the last value of ours; so do the maps that are empty then
//! and may have been made for it, since nobody knows any more who made them and an empty one says nothing.

use json_patch::Patch;
use serde_json::{Map, Value};

use super::edit::{Edit, EditKind};
use super::needed::needed;
use super::own::{Own, is_believed, own_values, records, without};
use super::patch::{Builder, take_out, write_down};
use super::place::resolve;
use super::present;
use super::written::kind_of;
use crate::annotations::CHANGES;
use crate::knowledge::Knowledge;
use crate::subject::{ApplyRecord, NoSubject, Owner, Subject};
use crate::words::FieldPath;

/// What takes our edits back from one object.
#[derive(Clone, Debug, Default)]
pub struct Undo {
    /// The fields that become what they were, in the order of the object's fields.
    pub edits: Vec<Edit>,
    /// The fields that `changes` names and that stay as they are, in its order.
    pub left: Vec<Left>,
    /// The edits as RFC 6902, and what takes the record away.
    pub patch: Patch,
}

/// A field that stays as it is.
#[derive(Clone, Debug, PartialEq)]
pub struct Left {
    /// The field as `changes` names it.
    pub name: String,
    /// Where it stands, or stood; `None` where what held it is gone too.
    pub path: Option<FieldPath>,
    /// Why it stays.
    pub why: Stays,
}

/// Why a field stays as it is.
#[derive(Clone, Debug, PartialEq)]
pub enum Stays {
    /// It has our value, and somebody has applied it by name since.
    Applied,
    /// It has another value than the one we wrote.
    Changed {
        /// The value that stands there and the one that we wrote, where the record shows it.
        values: Option<(Value, Value)>,
    },
    /// Its record is none that warmgate writes.
    Disbelieved,
    /// Warmgate never writes such a field.
    Foreign,
    /// It is not there any more.
    Gone,
    /// It is ours, and the API server would refuse the object without it: why.
    Needed(String),
}

/// Why nothing can be taken back from an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoUndo {
    /// It has a record and is of no kind that is known to hold pods.
    Kind(NoSubject),
    /// It has no record: nothing of it is known to be ours.
    NoRecord,
    /// A controller owns it, has copied the record onto it, and would put everything back.
    Owned(Owner),
    /// Its record cannot be read.
    Unreadable,
}

/// Takes back from an object every edit that its annotation `changes` records and whose value is still the one we wrote.
///
/// # Errors
/// [`NoUndo`] says why nothing can be taken back.
pub fn undo(object: &Value, knowledge: &Knowledge) -> Result<Undo, NoUndo> {
    let path = FieldPath::of(&["metadata", "annotations", CHANGES]);
    present(object, &path).ok_or(NoUndo::NoRecord)?;
    let subject = Subject::read(object, "", knowledge).map_err(NoUndo::Kind)?;
    if let Some(owner) = subject.controller.as_ref().filter(|_| !subject.is_pod()) {
        return Err(NoUndo::Owned(owner.clone()));
    }
    let records = records(&subject).ok_or(NoUndo::Unreadable)?;
    let own = own_values(&subject, &ApplyRecord::read(object));
    let bare = without(object, &own);
    let bare = Subject::read(&bare, "", knowledge);
    let needed = bare.map_or_else(|_| Vec::new(), |bare| needed(&bare, &own));
    let is_needed = |own: &Own| needed.iter().any(|(path, _)| *path == own.path);
    let (staying, mut taken): (Vec<Own>, Vec<Own>) = own.into_iter().partition(is_needed);
    // What stands in another of our values goes first: nothing is put back into a map that is gone.
    taken.sort_by(|one, other| other.path.cmp(&one.path));

    let mut builder = Builder::of(object);
    let mut edits: Vec<Edit> = taken
        .iter()
        .map(|own| take_out(&mut builder, own, "taken back"))
        .collect();
    write_down(&subject, &[], &staying, &mut builder);
    for path in taken.iter().map(|own| &own.path).chain([&path]) {
        builder.prune(path);
    }
    edits.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(Undo {
        edits,
        left: left(&subject, &records, &taken, &needed),
        patch: builder.into_patch(),
    })
}

/// The fields that `changes` names and that are not taken back.
fn left(
    subject: &Subject<'_>,
    records: &Map<String, Value>,
    taken: &[Own],
    needed: &[(FieldPath, String)],
) -> Vec<Left> {
    let is_among = |own: &[Own], path: &FieldPath| own.iter().any(|own| own.path == *path);
    let unapplied = own_values(subject, &ApplyRecord::default());
    let mut left = Vec::new();
    for (name, record) in records {
        let path = resolve(name, subject.object);
        let why = match &path {
            Some(path) if is_among(taken, path) => continue,
            Some(path) => match needed.iter().find(|(needed, _)| needed == path) {
                Some((_, why)) => Stays::Needed(why.clone()),
                None if is_among(&unapplied, path) => Stays::Applied,
                None => not_ours(subject, path, record),
            },
            None => Stays::Gone,
        };
        left.push(Left {
            name: name.clone(),
            path,
            why,
        });
    }
    left
}

/// What a field is that has not the value we wrote. Values of handlers and annotations may be secrets, and are not shown.
fn not_ours(subject: &Subject<'_>, path: &FieldPath, record: &Value) -> Stays {
    let Some(kind) = kind_of(path, subject.workload) else {
        return Stays::Foreign;
    };
    let Some(stands) = present(subject.object, path) else {
        return Stays::Gone;
    };
    if !is_believed(kind, path, record) {
        return Stays::Disbelieved;
    }
    let hidden = matches!(
        kind,
        EditKind::Annotation | EditKind::PreStop | EditKind::StartupProbe
    );
    let wrote = record.get("set").filter(|_| !hidden);
    if wrote == Some(stands) {
        return Stays::Disbelieved;
    }
    Stays::Changed {
        values: wrote.map(|wrote| (stands.clone(), wrote.clone())),
    }
}
