//! Splices between brackets, JSON among them.

use serde_json::Value;

use super::super::scan::{indentation, skip_blanks};
use super::super::tree::{Id, Kind};
use super::super::write::Flow;
use super::entries::{Entries, Entry};
use super::walk::Walk;

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
                Some(last) => self.add_behind(id, entries, last, added, flow),
                None => self.fill(id, added, flow),
            }
        }
        for run in entries.runs() {
            let start = self.tree.node(entries.all[run.start].key).props();
            if let Some(next) = entries.all.get(run.end) {
                self.splice(start, self.tree.node(next.key).props(), "");
            } else if let Some(before) = run.start.checked_sub(1) {
                let ends = [before, run.end - 1].map(|at| entries.all[at].value);
                let [start, end] = ends.map(|value| self.tree.node(value).end());
                self.splice(start, end, "");
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
        let indent = self.flow_indent(flow, node.start());
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
        last: Entry,
        added: &[(&String, &Value)],
        flow: &Flow<'a>,
    ) {
        let node = *self.tree.node(id);
        let behind = self.tree.node(last.value).end();
        let own_line = self.has_own_line(id, last.key);
        let (comma, indent) = if own_line {
            let indent = indentation(self.text, self.tree.node(last.key).start());
            (format!(",{}{indent}", flow.eol), indent)
        } else {
            (flow.comma().to_owned(), "")
        };
        let members = flow.members(added, &comma, indent);
        if !self.text[node.start()..].starts_with('{') {
            // A pair in a list that is written without its brackets.
            self.splice(node.start(), node.start(), "{");
            self.splice(behind, behind, format!("{comma}{members}}}"));
            return;
        }
        let end = entries.all.last().unwrap_or(&last).value;
        let end = self.tree.node(end).end();
        let next = skip_blanks(self.text, end);
        let trailing = self.text[next..].starts_with(',');
        let from = if trailing { next + 1 } else { behind };
        // On lines of their own the new members come behind the comment of the last one, unless that one goes or the bracket
        // stands on its line.
        let rest = &self.text[from..node.end()];
        let at = from + rest.find(['\n', '\r']).unwrap_or(rest.len());
        let below = own_line && at < node.end() && (end == behind || trailing);
        match (trailing, below) {
            (false, false) => self.splice(behind, behind, comma + &members),
            (false, true) => {
                self.splice(behind, behind, ",");
                self.splice(at, at, format!("{}{indent}{members}", flow.eol));
            }
            (true, false) => self.splice(from, from, format!(" {members},")),
            (true, true) => self.splice(at, at, format!("{}{indent}{members},", flow.eol)),
        }
    }

    /// Whether a key of a map between brackets begins a line below the opening one.
    fn has_own_line(&self, id: Id, key: Id) -> bool {
        let before = &self.text[self.tree.node(id).start()..self.tree.node(key).start()];
        let line = before.rfind(['\n', '\r']);
        line.is_some_and(|line| before[line..].trim().is_empty())
    }

    /// The indentation of the line of an offset, where the style has use for it: a line can be as long as the text.
    pub(super) fn flow_indent(&self, flow: &Flow<'a>, offset: usize) -> &'a str {
        match flow.unit {
            Some(_) => indentation(self.text, offset),
            None => "",
        }
    }
}
