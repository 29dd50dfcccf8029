//! Splices in block style, and values put in the place of others.

use serde_json::Value;

use super::super::tree::{Id, Kind};
use super::super::write::{self, Block, Quoting};
use super::layout::{column, indentation, is_first, line_break, line_end, line_start};
use super::walk::{Around, Entries, Seat, Walk};

impl<'a> Walk<'a> {
    /// Adds members to a block map whose keys stand at `column`, and takes entries out of it.
    pub(super) fn change_block(
        &mut self,
        id: Id,
        entries: &Entries,
        added: &[(&String, &Value)],
        column: usize,
    ) {
        for run in entries.runs() {
            self.remove_lines(entries, run);
        }
        let Some((last_key, last)) = entries.last_kept().filter(|_| !added.is_empty()) else {
            return;
        };
        let at = line_end(self.text, self.tree.node(last).end());
        let block = self.block(id, at);
        let mut members = String::new();
        for (number, (key, value)) in added.iter().enumerate() {
            if number > 0 {
                members.push_str(block.eol);
                members.extend(std::iter::repeat_n(' ', column));
            }
            block.member(&mut members, key, value, column);
        }
        let gap = format!("{}{}", block.eol, " ".repeat(column));
        // A line break at the end of the text would become part of a block scalar that ends there.
        if at == self.text.len() && self.ends_in_block_scalar(last) {
            let start = self.entry_start(last_key);
            self.splice(start, start, members + &gap);
        } else {
            self.splice(at, at, gap + &members);
        }
    }

    /// Puts a new value in the place of a node.
    pub(super) fn replace(&mut self, id: Id, new: &Value, seat: &Seat<'a>) {
        let node = *self.tree.node(id);
        self.drop_tag(id);
        let column = match seat.around {
            Around::Block { column } if !node.is_flow_collection() => column,
            _ => {
                let text = self.flow_text(id, new, seat);
                self.replace_inline(id, &text, seat);
                return;
            }
        };
        if write::is_nested(new) {
            self.replace_nested(id, new, seat, column);
        } else {
            let text = write::scalar(new, self.quoting(id, Quoting::Plain));
            self.replace_inline(id, &text, seat);
        }
    }

    /// Puts what fits on a line in the place of a node.
    fn replace_inline(&mut self, id: Id, text: &str, seat: &Seat<'a>) {
        let node = *self.tree.node(id);
        match (node.kind, seat.key) {
            (Kind::Empty, key) => {
                let colon = key.and_then(|key| self.colon(key));
                let lead = if key.is_some() && colon.is_none() {
                    ": "
                } else {
                    " "
                };
                let at = self.lead(id, seat);
                self.splice(at, at, format!("{lead}{text}"));
            }
            (Kind::Block, _) => {
                let header = self.header_end(id);
                self.splice(node.start(), header, text);
                self.splice(line_end(self.text, header), node.end(), "");
            }
            (Kind::List { flow: false } | Kind::Map { flow: false }, Some(_)) => {
                let lead = self.lead(id, seat);
                self.splice(lead, lead, format!(" {text}"));
                self.splice(line_end(self.text, lead), node.end(), "");
            }
            _ => self.splice(node.start(), node.end(), text),
        }
    }

    /// Puts a list or map on lines of its own in the place of a node.
    fn replace_nested(&mut self, id: Id, new: &Value, seat: &Seat<'a>, holder: usize) {
        let node = *self.tree.node(id);
        let block = self.block(id, node.end());
        let mut text = String::new();
        if seat.key.is_none() {
            block.item(&mut text, new, column(self.text, node.start()));
            if node.is_block_collection() || node.kind == Kind::Block {
                self.splice(node.start(), node.end(), text);
                return;
            }
            let lead = if node.kind == Kind::Empty { " " } else { "" };
            let first = text.find(block.eol).unwrap_or(text.len());
            let end = line_end(self.text, node.end());
            self.splice(
                node.start(),
                node.end(),
                format!("{lead}{}", &text[..first]),
            );
            self.splice(end, end, &text[first..]);
            return;
        }
        block.below(&mut text, new, holder);
        let lead = self.lead(id, seat);
        if node.is_block_collection() {
            self.splice(line_end(self.text, lead), node.end(), text);
        } else if node.kind == Kind::Block {
            let header = self.header_end(id);
            self.splice(lead, header, "");
            self.splice(line_end(self.text, header), node.end(), text);
        } else {
            // An empty value has its place before the colon.
            let behind = node.end().max(lead);
            let end = line_end(self.text, behind);
            self.splice(lead, behind, "");
            self.splice(end, end, text);
        }
    }

    /// How a string is quoted in the place of a node.
    pub(super) fn quoting(&self, id: Id, plain: Quoting) -> Quoting {
        match self.tree.node(id).kind {
            Kind::Double => Quoting::Double,
            Kind::Single => Quoting::Single,
            _ => plain,
        }
    }

    fn block(&self, id: Id, at: usize) -> Block<'static> {
        let indents = self.indents.within(self.text, self.tree, id);
        Block {
            step: indents.step,
            list: indents.list,
            eol: line_break(self.text, at),
        }
    }

    /// Behind what a value stands behind: its anchor and tag on the line of its key, else the colon.
    fn lead(&self, id: Id, seat: &Seat<'a>) -> usize {
        let node = self.tree.node(id);
        let colon = seat.key.and_then(|key| self.colon(key));
        if node.props() == node.start() {
            return colon.unwrap_or(node.start());
        }
        let props = &self.text[node.props()..node.start()];
        let line = &props[..props.find(['\n', '\r', '#']).unwrap_or(props.len())];
        node.props() + line.trim_end_matches([' ', '\t']).len()
    }

    /// Takes the tags of a node away: they need not fit its new value.
    fn drop_tag(&mut self, id: Id) {
        let node = *self.tree.node(id);
        let mut at = node.props();
        while at < node.start() {
            let rest = &self.text[at..node.start()];
            let token = rest.find([' ', '\t', '\n', '\r']).unwrap_or(rest.len());
            let blanks = rest[token..].len() - rest[token..].trim_start_matches([' ', '\t']).len();
            let behind = at + token + blanks;
            if !rest.starts_with(['!', '&']) {
                return;
            }
            if rest.starts_with('!') && line_end(self.text, behind) > behind {
                self.splice(at, behind, "");
            } else if rest.starts_with('!') {
                let before = self.text[..at].trim_end_matches([' ', '\t']).len();
                self.splice(before, at + token, "");
            }
            at = behind;
        }
    }

    fn header_end(&self, id: Id) -> usize {
        let start = self.tree.node(id).start();
        let rest = &self.text[start..];
        start + rest.find([' ', '\t', '\n', '\r']).unwrap_or(rest.len())
    }

    fn ends_in_block_scalar(&self, id: Id) -> bool {
        let last = self.tree.behind(id) - 1;
        self.tree.node(last).kind == Kind::Block
    }

    /// Takes a run of entries away with their lines. The first entry behind a dash leaves its place to the one that follows.
    fn remove_lines(&mut self, entries: &Entries, run: std::ops::Range<usize>) {
        let start = self.entry_start(entries.all[run.start].0);
        if !is_first(self.text, start) {
            let next = entries.all.get(run.end);
            let end = next.map(|next| self.entry_start(next.0));
            self.splice(start, end.unwrap_or(start), "");
            return;
        }
        let end = self.tree.node(entries.all[run.end - 1].1).end();
        let end = line_end(self.text, end);
        let eol = line_break(self.text, end);
        let start = line_start(self.text, start);
        if end < self.text.len() {
            self.splice(start, end + eol.len(), "");
        } else {
            self.splice(start.saturating_sub(eol.len()), end, "");
        }
    }

    /// Where an entry of a block map begins: at its key, or at the `?` before it.
    fn entry_start(&self, key: Id) -> usize {
        let key = self.tree.node(key).props();
        let before = self.text[line_start(self.text, key)..key].trim_end_matches([' ', '\t']);
        let mark = line_start(self.text, key) + before.len();
        if before.ends_with('?') { mark - 1 } else { key }
    }

    /// A value between brackets, in the place of a node.
    fn flow_text(&self, id: Id, new: &Value, seat: &Seat<'a>) -> String {
        let Around::Flow(flow) = self.flow_around(id, seat) else {
            return String::new();
        };
        if !write::is_nested(new) {
            return write::scalar(new, self.quoting(id, flow.quoting()));
        }
        let mut text = String::new();
        let indent = indentation(self.text, self.tree.node(id).start());
        flow.value(&mut text, new, indent);
        text
    }

    fn flow_around(&self, id: Id, seat: &Seat<'a>) -> Around<'a> {
        if self.tree.node(id).is_flow_collection() {
            self.around(id, seat)
        } else {
            seat.around.clone()
        }
    }
}
