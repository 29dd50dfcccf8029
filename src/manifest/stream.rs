//! A text as a stream of documents.

use std::collections::HashMap;

use granit_parser::{ErrorKind, Event, Options, Parser, ScanError};
use serde_json::Value;

use super::build::{Builder, COPY_BUDGET, MAX_DEPTH};
use super::error::Fault;
use super::tree::{Id, Tree};

/// One document that could be read.
#[derive(Clone, Debug)]
pub(super) struct Document {
    /// Its number in the stream, from 0.
    pub(super) number: usize,
    /// Its root node.
    pub(super) root: Id,
    /// Its value; the objects are taken out of it.
    pub(super) value: Value,
    /// The values of the nodes that aliases and merges take copies of.
    pub(super) values: HashMap<Id, Value>,
}

/// Everything that stands in a text.
#[derive(Debug, Default)]
pub(super) struct Stream {
    pub(super) tree: Tree,
    pub(super) documents: Vec<Document>,
    pub(super) faults: Vec<Fault>,
}

/// Reads all documents of a text. A document that cannot be read leaves a fault, and reading goes on at the next marker.
pub(super) fn read(text: &str) -> Stream {
    let mut reader = Reader {
        text,
        stream: Stream::default(),
        count: 0,
        ended: 0,
        budget: COPY_BUDGET,
    };
    if u32::try_from(text.len()).is_err() {
        let fault = Fault::new(0, "the text is longer than 4 GiB");
        reader.stream.faults.push(fault);
        return reader.stream;
    }
    let mut base = Some(0);
    while let Some(start) = base {
        base = reader.piece(start);
    }
    reader.stream
}

fn options() -> Options {
    let mut options = granit_parser::options! {
        // go-yaml adds no line break that is not there.
        block_scalar_eof_without_line_feed: true,
        emit_anchor_events: true,
        emit_unresolved_aliases: true,
        flow_nesting_limit: MAX_DEPTH,
        block_nesting_limit: MAX_DEPTH,
    };
    options.set_emit_comments(false);
    options
}

struct Reader<'t> {
    text: &'t str,
    stream: Stream,
    /// How many documents have begun.
    count: usize,
    /// Where the last document ended.
    ended: usize,
    budget: usize,
}

impl<'t> Reader<'t> {
    /// Reads from `base` on. Returns where to begin anew: JSON documents may follow each other without a marker.
    fn piece(&mut self, base: usize) -> Option<usize> {
        let mut parser = Parser::new_from_str_with_options(&self.text[base..], options());
        let mut document: Option<Builder<'t>> = None;
        loop {
            let fault = match parser.next_event()? {
                Ok((Event::StreamStart, _)) => continue,
                Ok((Event::StreamEnd, _)) => return None,
                Ok((Event::DocumentStart(explicit, _), span)) => {
                    let mark = if explicit { span.end } else { span.start };
                    let start = base + mark.byte_offset().unwrap_or_default();
                    document = Some(Builder::new(self.text, base, start));
                    self.count += 1;
                    continue;
                }
                Ok((Event::DocumentEnd, span)) => {
                    self.ended = base + span.start.byte_offset().unwrap_or_default();
                    self.finish(document.take());
                    continue;
                }
                Ok((event, span)) => {
                    let Some(builder) = &mut document else {
                        continue;
                    };
                    let taken = builder.take(&mut self.stream.tree, &mut self.budget, event, &span);
                    match taken {
                        Ok(()) => continue,
                        Err(fault) => fault,
                    }
                }
                Err(error) => {
                    let offset = base + error.marker().byte_offset().unwrap_or_default();
                    let stray = *error.kind() == ErrorKind::ExpectedDocumentStart;
                    if stray && offset > base && self.text[offset..].starts_with('{') {
                        return Some(offset);
                    }
                    self.count += usize::from(document.is_none() && self.begins(offset));
                    fault_of(&error, offset)
                }
            };
            document = None;
            self.fail(fault);
            match parser.proceed_next_document() {
                Ok(true) => {}
                Ok(false) => return None,
                Err(error) => {
                    let offset = base + error.marker().byte_offset().unwrap_or_default();
                    self.stream.faults.push(fault_of(&error, offset));
                    return None;
                }
            }
        }
    }

    /// Whether an error before any event of a document belongs to a new one, which must be counted.
    fn begins(&self, offset: usize) -> bool {
        let between = self.text.get(self.ended..offset).unwrap_or_default();
        let is_marker = |line: &str| line.starts_with("---") || line.starts_with("...");
        self.count == 0 || between.lines().any(is_marker)
    }

    fn finish(&mut self, document: Option<Builder<'t>>) {
        let Some(built) = document.and_then(Builder::finish) else {
            return;
        };
        self.stream.documents.push(Document {
            number: self.count - 1,
            root: built.root,
            value: built.value,
            values: built.values,
        });
    }

    fn fail(&mut self, fault: Fault) {
        let kept = self.stream.documents.last();
        let behind = kept.map_or(0, |document| self.stream.tree.behind(document.root));
        self.stream.tree.truncate(behind);
        self.ended = fault.offset;
        self.stream.faults.push(fault);
    }
}

fn fault_of(error: &ScanError, offset: usize) -> Fault {
    match error.kind() {
        ErrorKind::RecursionLimitExceeded => {
            Fault::new(offset, format!("nested deeper than {MAX_DEPTH}"))
        }
        kind => Fault::new(offset, kind.to_string().replace('\n', " ")),
    }
}
