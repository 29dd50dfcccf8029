//! Events of the YAML parser to the nodes and the value of one document.

use std::collections::HashMap;

use granit_parser::{Event, ScalarStyle, Span, StructureStyle, Tag};
use serde_json::{Map, Value};

use super::error::Fault;
use super::scalar;
use super::tree::{Id, Kind, Tree};

/// The deepest that lists and maps may be nested, aliases resolved.
pub(super) const MAX_DEPTH: usize = 128;

/// What the copies that aliases make may add up to in one text: every node counts 16 and every byte of a scalar 1. It stops
/// the alias bombs (nine lists of nine aliases each make 10^9 nodes) and is a million nodes, far beyond any manifest.
pub(super) const COPY_BUDGET: usize = 16_000_000;

const NODE_WEIGHT: usize = 16;

/// A document as it is being read.
pub(super) struct Builder<'t> {
    text: &'t str,
    /// Where the parsed piece stands in the text.
    base: usize,
    /// Behind the last token, from where indicators that have no event are looked for.
    seen: usize,
    latest: Id,
    open: Vec<Frame>,
    anchors: HashMap<usize, Anchor>,
    values: HashMap<Id, Value>,
    root: Option<(Id, Value)>,
}

/// What a document holds once it is read.
#[derive(Debug)]
pub(super) struct Built {
    pub(super) root: Id,
    pub(super) value: Value,
    /// The values of the nodes that others take copies of: those with an anchor, and the maps written at a merge key.
    pub(super) values: HashMap<Id, Value>,
}

/// What the node's parent must know of it.
struct Done {
    id: Id,
    value: Value,
    anchor: usize,
    height: usize,
    weight: usize,
}

struct Anchor {
    id: Id,
    value: Value,
    height: usize,
    weight: usize,
}

struct Frame {
    id: Id,
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
        merged: Vec<Map<String, Value>>,
    },
}

enum Key {
    Merge,
    Name(String),
}

impl<'t> Builder<'t> {
    /// A document of the piece of `text` that begins at `base`; its first token begins at `start`.
    pub(super) fn new(text: &'t str, base: usize, start: usize) -> Self {
        Self {
            text,
            base,
            seen: start,
            latest: 0,
            open: Vec::new(),
            anchors: HashMap::new(),
            values: HashMap::new(),
            root: None,
        }
    }

    /// Takes one event. `budget` is what aliases may still copy.
    ///
    /// # Errors
    /// The document is of no use any more.
    pub(super) fn take(
        &mut self,
        tree: &mut Tree,
        budget: &mut usize,
        event: Event<'t>,
        span: &Span,
    ) -> Result<(), Fault> {
        let (start, end) = self.range(span);
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                self.scalar(tree, &text, style, anchor, tag.as_deref(), span)
            }
            Event::Alias(anchor) => self.alias(tree, budget, anchor, start, end),
            Event::UnresolvedAlias(name) => {
                Err(Fault::new(start, format!("alias *{name} has no anchor")))
            }
            Event::SequenceStart(style, anchor, _) => {
                let flow = style == StructureStyle::Flow;
                self.enter(tree, Kind::List { flow }, anchor, span)
            }
            Event::MappingStart(style, anchor, _) => {
                let flow = style == StructureStyle::Flow;
                self.enter(tree, Kind::Map { flow }, anchor, span)
            }
            Event::SequenceEnd | Event::MappingEnd => self.leave(tree, end),
            Event::Anchor(..) => {
                tree.set_props(self.latest, start);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// The document, once it has ended.
    pub(super) fn finish(self) -> Option<Built> {
        let (root, value) = self.root?;
        let mut values = self.values;
        values.extend(self.anchors.into_values().map(|it| (it.id, it.value)));
        Some(Built {
            root,
            value,
            values,
        })
    }

    fn range(&self, span: &Span) -> (usize, usize) {
        let range = span
            .byte_range()
            .expect("a parser of a str gives byte offsets");
        (self.base + range.start, self.base + range.end)
    }

    fn scalar(
        &mut self,
        tree: &mut Tree,
        text: &str,
        style: ScalarStyle,
        anchor: usize,
        tag: Option<&Tag>,
        span: &Span,
    ) -> Result<(), Fault> {
        let (mut start, mut end) = self.range(span);
        let plain = style == ScalarStyle::Plain;
        let merges = self.expects_key() && scalar::is_merge(text, plain, tag);
        let kind = match style {
            _ if merges => Kind::Merge,
            ScalarStyle::Plain if start == end => Kind::Empty,
            ScalarStyle::Plain => Kind::Plain,
            ScalarStyle::SingleQuoted => Kind::Single,
            ScalarStyle::DoubleQuoted => Kind::Double,
            ScalarStyle::Literal | ScalarStyle::Folded => Kind::Block,
        };
        if kind == Kind::Block {
            end = block_end(&self.text[..end], text).max(start);
            let header = indicator(self.text, self.seen, b"|>");
            start = header.filter(|&it| it < start).unwrap_or(start);
        }
        let id = tree.push(kind, start, end);
        self.noted(tree, id, span, end);
        if merges {
            self.set_key(Key::Merge);
            return Ok(());
        }
        let value = scalar::resolve(text, plain, tag).map_err(|why| Fault::new(start, why))?;
        self.done(
            tree,
            Done {
                id,
                value,
                anchor,
                height: 0,
                weight: NODE_WEIGHT + text.len(),
            },
        )
    }

    fn alias(
        &mut self,
        tree: &mut Tree,
        budget: &mut usize,
        anchor: usize,
        start: usize,
        end: usize,
    ) -> Result<(), Fault> {
        let Some(target) = self.anchors.get(&anchor) else {
            return Err(Fault::new(start, "this alias stands inside its own anchor"));
        };
        let (height, weight) = (target.height, target.weight);
        if self.open.len() + height > MAX_DEPTH {
            return Err(too_deep(start));
        }
        let left = budget
            .checked_sub(weight)
            .ok_or_else(|| Fault::new(start, "the aliases up to here expand to too much text"))?;
        *budget = left;
        let value = target.value.clone();
        let id = tree.push(Kind::Alias(target.id), start, end);
        self.latest = id;
        self.seen = end;
        let anchor = 0;
        self.done(
            tree,
            Done {
                id,
                value,
                anchor,
                height,
                weight,
            },
        )
    }

    fn enter(
        &mut self,
        tree: &mut Tree,
        kind: Kind,
        anchor: usize,
        span: &Span,
    ) -> Result<(), Fault> {
        let (start, end) = self.range(span);
        if self.open.len() >= MAX_DEPTH {
            return Err(too_deep(start));
        }
        if self.expects_key() {
            return Err(Fault::new(start, "the key of a map must be a scalar"));
        }
        let start = match kind {
            Kind::List { flow: false } => self.dash().unwrap_or(start),
            _ => start,
        };
        let id = tree.push(kind, start, end);
        self.noted(tree, id, span, end);
        let content = match kind {
            Kind::Map { .. } => Content::Map {
                members: Map::new(),
                key: None,
                merged: Vec::new(),
            },
            _ => Content::List(Vec::new()),
        };
        self.open.push(Frame {
            id,
            anchor,
            height: 0,
            weight: NODE_WEIGHT,
            content,
        });
        Ok(())
    }

    fn leave(&mut self, tree: &mut Tree, end: usize) -> Result<(), Fault> {
        let Some(frame) = self.open.pop() else {
            return Ok(());
        };
        tree.close(frame.id, end);
        if tree.node(frame.id).is_flow_collection() {
            self.seen = end;
        }
        let value = match frame.content {
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
        self.done(
            tree,
            Done {
                id: frame.id,
                value,
                anchor: frame.anchor,
                height: frame.height + 1,
                weight: frame.weight,
            },
        )
    }

    /// Hands a node that is complete to the collection it stands in.
    fn done(&mut self, tree: &Tree, done: Done) -> Result<(), Fault> {
        if done.anchor != 0 {
            let anchor = Anchor {
                id: done.id,
                value: done.value.clone(),
                height: done.height,
                weight: done.weight,
            };
            self.anchors.insert(done.anchor, anchor);
        }
        let Some(frame) = self.open.last_mut() else {
            self.root = Some((done.id, done.value));
            return Ok(());
        };
        frame.height = frame.height.max(done.height);
        frame.weight = frame.weight.saturating_add(done.weight);
        let map = frame.id;
        let Content::Map {
            members,
            key,
            merged,
        } = &mut frame.content
        else {
            if let Content::List(items) = &mut frame.content {
                items.push(done.value);
            }
            return Ok(());
        };
        match key.take() {
            None => {
                let name = key_of(tree, self.text, map, &done, members)?;
                *key = Some(Key::Name(name));
            }
            Some(Key::Name(name)) => {
                members.insert(name, done.value);
            }
            Some(Key::Merge) => {
                note_sources(tree, &mut self.values, &done);
                merge(tree, done, merged)?;
            }
        }
        Ok(())
    }

    /// The first dash of a block list that begins here. Unless it is the first element of a list itself, the dash that it
    /// stands behind comes before.
    fn dash(&mut self) -> Option<usize> {
        let inner = match self.open.last().map(|frame| &frame.content) {
            Some(Content::List(items)) => !items.is_empty(),
            _ => false,
        };
        for _ in 0..=usize::from(inner) {
            self.seen = 1 + indicator(self.text, self.seen, b"-")?;
        }
        Some(self.seen - 1)
    }

    fn expects_key(&self) -> bool {
        matches!(
            self.open.last().map(|frame| &frame.content),
            Some(Content::Map { key: None, .. })
        )
    }

    fn set_key(&mut self, name: Key) {
        if let Some(Content::Map { key, .. }) = self.open.last_mut().map(|it| &mut it.content) {
            *key = Some(name);
        }
    }

    fn noted(&mut self, tree: &mut Tree, id: Id, span: &Span, end: usize) {
        self.latest = id;
        self.seen = self.seen.max(end);
        if let Some(offset) = span.tag_start().and_then(|mark| mark.byte_offset()) {
            tree.set_props(id, self.base + offset);
        }
    }
}

fn too_deep(offset: usize) -> Fault {
    Fault::new(offset, format!("nested deeper than {MAX_DEPTH}"))
}

/// The member name that a key makes, which must be new in its map.
fn key_of(
    tree: &Tree,
    text: &str,
    map: Id,
    done: &Done,
    members: &Map<String, Value>,
) -> Result<String, Fault> {
    let offset = tree.node(done.id).start();
    let name = scalar::key(done.value.clone())
        .ok_or_else(|| Fault::new(offset, "the key of a map must be a scalar, and not null"))?;
    if !members.contains_key(&name) {
        return Ok(name);
    }
    let first = tree
        .entries(map)
        .find(|&(key, _)| tree.key_name(text, key).as_deref() == Some(name.as_str()));
    let first = first.map_or(0, |(key, _)| tree.node(key).start());
    let lines = text[first..offset].matches('\n').count();
    let message = match lines {
        0 => format!("duplicate key {name:?}, first on the same line"),
        1 => format!("duplicate key {name:?}, first 1 line above"),
        _ => format!("duplicate key {name:?}, first {lines} lines above"),
    };
    Err(Fault::new(offset, message))
}

/// Keeps the values of the maps that are written out at a merge key; those of aliases are kept with their anchors.
fn note_sources(tree: &Tree, values: &mut HashMap<Id, Value>, done: &Done) {
    let mut note = |id: Id, value: &Value| {
        if matches!(tree.node(id).kind, Kind::Map { .. }) {
            values.insert(id, value.clone());
        }
    };
    note(done.id, &done.value);
    if let (Kind::List { .. }, Value::Array(items)) = (tree.node(done.id).kind, &done.value) {
        for (id, value) in tree.children(done.id).zip(items) {
            note(id, value);
        }
    }
}

fn merge(tree: &Tree, done: Done, merged: &mut Vec<Map<String, Value>>) -> Result<(), Fault> {
    let sources = match done.value {
        Value::Array(items) => items,
        value => vec![value],
    };
    for source in sources {
        let Value::Object(members) = source else {
            let offset = tree.node(done.id).start();
            let message = "the value of << must be a map or a list of maps";
            return Err(Fault::new(offset, message));
        };
        merged.push(members);
    }
    Ok(())
}

/// The first of these indicators behind the token that ends at `from`, not counting what comments, anchors and tags hold.
fn indicator(text: &str, from: usize, wanted: &[u8]) -> Option<usize> {
    let mut at = from;
    loop {
        let rest = text.get(at..)?;
        at += match rest.bytes().next()? {
            byte if wanted.contains(&byte) => return Some(at),
            b'#' => rest.find(['\n', '\r'])?,
            b'&' | b'!' => rest.find([' ', '\t', '\n', '\r'])?,
            _ => rest.chars().next()?.len_utf8(),
        };
    }
}

/// Where the last line of a block scalar ends, before its line break. Blank lines behind it are part of it only if its value
/// ends in more than one line break, or in a line of blanks.
fn block_end(text: &str, value: &str) -> usize {
    let lines = value.trim_end_matches('\n');
    let keeps = value.len() - lines.len() > 1 || lines.is_empty() && !value.is_empty();
    if keeps || lines.ends_with([' ', '\t']) {
        let text = text.strip_suffix('\n').unwrap_or(text);
        text.strip_suffix('\r').unwrap_or(text).len()
    } else {
        text.trim_end_matches([' ', '\t', '\n', '\r']).len()
    }
}
