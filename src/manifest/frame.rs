//! Lists and maps whose end has not been read yet.

use std::collections::HashMap;

use serde_json::map::Entry;
use serde_json::{Map, Value};

use super::error::Fault;
use super::scalar;
use super::tree::{Id, Kind, Tree};

/// What a node without children weighs, beside its text.
pub(super) const NODE_WEIGHT: usize = 16;

/// A node that is complete.
pub(super) struct Done {
    pub(super) id: Id,
    pub(super) value: Value,
    /// The number of its anchor, 0 without one.
    pub(super) anchor: usize,
    /// How deep lists and maps are nested in it.
    pub(super) height: usize,
    /// What a copy of it takes from the budget.
    pub(super) weight: usize,
}

/// A list or map that is still open.
pub(super) struct Frame {
    pub(super) id: Id,
    anchor: usize,
    height: usize,
    weight: usize,
    content: Content,
}

enum Content {
    List(Vec<Value>),
    Map {
        members: Map<String, Value>,
        key: Option<Key>,
        /// What merges bring, the first of them preferred.
        merged: Vec<Map<String, Value>>,
    },
}

enum Key {
    Merge,
    Name(String, Id),
}

impl Frame {
    /// The frame of a node that has just begun.
    pub(super) fn new(id: Id, kind: Kind, anchor: usize) -> Self {
        let content = match kind {
            Kind::Map { .. } => Content::Map {
                members: Map::new(),
                key: None,
                merged: Vec::new(),
            },
            _ => Content::List(Vec::new()),
        };
        Self {
            id,
            anchor,
            height: 0,
            weight: NODE_WEIGHT,
            content,
        }
    }

    /// Whether this is a map and its next node is a key.
    pub(super) fn expects_key(&self) -> bool {
        matches!(self.content, Content::Map { key: None, .. })
    }

    /// Whether this is a list, and how many elements it has so far.
    pub(super) fn list_len(&self) -> Option<usize> {
        match &self.content {
            Content::List(items) => Some(items.len()),
            Content::Map { .. } => None,
        }
    }

    /// Takes the key `<<`.
    pub(super) fn take_merge_key(&mut self) {
        if let Content::Map { key, .. } = &mut self.content {
            *key = Some(Key::Merge);
        }
    }

    /// Takes an element, a key or a value. The values of maps that are written at a merge key go to `sources`.
    pub(super) fn take(
        &mut self,
        done: Done,
        tree: &Tree,
        text: &str,
        sources: &mut HashMap<Id, Value>,
    ) -> Result<(), Fault> {
        self.height = self.height.max(done.height);
        self.weight = self.weight.saturating_add(done.weight);
        match &mut self.content {
            Content::List(items) => items.push(done.value),
            Content::Map {
                members,
                key,
                merged,
            } => match key.take() {
                None => *key = Some(name_of(done, tree)?),
                Some(Key::Name(name, id)) => match members.entry(name) {
                    Entry::Occupied(first) => {
                        return Err(duplicate(first.key(), self.id, id, tree, text));
                    }
                    Entry::Vacant(place) => {
                        place.insert(done.value);
                    }
                },
                Some(Key::Merge) => {
                    note_sources(&done, tree, sources);
                    merge(done, tree, merged)?;
                }
            },
        }
        Ok(())
    }

    /// The node, now that its end has been read.
    pub(super) fn finish(self) -> Done {
        let value = match self.content {
            Content::List(items) => Value::Array(items),
            Content::Map {
                mut members,
                merged,
                ..
            } => {
                for (name, value) in merged.into_iter().flatten() {
                    members.entry(name).or_insert(value);
                }
                Value::Object(members)
            }
        };
        Done {
            id: self.id,
            value,
            anchor: self.anchor,
            height: self.height + 1,
            weight: self.weight,
        }
    }
}

fn name_of(done: Done, tree: &Tree) -> Result<Key, Fault> {
    let name = scalar::key(done.value).ok_or_else(|| {
        let message = "the key of a map must be a scalar, and not null";
        Fault::new(tree.node(done.id).start(), message)
    })?;
    Ok(Key::Name(name, done.id))
}

fn duplicate(name: &str, map: Id, again: Id, tree: &Tree, text: &str) -> Fault {
    let offset = tree.node(again).start();
    let first = tree
        .entries(map)
        .find(|&(key, _)| tree.key_name(text, key).as_deref() == Some(name));
    let first = first.map_or(offset, |(key, _)| tree.node(key).start());
    let place = match text[first..offset].matches('\n').count() {
        0 => "on the same line".to_owned(),
        1 => "1 line above".to_owned(),
        lines => format!("{lines} lines above"),
    };
    Fault::new(offset, format!("duplicate key {name:?}, first {place}"))
}

/// Keeps the values of the maps that a merge takes copies of, where they are not kept with an anchor of theirs.
fn note_sources(done: &Done, tree: &Tree, sources: &mut HashMap<Id, Value>) {
    let source = tree.target(done.id);
    let mut note = |id: Id, value: &Value| {
        if matches!(tree.node(id).kind, Kind::Map { .. }) {
            sources.insert(id, value.clone());
        }
    };
    note(source, &done.value);
    if let (Kind::List { .. }, Value::Array(items)) = (tree.node(source).kind, &done.value) {
        for (id, value) in tree.children(source).zip(items) {
            note(id, value);
        }
    }
}

fn merge(done: Done, tree: &Tree, merged: &mut Vec<Map<String, Value>>) -> Result<(), Fault> {
    let sources = match done.value {
        Value::Array(items) => items,
        value => vec![value],
    };
    for source in sources {
        let Value::Object(members) = source else {
            let message = "the value of << must be a map or a list of maps";
            return Err(Fault::new(tree.node(done.id).start(), message));
        };
        merged.push(members);
    }
    Ok(())
}
