//! Annotations that stand on an object only: its pods see the template alone, so they are copied into it.

use super::{Edit, EditKind, Site};
use crate::intent::{Skip, SkipReason, Stray};

/// The copies that the templates lack. An object that is none of ours, or not ours to edit, gets none.
pub(super) fn copies(site: &Site<'_>) -> Vec<Edit> {
    let is_said = |skip: &Skip| {
        matches!(
            skip.reason,
            SkipReason::OptedOut | SkipReason::SkipAnnotation
        )
    };
    if !site.intent.skip.as_ref().is_none_or(is_said) {
        return Vec::new();
    }
    let copy = |stray: &Stray| {
        let template = site.intent.templates.get(stray.template)?.template;
        let reached = site.reach.templates.get(stray.template) == Some(&true);
        let value = stray.path.find(site.subject.object).filter(|_| reached)?;
        let path = template.path.keys(&["metadata", "annotations", &stray.key]);
        (!site.is_applied(&path)).then(|| Edit {
            kind: EditKind::Annotation,
            container: None,
            path,
            value: Some(value.clone()),
            was: None,
            why: "the pods see the template only".to_owned(),
        })
    };
    site.intent.strays.iter().filter_map(copy).collect()
}
