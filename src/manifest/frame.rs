//! Lists and maps whose end has not been read yet.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::error::Fault;
use super::members::{Member, Members, Stack};
use super::scalar;
use super::tree::{Id, Kind, Tree};

/// What a node without children weighs, beside its text.
pub(super) const NODE_WEIGHT: usize = 16;

/// Whether anybody has a use for objects of a group and kind beyond their names.
pub(super) type Wanted<'w> = dyn Fn(&str, &str) -> bool + 'w;

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
    /// Whether its content is kept; else it is only held to the rules, and null when it has ended.
    pub(super) kept: bool,
    anchor: usize,
    height: usize,
    weight: usize,
    content: Content,
}

enum Content {
    List(Vec<Value>),
    Map {
        members: Members,
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
    /// The frame of a node that has just begun; the members of maps are kept on `stack`.
    pub(super) fn new(id: Id, kind: Kind, anchor: usize, kept: bool, stack: &[Member]) -> Self {
        let content = match kind {
            Kind::Map { .. } => Content::Map {
                members: Members::on(stack),
                key: None,
                merged: Vec::new(),
            },
            _ => Content::List(Vec::new()),
        };
        Self {
            id,
            kept,
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

    /// Whether the next node is the value of the key `<<`.
    pub(super) fn merges(&self) -> bool {
        matches!(
            self.content,
            Content::Map {
                key: Some(Key::Merge),
                ..
            }
        )
    }

    /// Whether the next node is the value of a member of an object of which `wanted` has no use. What names the object is of use
    /// always; so is everything of an object whose kind has not been read yet, or is that of a list.
    pub(super) fn passes(&self, stack: &[Member], wanted: &Wanted<'_>) -> bool {
        let Content::Map {
            members,
            key: Some(Key::Name(name, _)),
            ..
        } = &self.content
        else {
            return false;
        };
        let text = |name| members.get(stack, name).and_then(Value::as_str);
        let (Some(version), Some(kind)) = (text("apiVersion"), text("kind")) else {
            return false;
        };
        let group = version.split_once('/').map_or("", |(group, _)| group);
        name != "metadata" && !kind.ends_with("List") && !wanted(group, kind)
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
        stack: &mut Stack,
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
                Some(Key::Name(name, id)) => members
                    .add(stack, name, done.value)
                    .map_err(|name| duplicate(&name, self.id, id, tree, text))?,
                Some(Key::Merge) => {
                    note_sources(&done, tree, sources);
                    merge(done, tree, merged)?;
                }
            },
        }
        Ok(())
    }

    /// The node, now that its end has been read.
    pub(super) fn finish(self, stack: &mut Stack) -> Done {
        let value = match self.content {
            Content::List(items) if self.kept => Value::Array(items),
            Content::List(_) => Value::Null,
            Content::Map { members, .. } if !self.kept => {
                members.forget(stack);
                Value::Null
            }
            Content::Map {
                members, merged, ..
            } => {
                let mut members = members.finish(stack);
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
