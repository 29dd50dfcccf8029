//! Annotations that stand on an object only: its pods see the template alone, so they are copied into it.

use super::{Edit, EditKind, Site};
use crate::intent::TemplateIntent;

/// The copies that the templates lack.
pub(super) fn copies(
    site: &Site<'_>,
    is_written: impl Fn(&TemplateIntent<'_>) -> bool,
) -> Vec<Edit> {
    let copy = |stray: &crate::intent::Stray| {
        let template = site
            .intent
            .templates
            .get(stray.template)
            .filter(|template| is_written(template))?;
        Some(Edit {
            kind: EditKind::Annotation,
            container: None,
            path: template
                .template
                .path
                .keys(&["metadata", "annotations", &stray.key]),
            value: Some(stray.path.find(site.subject.object)?.clone()),
            was: None,
            why: "the pods see the template only".to_owned(),
        })
    };
    site.intent.strays.iter().filter_map(copy).collect()
}
