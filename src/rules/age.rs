//! What an update leaves alone: what is said of it is not new.

use serde_json::{Map, Value};

use super::Case;
use crate::annotations;
use crate::plan::{self, Write};
use crate::subject::{PodTemplate, Update};
use crate::words::{FieldPath, Finding};

/// What an update leaves alone. What warmgate itself has written beside it is no change of its owner: the patch of the
/// mutating call would otherwise make every old finding of that container a new one.
pub(super) struct Age<'a> {
    /// What is compared with the object as it was, where values of ours stand in one of the two: both without them.
    bare: Option<(Value, Value)>,
    update: Update<'a>,
    /// Whether our annotations in a template say what held for it before; in the order of the templates.
    same_annotations: Vec<bool>,
}

impl<'a> Age<'a> {
    /// Of an update; of what is new nothing is old.
    pub(super) fn of(case: &Case<'a>) -> Option<Self> {
        let Write::Update(update) = case.write else {
            return None;
        };
        let templates = case.subject.templates.iter();
        let same =
            |template: &PodTemplate<'_>| says_the_same(template, case.subject.object, update);
        Some(Self {
            bare: plan::without_ours(case.subject, &case.plan.own, update),
            update,
            same_annotations: templates.map(same).collect(),
        })
    }

    /// Whether everything is left alone that a finding is about: the container, the field, and our annotations in its template.
    pub(super) fn is_old(&self, case: &Case<'_>, finding: &Finding) -> bool {
        let (object, update) = match &self.bare {
            Some((object, old)) => (object, Update { old }),
            None => (case.subject.object, self.update),
        };
        if update.changes_field(object, &finding.path) {
            return false;
        }
        let mut templates = case.subject.templates.iter().zip(&self.same_annotations);
        let inside = templates.find(|(template, _)| finding.path.starts_with(&template.path));
        let Some((template, same)) = inside else {
            return true;
        };
        let container = finding
            .container
            .as_deref()
            .and_then(|name| template.container(name));
        *same
            && container.is_none_or(|container| {
                let now = container.path.find(object);
                let then = update.old_container(template, container);
                now.map(trimmed) == then.map(trimmed)
            })
    }
}

/// A container without a map of hooks in which there is none: ours may have stood there.
fn trimmed(container: &Value) -> Value {
    let mut container = container.clone();
    if let Some(members) = container.as_object_mut()
        && let Some(hooks) = members.get("lifecycle")
        && hooks.as_object().is_none_or(Map::is_empty)
    {
        members.shift_remove("lifecycle");
    }
    container
}

/// Whether every key of ours in a template, now or before, has the value that held for it before: the one that stood there, else
/// the one on the object, which the mutating call copies into a template that it writes.
fn says_the_same(template: &PodTemplate<'_>, object: &Value, update: Update<'_>) -> bool {
    let own = FieldPath::root().keys(&["metadata", "annotations"]);
    let inside = template.path.keys(&["metadata", "annotations"]);
    let holds = |object: &Value, key: &str| {
        let standing = |place: &FieldPath| place.find(object)?.get(key).cloned();
        standing(&inside).or_else(|| standing(&own))
    };
    let standing =
        [object, update.old].map(|object| inside.find(object).and_then(Value::as_object));
    let mut keys = standing.into_iter().flatten().flat_map(Map::keys);
    keys.all(|key| !annotations::is_ours(key) || holds(object, key) == holds(update.old, key))
}
