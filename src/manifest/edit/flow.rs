//! Splices between brackets, JSON among them.

use serde_json::Value;

use super::super::tree::{Id, Kind};
use super::super::write::Flow;
use super::layout::{indentation, is_first, line_end, line_start, skip_blanks};
use super::walk::{Entries, Walk};

impl<'a> Walk<'a> {
    /// The style that a list or map between brackets shows, else that of what is around it.
    pub(super) fn flow_of(&self, id: Id, mut flow: Flow<'a>) -> Flow<'a> {
        if !matches!(self.tree.node(id).kind, Kind::Map { .. }) {
            return flow;
        }
        let mut entries = self.tree.entries(id);
        let Some((key, _)) = entries.next() else {
            return flow;
        };
        flow.quoted = self.tree.node(key).kind == Kind::Double;
        flow.spaced = self
            .colon(key)
            .is_none_or(|colon| self.text[colon..].starts_with([' ', '\t', '\n', '\r']));
        let last = entries.last().map_or(key, |(key, _)| key);
        flow.unit = if flow.quoted && self.has_own_line(id, last) {
            let start = self.tree.node(id).start();
            let inner = indentation(self.text, self.tree.node(last).start());
            inner.strip_prefix(indentation(self.text, start))
        } else {
            None
        };
        flow
    }

    /// Adds members to a map between brackets, and takes entries out of it.
    pub(super) fn change_flow(
        &mut self,
        id: Id,
        entries: &Entries,
        added: &[(&String, &Value)],
        flow: &Flow<'a>,
    ) {
        if !added.is_empty() {
            match entries.last_kept() {
                Some((key, value)) => self.add_behind(id, entries, (key, value), added, flow),
                None => self.fill(id, added, flow),
            }
        }
        for run in entries.runs() {
            let start = self.tree.node(entries.all[run.start].0).props();
            match (entries.all.get(run.end), run.start.checked_sub(1)) {
                (Some(next), _) => {
                    let next = self.tree.node(next.0).props();
                    self.splice(start, next, "");
                }
                (None, Some(before)) => {
                    let (key, value, _) = entries.all[before];
                    let (last_key, last, _) = entries.all[run.end - 1];
                    let (start, end) = (self.entry_end(key, value), self.entry_end(last_key, last));
                    self.splice(start, end, "");
                }
                (None, None) => {}
            }
        }
    }

    /// Puts members into an empty pair of brackets.
    fn fill(&mut self, id: Id, added: &[(&String, &Value)], flow: &Flow<'a>) {
        let node = *self.tree.node(id);
        let members = added
            .iter()
            .map(|&(key, value)| (key.clone(), value.clone()))
            .collect();
        let mut text = String::new();
        let indent = indentation(self.text, node.start());
        flow.value(&mut text, &Value::Object(members), indent);
        let inner = self.text.get(node.start() + 1..node.end() - 1);
        if inner.unwrap_or_default().trim().is_empty() {
            self.splice(node.start(), node.end(), text);
        } else {
            // A comment stands between the brackets.
            let at = node.start() + 1;
            self.splice(at, at, &text[1..text.len() - 1]);
        }
    }

    fn add_behind(
        &mut self,
        id: Id,
        entries: &Entries,
        (key, value): (Id, Id),
        added: &[(&String, &Value)],
        flow: &Flow<'a>,
    ) {
        let node = *self.tree.node(id);
        let behind = self.entry_end(key, value);
        let own_line = self.has_own_line(id, key);
        let indent = indentation(self.text, self.tree.node(key).start());
        let comma = if own_line {
            format!(",{}{indent}", flow.eol)
        } else {
            flow.comma().to_owned()
        };
        let mut members = String::new();
        for (number, &(key, value)) in added.iter().enumerate() {
            members.push_str(if number > 0 { &comma } else { "" });
            flow.member(&mut members, key, value, indent);
        }
        let bare = !self.text[node.start()..].starts_with('{');
        if bare {
            // A pair in a list that is written without its brackets.
            self.splice(node.start(), node.start(), "{");
            self.splice(behind, behind, format!("{comma}{members}}}"));
            return;
        }
        let end = entries.all.last();
        let end = end.map_or(behind, |&(key, value, _)| self.entry_end(key, value));
        let next = skip_blanks(self.text, end);
        let trailing = self.text[next..].starts_with(',');
        let from = if trailing { next + 1 } else { behind };
        let at = line_end(self.text, from);
        let closes_later = own_line && at < node.end();
        match (trailing, closes_later) {
            (false, false) => self.splice(behind, behind, comma + &members),
            (false, true) => {
                self.splice(behind, behind, ",");
                self.splice(at, at, format!("{}{indent}{members}", flow.eol));
            }
            (true, false) => self.splice(from, from, format!(" {members},")),
            (true, true) => self.splice(at, at, format!("{}{indent}{members},", flow.eol)),
        }
    }

    /// Behind an entry between brackets.
    fn entry_end(&self, key: Id, value: Id) -> usize {
        let node = self.tree.node(value);
        if node.kind == Kind::Empty && node.props() == node.start() {
            let colon = self.colon(key);
            return colon.unwrap_or_else(|| self.tree.node(key).end());
        }
        node.end()
    }

    /// Whether a key of a map between brackets begins a line below the opening one.
    fn has_own_line(&self, id: Id, key: Id) -> bool {
        let (open, key) = (self.tree.node(id).start(), self.tree.node(key).start());
        line_start(self.text, key) > open && is_first(self.text, key)
    }
}
