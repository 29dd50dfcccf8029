//! Where old and new value of a document differ, and which bytes say so.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::super::stream::Document;
use super::super::tree::{Id, Kind, Tree};
use super::super::write::Flow;
use super::layout::{Indents, column, line_break, skip_blanks};
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

/// A map's own entries, and what it merges.
#[derive(Default)]
pub(super) struct Entries {
    /// Key, value, and whether the entry stays.
    pub(super) all: Vec<(Id, Id, bool)>,
}

impl Entries {
    /// The last entry that stays.
    pub(super) fn last_kept(&self) -> Option<(Id, Id)> {
        let kept = self.all.iter().rev().find(|entry| entry.2);
        kept.map(|&(key, value, _)| (key, value))
    }

    /// The runs of entries that go, as ranges of indices.
    pub(super) fn runs(&self) -> Vec<std::ops::Range<usize>> {
        let mut runs: Vec<std::ops::Range<usize>> = Vec::new();
        for (index, entry) in self.all.iter().enumerate().filter(|(_, entry)| !entry.2) {
            debug_assert!(!entry.2);
            match runs.last_mut() {
                Some(run) if run.end == index => run.end += 1,
                _ => runs.push(index..index + 1),
            }
        }
        runs
    }
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
                let around = self.around(id, seat);
                let children: Vec<Id> = self.tree.children(id).collect();
                for (child, (before, after)) in children.into_iter().zip(before.iter().zip(after)) {
                    let seat = Seat {
                        key: None,
                        around: match &around {
                            Around::Block { .. } => Around::Block {
                                column: column(self.text, self.tree.node(child).props()),
                            },
                            flow @ Around::Flow(_) => flow.clone(),
                        },
                    };
                    self.node(child, before, after, &seat);
                }
            }
            _ if old == new => {}
            _ => self.replace(id, new, seat),
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
        let merged = self.merged(id);
        let dissolve = merged.keys().any(|name| !after.contains_key(*name));
        let mut entries = Entries::default();
        let mut own: Map<String, Value> = Map::new();
        for (key, value) in self.tree.entries(id) {
            let stays = if self.tree.is_merge(key) {
                !dissolve
            } else {
                let name = self.tree.key_name(self.text, key).unwrap_or_default();
                let stays = after.contains_key(name.as_ref());
                own.insert(name.into_owned(), Value::Null);
                stays
            };
            entries.all.push((key, value, stays));
        }
        let added: Vec<(&'a String, &'a Value)> = after
            .iter()
            .filter(|&(name, value)| {
                let brought = !dissolve && merged.get(name.as_str()) == Some(&value);
                !own.contains_key(name) && !brought
            })
            .collect();
        if entries.last_kept().is_none() && before != after && !entries.all.is_empty() {
            self.replace(id, new, seat);
            return;
        }
        let around = self.around(id, seat);
        for &(key, value, stays) in &entries.all {
            if !stays || self.tree.is_merge(key) {
                continue;
            }
            let name = self.tree.key_name(self.text, key).unwrap_or_default();
            if let (Some(before), Some(after)) = (before.get(&*name), after.get(&*name)) {
                let seat = Seat {
                    key: Some(key),
                    around: around.clone(),
                };
                self.node(value, before, after, &seat);
            }
        }
        match &around {
            Around::Block { column } => self.change_block(id, &entries, &added, *column),
            Around::Flow(flow) => self.change_flow(id, &entries, &added, flow),
        }
    }

    /// What the merges of a map bring it, once the maps they copy say what they will say.
    fn merged(&mut self, id: Id) -> HashMap<&'a str, &'a Value> {
        let mut merged = HashMap::new();
        let sources: Vec<Id> = self.tree.merged(id).collect();
        for source in sources {
            let target = self.tree.target(source);
            if target == source {
                self.keep_below(source);
            }
            let members = self.kept.get(&target).and_then(|value| value.as_object());
            for (name, value) in members.into_iter().flatten() {
                merged.entry(name.as_str()).or_insert(value);
            }
        }
        merged
    }

    /// Notes that a node at a merge key, and all below it, stay as they are.
    fn keep_below(&mut self, id: Id) {
        for node in id..self.tree.behind(id) {
            if let Some(value) = self.document.values.get(&node) {
                self.kept.insert(node, value);
            }
        }
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
