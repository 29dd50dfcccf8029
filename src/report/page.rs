//! Text as it grows.

use std::fmt::Display;

use super::style::{FAINT, TITLE, paint};

/// Text as it grows, a line at a time.
#[derive(Default)]
pub(super) struct Page(pub(super) String);

impl Page {
    pub(super) fn line(&mut self, depth: usize, text: impl Display) {
        self.0.push_str(&"  ".repeat(depth));
        self.0.push_str(&format!("{text}\n"));
    }

    pub(super) fn heading(&mut self, text: &str) {
        self.0.push('\n');
        self.line(1, paint(TITLE, text));
    }

    /// A value with its source.
    pub(super) fn value(
        &mut self,
        depth: usize,
        name: &str,
        value: impl Display,
        source: impl Display,
    ) {
        let source = paint(FAINT, &format!("from {source}"));
        self.line(depth, format!("{name:<16} {value}  {source}"));
    }
}
