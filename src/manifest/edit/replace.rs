//! A value put in the place of another.

use serde_json::Value;

use super::super::scan::{column, line_end};
use super::super::tree::{Id, Kind};
use super::super::write::{self, Block, Quoting};
use super::walk::{Around, Seat, Walk};

impl<'a> Walk<'a> {
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
        let block = self.block(self.indents, node.end());
        let mut text = String::new();
        if seat.key.is_some() {
            block.below(&mut text, new, holder);
        } else if node.props() < node.start() {
            // Behind an anchor a list or map cannot begin on the same line.
            text = format!("{}{}", block.eol, " ".repeat(holder));
            block.item(&mut text, new, holder);
        } else {
            self.replace_element(id, new, &block);
            return;
        }
        let lead = self.lead(id, seat);
        if node.is_block_collection() {
            self.splice(line_end(self.text, lead), node.end(), text);
        } else if node.kind == Kind::Block {
            let header = self.header_end(id);
            self.splice(lead, header, "");
            self.splice(line_end(self.text, header), node.end(), text);
        } else {
            let end = line_end(self.text, node.end());
            self.splice(lead, node.end(), "");
            self.splice(end, end, text);
        }
    }

    /// Puts a list or map behind the dash of an element.
    fn replace_element(&mut self, id: Id, new: &Value, block: &Block<'_>) {
        let node = *self.tree.node(id);
        let lead = if node.kind == Kind::Empty { " " } else { "" };
        let mut text = lead.to_owned();
        let indent = column(self.text, node.start()) + lead.len();
        block.item(&mut text, new, indent);
        let split = if node.is_block_collection() || node.kind == Kind::Block {
            text.len()
        } else {
            // A comment stays behind the first line.
            line_end(&text, 0)
        };
        let end = line_end(self.text, node.end());
        self.splice(node.start(), node.end(), &text[..split]);
        self.splice(end, end, &text[split..]);
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
        let indent = self.flow_indent(&flow, self.tree.node(id).start());
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

    /// How a string is quoted in the place of a node.
    pub(super) fn quoting(&self, id: Id, plain: Quoting) -> Quoting {
        match self.tree.node(id).kind {
            Kind::Double => Quoting::Double,
            Kind::Single => Quoting::Single,
            _ => plain,
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
}
