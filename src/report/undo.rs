//! What was taken back and what was not, in words.

use super::brief;
use super::plain::count;
use crate::plan::{Left, NoUndo, Stays, Undo};
use crate::subject::NoSubject;
use crate::words::{MESSAGE_LIMIT, clip};

/// So many objects without a record are named; the rest is counted.
const NAMES: usize = 3;

/// How much was taken back: `4 fields taken back`.
pub fn undone(undo: &Undo) -> String {
    match undo.edits.len() {
        0 if undo.patch.0.is_empty() => "nothing is taken back".to_owned(),
        0 => "nothing is as warmgate wrote it, so only the record is taken out".to_owned(),
        fields => format!("{} taken back", count(fields, "field", "fields")),
    }
}

/// Why a field stays as it is, on one line that begins with its name.
pub fn left(left: &Left) -> String {
    let name = &left.name;
    let text = match &left.why {
        Stays::Applied => {
            format!("{name} has been applied by name since, so it is the owner's: left as it is")
        }
        Stays::Changed { values: None } => {
            format!("{name} is not as warmgate wrote it, so it is the owner's: left as it is")
        }
        Stays::Changed {
            values: Some((stands, wrote)),
        } => format!(
            "{name} is {} and warmgate wrote {}, so it is the owner's: left as it is",
            brief(stands),
            brief(wrote)
        ),
        Stays::Disbelieved => {
            format!("{name} has a record that warmgate does not write: left as it is")
        }
        Stays::Foreign => format!("{name} is no field that warmgate writes: left as it is"),
        Stays::Gone => format!("{name} is gone: there is nothing to take back"),
        Stays::Needed(why) => {
            format!("{name} stays, the API server would refuse the object without it: {why}")
        }
    };
    clip(&text, MESSAGE_LIMIT)
}

/// Why nothing of an object is taken back.
pub fn no_undo(why: &NoUndo) -> String {
    match why {
        NoUndo::Kind(NoSubject::HoldsNoPods(kind)) => format!("a {kind} holds no pods"),
        NoUndo::Kind(NoSubject::NoObject) => "not a Kubernetes object".to_owned(),
        NoUndo::Kind(NoSubject::UnknownKind(kind)) => {
            format!("the kind {kind} is not known: name it in the file of --config")
        }
        NoUndo::Kind(NoSubject::TooMany(what, most)) => {
            format!("it has more than {most} {what}")
        }
        NoUndo::NoRecord => "it has no warmgate.io/changes".to_owned(),
        NoUndo::Owned(owner) => format!(
            "the {} {} owns it and would put everything back: take it back there",
            owner.kind, owner.name
        ),
        NoUndo::Unreadable => {
            "warmgate.io/changes cannot be read, so nobody knows what to take back".to_owned()
        }
    }
}

/// Which objects have no record; `None` where all have one.
pub fn unrecorded(titles: &[String]) -> Option<String> {
    let named = titles.iter().take(NAMES).cloned().collect::<Vec<_>>();
    let more = match titles.len().checked_sub(NAMES) {
        None | Some(0) => String::new(),
        Some(more) => format!(" and {more} more"),
    };
    let have = if titles.len() == 1 { "has" } else { "have" };
    let text = format!(
        "{} {have} no warmgate.io/changes, so there is nothing to take back: {}{more}",
        count(titles.len(), "object", "objects"),
        named.join(", ")
    );
    (!titles.is_empty()).then(|| clip(&text, MESSAGE_LIMIT))
}
