//! What an update leaves alone: what is said of it is not new.

use serde_json::Value;

use super::Case;
use crate::plan::{self, Write};
use crate::subject::{PodTemplate, Update};
use crate::words::Finding;

/// What an update leaves alone. What warmgate itself has written beside it is no change of its owner: the patch of the
/// mutating call would otherwise make every old finding of that container a new one.
pub(super) struct Age<'a> {
    /// What is compared with the object as it was, where values of ours stand in one of the two: both without them.
    bare: Option<(Value, Value)>,
    update: Update<'a>,
    /// Whether our annotations in a template are those that stood there before; in the order of the templates.
    same_annotations: Vec<bool>,
}

impl<'a> Age<'a> {
    /// Of an update; of what is new nothing is old.
    pub(super) fn of(case: &Case<'a>) -> Option<Self> {
        let Write::Update(update) = case.write else {
            return None;
        };
        let templates = case.subject.templates.iter();
        let same = |template: &PodTemplate<'_>| {
            ours(template, update.old).eq(ours(template, case.subject.object))
        };
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
        && hooks.as_object().is_none_or(serde_json::Map::is_empty)
    {
        members.shift_remove("lifecycle");
    }
    container
}

/// Our annotations in a template of an object.
fn ours<'v>(
    template: &PodTemplate<'_>,
    object: &'v Value,
) -> impl Iterator<Item = (&'v String, &'v Value)> {
    let map = template
        .path
        .keys(&["metadata", "annotations"])
        .find(object)
        .and_then(Value::as_object);
    map.into_iter()
        .flatten()
        .filter(|(key, _)| crate::annotations::is_ours(key))
}
