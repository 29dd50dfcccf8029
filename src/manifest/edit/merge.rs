//! Merges (`<<`), whose members a map has without saying so.

use std::collections::HashMap;

use serde_json::Value;

use super::super::scan::line_end;
use super::super::tree::Id;
use super::entries::Entry;
use super::walk::{Around, Walk};

impl<'a> Walk<'a> {
    /// Puts members in the place of a merge that brings more than it should.
    pub(super) fn instead_of_merge(
        &mut self,
        id: Id,
        merge: Entry,
        added: &[(&String, &Value)],
        around: &Around<'a>,
    ) {
        let start = self.tree.node(merge.key).props();
        let end = self.tree.node(merge.value).end();
        let text = match around {
            Around::Block { column } => {
                let indents = self.indents.within(self.text, self.tree, id);
                self.block(indents, end).members(added, *column)
            }
            Around::Flow(flow) => flow.members(added, flow.comma(), self.flow_indent(flow, start)),
        };
        match around {
            Around::Block { .. } => {
                // A comment stays behind the first line.
                let (first, behind) = (line_end(&text, 0), line_end(self.text, end));
                self.splice(start, end, &text[..first]);
                self.splice(behind, behind, &text[first..]);
            }
            Around::Flow(_) => self.splice(start, end, text),
        }
    }

    /// What the merges of a map bring it, once the maps they copy say what they will say; `None` where one is no map any more.
    pub(super) fn merged(&self, id: Id) -> Option<HashMap<&'a str, &'a Value>> {
        let mut merged = HashMap::new();
        for source in self.tree.merged(id) {
            let source = self.kept.get(&self.tree.target(source))?;
            for (name, value) in source.as_object()? {
                merged.entry(name.as_str()).or_insert(value);
            }
        }
        Some(merged)
    }

    /// Notes that what is written at a merge key stays as it is.
    pub(super) fn keep_sources(&mut self, value: Id) {
        for node in value..self.tree.behind(value) {
            if let Some(value) = self.document.values.get(&node) {
                self.kept.insert(node, value);
            }
        }
    }
}
