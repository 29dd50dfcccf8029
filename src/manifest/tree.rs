//! The nodes of all documents of a text, each with its span.
//!
//! The nodes lie in one list in the order of the text: behind a list come its elements, behind a map its keys and values in
//! turn, so that a node holds no list of its own and no text. A node's text is a range of bytes of the input.

use std::borrow::Cow;

use granit_parser::{Event, Parser, ScalarStyle};

use crate::words::Segment;

use super::scalar;

/// The number of a node.
pub(super) type Id = u32;

/// What a node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// `*name`; the node that it stands for.
    Alias(Id),
    /// A literal or folded scalar, from its `|` or `>` to the end of its last line.
    Block,
    /// A scalar in double quotes.
    Double,
    /// Nothing, which is null unless a tag says otherwise.
    Empty,
    /// A list.
    List { flow: bool },
    /// A map.
    Map { flow: bool },
    /// The key `<<`.
    Merge,
    /// A scalar without quotes.
    Plain,
    /// A scalar in single quotes.
    Single,
}

/// One node.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node {
    start: u32,
    end: u32,
    props: u32,
    next: Id,
    pub(super) kind: Kind,
}

impl Node {
    /// The first byte of the content. A block map begins with its first key, a block list with its first dash.
    pub(super) fn start(&self) -> usize {
        self.start as usize
    }

    /// The byte behind the content. A block map or list ends where its last value ends.
    pub(super) fn end(&self) -> usize {
        self.end as usize
    }

    /// The first byte of the anchor or tag before the content, else that of the content.
    pub(super) fn props(&self) -> usize {
        self.props as usize
    }

    /// Whether this is a list or map in block style.
    pub(super) fn is_block_collection(&self) -> bool {
        matches!(
            self.kind,
            Kind::List { flow: false } | Kind::Map { flow: false }
        )
    }

    /// Whether this is a list or map in flow style.
    pub(super) fn is_flow_collection(&self) -> bool {
        matches!(
            self.kind,
            Kind::List { flow: true } | Kind::Map { flow: true }
        )
    }
}

/// So many bytes of a manifest have one node, more or less.
const BYTES_A_NODE: usize = 10;

/// All nodes of a text.
#[derive(Clone, Debug, Default)]
pub(super) struct Tree {
    nodes: Vec<Node>,
}

impl Tree {
    /// No nodes yet, and room for those of a text of this length as most texts have them.
    pub(super) fn for_text(bytes: usize) -> Self {
        Self {
            nodes: Vec::with_capacity(bytes / BYTES_A_NODE),
        }
    }

    /// Gives room back that no node has taken.
    pub(super) fn shrink(&mut self) {
        self.nodes.shrink_to_fit();
    }

    /// The number that the next node gets.
    pub(super) fn next_id(&self) -> Id {
        self.nodes.len() as Id
    }

    /// Appends a node. A collection stays open until it is closed.
    pub(super) fn push(&mut self, kind: Kind, start: usize, end: usize) -> Id {
        let id = self.next_id();
        let is_leaf = !matches!(kind, Kind::List { .. } | Kind::Map { .. });
        self.nodes.push(Node {
            start: start as u32,
            end: end as u32,
            props: start as u32,
            next: if is_leaf { id + 1 } else { Id::MAX },
            kind,
        });
        id
    }

    /// Says that an anchor or tag of the node begins here.
    pub(super) fn set_props(&mut self, id: Id, props: usize) {
        let node = &mut self.nodes[id as usize];
        node.props = node.props.min(props as u32);
    }

    /// Closes a collection whose closing bracket, if it has one, ends at `end`.
    pub(super) fn close(&mut self, id: Id, end: usize) {
        let next = self.next_id();
        self.nodes[id as usize].next = next;
        let is_map = matches!(self.node(id).kind, Kind::Map { .. });
        let first = (is_map && next > id + 1).then(|| self.node(id + 1).props);
        let last = self.children(id).last().map(|last| self.node(last).end);
        let node = &mut self.nodes[id as usize];
        if node.is_flow_collection() {
            node.end = end as u32;
            return;
        }
        let bare = node.props == node.start;
        // A `?` may stand before the first key, or an anchor that is not the map's.
        node.start = first.map_or(node.start, |first| first.min(node.start));
        node.end = last.unwrap_or(node.start);
        if bare {
            node.props = node.start;
        }
    }

    /// Forgets this node and all behind it.
    pub(super) fn truncate(&mut self, id: Id) {
        self.nodes.truncate(id as usize);
    }

    /// The node with this number.
    pub(super) fn node(&self, id: Id) -> &Node {
        &self.nodes[id as usize]
    }

    /// The number of the first node that is not below this one.
    pub(super) fn behind(&self, id: Id) -> Id {
        self.node(id).next.min(self.next_id())
    }

    /// The elements of a list, or the keys and values of a map in turn.
    pub(super) fn children(&self, id: Id) -> impl Iterator<Item = Id> {
        let end = self.behind(id);
        let mut next = id + 1;
        std::iter::from_fn(move || {
            let child = next;
            (child < end).then(|| {
                next = self.behind(child);
                child
            })
        })
    }

    /// The keys of a map with their values, as they are written.
    pub(super) fn entries(&self, id: Id) -> impl Iterator<Item = (Id, Id)> {
        let mut children = self.children(id);
        std::iter::from_fn(move || Some((children.next()?, children.next()?)))
    }

    /// The node that an alias stands for; any other node stands for itself.
    pub(super) fn target(&self, id: Id) -> Id {
        match self.node(id).kind {
            Kind::Alias(target) => target,
            _ => id,
        }
    }

    /// The member name that a key makes.
    pub(super) fn key_name<'a>(&self, text: &'a str, id: Id) -> Option<Cow<'a, str>> {
        let node = self.node(self.target(id));
        let raw = text.get(node.props()..node.end())?;
        let simple = node.props == node.start && !raw.contains(['\n', '\r']);
        match node.kind {
            Kind::Plain if simple => match scalar::resolve_plain(raw).ok()? {
                serde_json::Value::String(_) => Some(raw.into()),
                value => scalar::key(value).map(Cow::Owned),
            },
            Kind::Double if simple && !raw.contains('\\') => Some(raw[1..raw.len() - 1].into()),
            Kind::Single if simple && !raw[1..raw.len() - 1].contains('\'') => {
                Some(raw[1..raw.len() - 1].into())
            }
            _ => read_key(raw).map(Cow::Owned),
        }
    }

    /// Where one step leads from a node: the place that is called the field, and the node of its value. What a merge brings
    /// is found where it is written.
    pub(super) fn step(&self, text: &str, id: Id, segment: &Segment) -> Option<(Id, Id)> {
        let id = self.target(id);
        match (segment, self.node(id).kind) {
            (Segment::Index(index), Kind::List { .. }) => {
                let child = self.children(id).nth(*index)?;
                Some((child, child))
            }
            (Segment::Key(name), Kind::Map { .. }) => {
                let found = self
                    .entries(id)
                    .find(|&(key, _)| !self.is_merge(key) && self.is_named(text, key, name));
                found.or_else(|| {
                    self.merged(id)
                        .find_map(|source| self.step(text, source, segment))
                })
            }
            _ => None,
        }
    }

    /// The maps that a map merges into itself, the first of them preferred.
    pub(super) fn merged(&self, id: Id) -> impl Iterator<Item = Id> {
        self.entries(id)
            .filter(|&(key, _)| self.is_merge(key))
            .flat_map(|(_, value)| {
                let source = self.target(value);
                let listed = matches!(self.node(source).kind, Kind::List { .. });
                let one = (!listed).then_some(value);
                let many = listed.then(|| self.children(source));
                one.into_iter().chain(many.into_iter().flatten())
            })
    }

    /// Whether this key is `<<`.
    pub(super) fn is_merge(&self, key: Id) -> bool {
        self.node(key).kind == Kind::Merge
    }

    fn is_named(&self, text: &str, key: Id, name: &str) -> bool {
        self.key_name(text, key).as_deref() == Some(name)
    }
}

/// The member name of a key that is more than one bare word: it is read once more, by itself.
fn read_key(raw: &str) -> Option<String> {
    let scalar = Parser::new_from_str(raw).find_map(|event| match event {
        Ok((Event::Scalar(text, style, _, tag), _)) => Some((text, style, tag)),
        _ => None,
    });
    let (text, style, tag) = scalar?;
    let plain = style == ScalarStyle::Plain;
    scalar::key(scalar::resolve(&text, plain, tag.as_deref()).ok()?)
}
