//! What an update changed.

use serde_json::Value;

use super::{Container, PodTemplate, raw};
use crate::words::FieldPath;

/// The object before an update, to compare with.
#[derive(Clone, Copy, Debug)]
pub struct Update<'a> {
    /// The object as it was.
    pub old: &'a Value,
}

impl<'a> Update<'a> {
    /// The template as it was.
    pub fn old_template(&self, template: &PodTemplate<'_>) -> Option<&'a Value> {
        template.path.find(self.old)
    }

    /// Whether the update changes a template.
    pub fn changes_template(&self, template: &PodTemplate<'_>) -> bool {
        self.old_template(template) != Some(template.raw)
    }

    /// The container of the same name as it was.
    pub fn old_container(
        &self,
        template: &PodTemplate<'_>,
        container: &Container<'_>,
    ) -> Option<&'a Value> {
        let spec = self.old_template(template)?.get("spec")?;
        ["containers", "initContainers"]
            .into_iter()
            .flat_map(|list| raw::items(spec, list))
            .find(|old| raw::text(old, "name") == Some(&container.name))
    }

    /// Whether the update changes the field at `path` of `object`.
    pub fn changes_field(&self, object: &Value, path: &FieldPath) -> bool {
        let present = |root| path.find(root).filter(|value| !value.is_null());
        present(self.old) != present(object)
    }
}
