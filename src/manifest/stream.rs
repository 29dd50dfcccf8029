//! A text as a stream of documents.

use granit_parser::{ErrorKind, Event, Marker, Options, Parser, ScanError, Span};

use super::build::{Builder, COPY_BUDGET, Document, MAX_DEPTH, too_deep};
use super::error::Fault;
use super::frame::Wanted;
use super::tree::Tree;

/// Everything that stands in a text.
#[derive(Debug, Default)]
pub(super) struct Stream {
    pub(super) tree: Tree,
    pub(super) documents: Vec<Document>,
    pub(super) faults: Vec<Fault>,
}

/// Reads all documents of a text. A document that cannot be read leaves a fault, and reading goes on at the next marker. Where
/// `wanted` is given, only the names are kept of objects that it has no use for.
pub(super) fn read<'t>(text: &'t str, wanted: Option<&'t Wanted<'t>>) -> Stream {
    let mut reader = Reader {
        text,
        wanted,
        stream: Stream {
            tree: Tree::for_text(text.len()),
            ..Stream::default()
        },
        count: 0,
        ended: 0,
        document: None,
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
    wanted: Option<&'t Wanted<'t>>,
    stream: Stream,
    /// How many documents have begun.
    count: usize,
    /// Where the last document ended.
    ended: usize,
    /// The one that is being read.
    document: Option<Builder<'t>>,
    /// What anchors and aliases may still copy.
    budget: usize,
}

impl<'t> Reader<'t> {
    /// Reads from `base` on. Returns where to begin anew: JSON documents may follow each other without a marker.
    fn piece(&mut self, base: usize) -> Option<usize> {
        let mut parser = Parser::new_from_str_with_options(&self.text[base..], options());
        loop {
            let fault = match parser.next_event()? {
                Ok((Event::StreamEnd, _)) => return None,
                Ok((event, span)) => match self.event(base, event, &span) {
                    Ok(()) => continue,
                    Err(fault) => fault,
                },
                Err(error) => {
                    let fault = fault_of(&error, base);
                    let stray = *error.kind() == ErrorKind::ExpectedDocumentStart;
                    if stray && fault.offset > base && self.text[fault.offset..].starts_with('{') {
                        return Some(fault.offset);
                    }
                    fault
                }
            };
            self.fail(fault);
            match parser.proceed_next_document() {
                Ok(true) => {}
                Ok(false) => return None,
                Err(error) => {
                    self.stream.faults.push(fault_of(&error, base));
                    return None;
                }
            }
        }
    }

    fn event(&mut self, base: usize, event: Event<'t>, span: &Span) -> Result<(), Fault> {
        let offset = |mark: Marker| base + mark.byte_offset().unwrap_or_default();
        match (event, &mut self.document) {
            (Event::DocumentStart(explicit, _), _) => {
                let start = offset(if explicit { span.end } else { span.start });
                self.document = Some(Builder::new(
                    self.text,
                    base,
                    start,
                    self.budget,
                    self.wanted,
                ));
                self.count += 1;
            }
            (Event::DocumentEnd, _) => {
                self.ended = offset(span.start);
                self.finish();
            }
            (event, Some(document)) => document.take(&mut self.stream.tree, event, span)?,
            (_, None) => {}
        }
        Ok(())
    }

    /// Whether an error before any event of a document belongs to a new one, which must be counted.
    fn begins(&self, offset: usize) -> bool {
        let between = self.text.get(self.ended..offset).unwrap_or_default();
        let is_marker = |line: &str| line.starts_with("---") || line.starts_with("...");
        self.count == 0 || between.lines().any(is_marker)
    }

    fn finish(&mut self) {
        let Some(document) = self.document.take() else {
            return;
        };
        self.budget = document.budget;
        self.stream
            .documents
            .extend(document.finish(self.count - 1));
    }

    /// Forgets what the failed document left.
    fn fail(&mut self, fault: Fault) {
        match self.document.take() {
            Some(document) => self.budget = document.budget,
            // Without its start it would not be counted, and the numbers of the next ones would be wrong.
            None => self.count += usize::from(self.begins(fault.offset)),
        }
        let kept = self.stream.documents.last();
        let behind = kept.map_or(0, |document| self.stream.tree.behind(document.root));
        self.stream.tree.truncate(behind);
        self.ended = fault.offset;
        self.stream.faults.push(fault);
    }
}

fn fault_of(error: &ScanError, base: usize) -> Fault {
    let offset = base + error.marker().byte_offset().unwrap_or_default();
    match error.kind() {
        ErrorKind::RecursionLimitExceeded => too_deep(offset),
        kind => Fault::new(offset, kind.to_string().replace('\n', " ")),
    }
}
