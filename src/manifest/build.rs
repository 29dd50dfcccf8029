//! Events of the YAML parser to the nodes and the value of one document.

use std::collections::HashMap;

use granit_parser::{Event, ScalarStyle, Span, StructureStyle, Tag};
use serde_json::Value;

use super::error::Fault;
use super::frame::{Done, Frame, NODE_WEIGHT, Wanted};
use super::members::Stack;
use super::scalar;
use super::scan;
use super::tree::{Id, Kind, Tree};

/// The deepest that lists and maps may be nested, aliases resolved.
pub(super) const MAX_DEPTH: usize = 128;

/// What the copies that anchors and aliases make may add up to in one text: a node counts 16, a byte of its text 1. That is
/// 100,000 nodes, far beyond any manifest, and stops the bombs: nine lists of nine aliases each make 10^9 of them. A small map
/// takes some 600 bytes, and is copied again where an object is mended, so that no short text takes more than 64 MiB.
pub(super) const COPY_BUDGET: usize = 1_600_000;

/// A document as it is being read.
pub(super) struct Builder<'t> {
    text: &'t str,
    /// Where the parsed piece stands in the text.
    base: usize,
    /// Behind the last token, from where indicators that have no event are looked for.
    seen: usize,
    /// The node that an anchor reported next belongs to.
    latest: Id,
    open: Vec<Frame>,
    /// The members of the open maps.
    members: Stack,
    /// Of which objects more is kept than names; of all where nothing says so.
    wanted: Option<&'t Wanted<'t>>,
    anchors: HashMap<usize, Done>,
    sources: HashMap<Id, Value>,
    root: Option<(Id, Value)>,
    /// What may still be copied.
    pub(super) budget: usize,
}

/// One document that could be read.
#[derive(Clone, Debug)]
pub(super) struct Document {
    /// Its number in the stream, from 0.
    pub(super) number: usize,
    /// Its root node.
    pub(super) root: Id,
    /// Its value; the objects are taken out of it.
    pub(super) value: Value,
    /// The values of the nodes that others take copies of: those with an anchor, and the maps that merges bring.
    pub(super) values: HashMap<Id, Value>,
}

impl<'t> Builder<'t> {
    /// A document of the piece of `text` that begins at `base`; its first token begins at `start`. `budget` is what anchors
    /// and aliases may copy, `wanted` of which objects more is kept than names.
    pub(super) fn new(
        text: &'t str,
        base: usize,
        start: usize,
        budget: usize,
        wanted: Option<&'t Wanted<'t>>,
    ) -> Self {
        Self {
            text,
            base,
            seen: start,
            latest: 0,
            open: Vec::new(),
            members: Stack::new(),
            wanted,
            anchors: HashMap::new(),
            sources: HashMap::new(),
            root: None,
            budget,
        }
    }

    /// Takes one event.
    ///
    /// # Errors
    /// The document is of no use any more.
    pub(super) fn take(
        &mut self,
        tree: &mut Tree,
        event: Event<'t>,
        span: &Span,
    ) -> Result<(), Fault> {
        let start = self.range(span).0;
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                let id = self.scalar_node(tree, &text, style, tag.as_deref(), span);
                self.scalar(tree, id, &text, anchor, tag.as_deref())
            }
            Event::Alias(anchor) => self.alias(tree, anchor, span),
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
            Event::SequenceEnd | Event::MappingEnd => self.leave(tree, span),
            Event::Anchor(..) => {
                tree.set_props(self.latest, start);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// The document, once it has ended; `number` is its number in the stream.
    pub(super) fn finish(self, number: usize) -> Option<Document> {
        let (root, value) = self.root?;
        let mut values = self.sources;
        values.extend(self.anchors.into_values().map(|it| (it.id, it.value)));
        Some(Document {
            number,
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

    fn scalar_node(
        &mut self,
        tree: &mut Tree,
        text: &str,
        style: ScalarStyle,
        tag: Option<&Tag>,
        span: &Span,
    ) -> Id {
        let (mut start, mut end) = self.range(span);
        let plain = style == ScalarStyle::Plain;
        let kind = match style {
            _ if self.expects_key() && scalar::is_merge(text, plain, tag) => Kind::Merge,
            ScalarStyle::Plain if start == end => Kind::Empty,
            ScalarStyle::Plain => Kind::Plain,
            ScalarStyle::SingleQuoted => Kind::Single,
            ScalarStyle::DoubleQuoted => Kind::Double,
            ScalarStyle::Literal | ScalarStyle::Folded => Kind::Block,
        };
        if kind == Kind::Block {
            end = scan::block_end(&self.text[..end], text).max(start);
            let header = scan::indicator(self.text, self.seen, b"|>");
            start = header.filter(|&it| it < start).unwrap_or(start);
        } else if kind == Kind::Empty {
            start = self.place_of_nothing(tree, start);
            end = start;
        }
        let id = tree.push(kind, start, end);
        self.noted(tree, id, span, end);
        id
    }

    fn scalar(
        &mut self,
        tree: &Tree,
        id: Id,
        text: &str,
        anchor: usize,
        tag: Option<&Tag>,
    ) -> Result<(), Fault> {
        let kind = tree.node(id).kind;
        if let (Kind::Merge, Some(map)) = (kind, self.open.last_mut()) {
            map.take_merge_key();
            return Ok(());
        }
        let plain = matches!(kind, Kind::Empty | Kind::Plain);
        // Nothing at all is reported as the null that it means.
        let text = if kind == Kind::Empty { "" } else { text };
        let passed = anchor == 0 && self.open.last().is_some_and(|frame| !frame.kept);
        let value = if passed && !self.expects_key() {
            scalar::check(text, plain, tag).map(|()| Value::Null)
        } else {
            scalar::resolve(text, plain, tag)
        };
        let value = value.map_err(|why| Fault::new(tree.node(id).start(), why))?;
        let done = Done {
            id,
            value,
            anchor,
            height: 0,
            weight: NODE_WEIGHT + text.len(),
        };
        self.done(tree, done)
    }

    fn alias(&mut self, tree: &mut Tree, anchor: usize, span: &Span) -> Result<(), Fault> {
        let (start, end) = self.range(span);
        let Some(target) = self.anchors.get(&anchor) else {
            return Err(Fault::new(start, "this alias stands inside its own anchor"));
        };
        let (height, weight) = (target.height, target.weight);
        if self.open.len() + height > MAX_DEPTH {
            return Err(too_deep(start));
        }
        let target = target.id;
        self.pay(weight, start)?;
        let value = self.anchors[&anchor].value.clone();
        let id = tree.push(Kind::Alias(target), start, end);
        self.noted(tree, id, span, end);
        let done = Done {
            id,
            value,
            anchor: 0,
            height,
            weight,
        };
        self.done(tree, done)
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
        // A block collection has no token of its own: its place is that of the next one.
        let flow = tree.node(id).is_flow_collection();
        self.noted(tree, id, span, if flow { end } else { start });
        let kept = anchor != 0 || !self.passes();
        let frame = Frame::new(id, kind, anchor, kept, &self.members);
        self.open.push(frame);
        Ok(())
    }

    /// Whether nobody has a use for the next node. What is merged is told apart from what cannot be, so it is kept.
    fn passes(&self) -> bool {
        match (self.open.as_slice(), self.wanted) {
            ([.., frame], _) if !frame.kept => !frame.merges(),
            ([root], Some(wanted)) => root.passes(&self.members, wanted),
            _ => false,
        }
    }

    fn leave(&mut self, tree: &mut Tree, span: &Span) -> Result<(), Fault> {
        let Some(frame) = self.open.pop() else {
            return Ok(());
        };
        let end = self.range(span).1;
        tree.close(frame.id, end);
        if tree.node(frame.id).is_flow_collection() {
            self.seen = end;
        }
        let done = frame.finish(&mut self.members);
        self.done(tree, done)
    }

    /// Hands a node that is complete to the collection it stands in.
    fn done(&mut self, tree: &Tree, done: Done) -> Result<(), Fault> {
        if done.anchor != 0 {
            self.pay(done.weight, tree.node(done.id).start())?;
            let value = done.value.clone();
            self.anchors.insert(done.anchor, Done { value, ..done });
        }
        match self.open.last_mut() {
            Some(frame) => {
                let (members, sources) = (&mut self.members, &mut self.sources);
                frame.take(done, tree, self.text, members, sources)
            }
            None => {
                self.root = Some((done.id, done.value));
                Ok(())
            }
        }
    }

    fn pay(&mut self, weight: usize, offset: usize) -> Result<(), Fault> {
        let left = self.budget.checked_sub(weight);
        let message = "the anchors and aliases up to here expand to too much text";
        self.budget = left.ok_or_else(|| Fault::new(offset, message))?;
        Ok(())
    }

    /// The first dash of a block list that begins here. Unless it is the first element of a list itself, the dash that it
    /// stands behind comes before.
    fn dash(&mut self) -> Option<usize> {
        let outer = self.open.last().and_then(Frame::list_len);
        for _ in 0..=usize::from(outer.is_some_and(|len| len > 0)) {
            self.seen = 1 + scan::indicator(self.text, self.seen, b"-")?;
        }
        Some(self.seen - 1)
    }

    /// Where a value that is not written would stand: right behind its colon or dash, unless it has an anchor or tag. It is
    /// reported where its key ends, or where the next token begins.
    fn place_of_nothing(&self, tree: &Tree, reported: usize) -> usize {
        let Some(frame) = self.open.last().filter(|frame| !frame.expects_key()) else {
            return reported;
        };
        let place = match frame.list_len() {
            None => {
                let colon = scan::skip_blanks(self.text, self.seen);
                let found = reported == self.seen && self.text[colon..].starts_with(':');
                found.then_some(colon + 1)
            }
            Some(_) if tree.node(frame.id).is_flow_collection() => None,
            Some(0) => Some(self.seen),
            Some(_) => scan::indicator(self.text, self.seen, b"-").map(|dash| dash + 1),
        };
        place
            .filter(|&it| it > reported || scan::skip_blanks(self.text, it) >= reported)
            .unwrap_or(reported)
    }

    fn expects_key(&self) -> bool {
        self.open.last().is_some_and(Frame::expects_key)
    }

    fn noted(&mut self, tree: &mut Tree, id: Id, span: &Span, end: usize) {
        self.latest = id;
        self.seen = self.seen.max(end);
        if let Some(offset) = span.tag_start().and_then(|mark| mark.byte_offset()) {
            tree.set_props(id, self.base + offset);
        }
    }
}

/// A node that is nested too deep.
pub(super) fn too_deep(offset: usize) -> Fault {
    Fault::new(offset, format!("nested deeper than {MAX_DEPTH}"))
}
