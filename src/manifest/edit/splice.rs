//! Pieces of a text replaced by others.

use std::ops::Range;

/// A range of bytes and the text that takes its place.
#[derive(Clone, Debug)]
pub(super) struct Splice {
    pub(super) range: Range<usize>,
    pub(super) text: String,
}

/// The text with all splices made, those at one place in the order given. What is only taken away may be taken away twice;
/// `None` where other splices overlap.
pub(super) fn apply(text: &str, mut splices: Vec<Splice>) -> Option<String> {
    splices.sort_by_key(|splice| (splice.range.start, splice.range.end));
    let grown: usize = splices.iter().map(|splice| splice.text.len()).sum();
    let mut out = String::with_capacity(text.len() + grown);
    let mut done = 0;
    for splice in &splices {
        let Range { start, end } = splice.range;
        if splice.text.is_empty() && start < done {
            done = done.max(end);
            continue;
        }
        out.push_str(text.get(done..start)?);
        out.push_str(&splice.text);
        done = end;
    }
    out.push_str(text.get(done..)?);
    Some(out)
}
