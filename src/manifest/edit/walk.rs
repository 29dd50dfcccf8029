//! Where old and new value of a document differ, and which bytes say so.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::super::build::Document;
use super::super::scan::{column, line_break, skip_blanks};
use super::super::tree::{Id, Kind, Tree};
use super::super::write::Flow;
use super::entries::{Entries, Entry};
use super::layout::Indents;
use super::splice::Splice;

/// The splices that make a document say `new` where it says `old`.
pub(super) fn splices(
    text: &str,
    tree: &Tree,
    document: &Document,
    old: &Value,
    new: &Value,
) -> Vec<Splice> {
    let mut walk = Walk {
        text,
        tree,
        document,
        indents: Indents::of(text, tree, document.root),
        kept: HashMap::new(),
        splices: Vec::new(),
    };
    let seat = Seat {
        key: None,
        around: Around::Block {
            column: column(text, tree.node(document.root).start()),
        },
    };
    walk.node(document.root, old, new, &seat);
    walk.splices
}

/// A document on the way from its old to its new value.
pub(super) struct Walk<'a> {
    pub(super) text: &'a str,
    pub(super) tree: &'a Tree,
    pub(super) document: &'a Document,
    pub(super) indents: Indents,
    /// What the nodes that others take copies of will say.
    pub(super) kept: HashMap<Id, &'a Value>,
    pub(super) splices: Vec<Splice>,
}

/// How a value sits in the text.
#[derive(Clone, Debug)]
pub(super) struct Seat<'a> {
    /// Its key, where it is a member of a map.
    pub(super) key: Option<Id>,
    pub(super) around: Around<'a>,
}

/// What a value stands in.
#[derive(Clone, Debug)]
pub(super) enum Around<'a> {
    /// A block map whose keys stand at this column, or a block list whose elements do.
    Block { column: usize },
    /// Brackets.
    Flow(Flow<'a>),
}

impl<'a> Walk<'a> {
    /// Makes a node say `new` where it says `old`.
    pub(super) fn node(&mut self, id: Id, old: &'a Value, new: &'a Value, seat: &Seat<'a>) {
        let node = self.tree.node(id);
        if let Kind::Alias(target) = node.kind {
            if self.kept.get(&target) != Some(&new) {
                self.replace(id, new, seat);
            }
            return;
        }
        if self.document.values.contains_key(&id) {
            self.kept.insert(id, new);
        }
        if old == new && self.document.values.is_empty() {
            return;
        }
        match (node.kind, old, new) {
            (Kind::Map { .. }, Value::Object(before), Value::Object(after)) => {
                self.map(id, before, after, new, seat);
            }
            (Kind::List { .. }, Value::Array(before), Value::Array(after))
                if before.len() == after.len() =>
            {
                self.list(id, before, after, seat);
            }
            _ if old == new => {}
            _ => self.replace(id, new, seat),
        }
    }

    fn list(&mut self, id: Id, before: &'a [Value], after: &'a [Value], seat: &Seat<'a>) {
        let around = self.around(id, seat);
        let tree = self.tree;
        for (child, (before, after)) in tree.children(id).zip(before.iter().zip(after)) {
            let around = match &around {
                Around::Block { .. } => Around::Block {
                    column: column(self.text, tree.node(child).props()),
                },
                flow @ Around::Flow(_) => flow.clone(),
            };
            self.node(child, before, after, &Seat { key: None, around });
        }
    }

    fn map(
        &mut self,
        id: Id,
        before: &'a Map<String, Value>,
        after: &'a Map<String, Value>,
        new: &'a Value,
        seat: &Seat<'a>,
    ) {
        let around = self.around(id, seat);
        let mut entries = self.entries(id, before, after, &around);
        let merged = self.merged(id);
        let merged = merged.filter(|all| all.keys().all(|name| after.contains_key(*name)));
        let brought = |name: &str| merged.as_ref().and_then(|merged| merged.get(name));
        let added: Vec<(&String, &Value)> = after
            .iter()
            .filter(|&(name, value)| !entries.names.contains(name) && brought(name) != Some(&value))
            .collect();
        let mut added = &added[..];
        if merged.is_none() {
            let in_place = entries.dissolve(|key| self.tree.is_merge(key), !added.is_empty());
            if let Some(merge) = in_place {
                self.instead_of_merge(id, merge, added, &around);
                added = &[];
            }
        }
        if entries.last_kept().is_none() && !entries.all.is_empty() {
            self.replace(id, new, seat);
            return;
        }
        match &around {
            Around::Block { column } => self.change_block(id, &entries, added, *column),
            Around::Flow(flow) => self.change_flow(id, &entries, added, flow),
        }
    }

    /// The entries of a map. Those that stay are made to say what they shall.
    fn entries(
        &mut self,
        id: Id,
        before: &'a Map<String, Value>,
        after: &'a Map<String, Value>,
        around: &Around<'a>,
    ) -> Entries {
        let mut entries = Entries::default();
        let tree = self.tree;
        for (key, value) in tree.entries(id) {
            let mut stays = true;
            if tree.is_merge(key) {
                self.keep_sources(value);
            } else {
                let name = tree.key_name(self.text, key).unwrap_or_default();
                stays = after.contains_key(&*name);
                if let (Some(before), Some(after)) = (before.get(&*name), after.get(&*name)) {
                    let (key, around) = (Some(key), around.clone());
                    self.node(value, before, after, &Seat { key, around });
                }
                entries.names.insert(name.into_owned());
            }
            entries.all.push(Entry { key, value, stays });
        }
        entries
    }

    /// What the members or elements of a collection stand in.
    pub(super) fn around(&self, id: Id, seat: &Seat<'a>) -> Around<'a> {
        let node = self.tree.node(id);
        if !node.is_flow_collection() {
            return Around::Block {
                column: column(self.text, node.start()),
            };
        }
        let outer = match &seat.around {
            Around::Flow(flow) => flow.clone(),
            Around::Block { .. } => Flow {
                quoted: false,
                spaced: true,
                unit: None,
                eol: line_break(self.text, node.start()),
            },
        };
        Around::Flow(self.flow_of(id, outer))
    }

    pub(super) fn splice(&mut self, start: usize, end: usize, text: impl Into<String>) {
        self.splices.push(Splice {
            range: start..end,
            text: text.into(),
        });
    }

    /// Behind the colon of a key, if it has one.
    pub(super) fn colon(&self, key: Id) -> Option<usize> {
        let at = skip_blanks(self.text, self.tree.node(key).end());
        self.text[at..].starts_with(':').then_some(at + 1)
    }
}
