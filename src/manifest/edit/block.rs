//! Entries added to block maps, and taken out of them.

use std::ops::Range;

use serde_json::Value;

use super::super::scan::{blank_lines_end, is_first, line_break, line_end, line_start};
use super::super::tree::{Id, Kind};
use super::super::write::Block;
use super::entries::Entries;
use super::layout::Indents;
use super::walk::Walk;

impl Walk<'_> {
    /// Adds members to a block map whose keys stand at `column`, and takes entries out of it.
    pub(super) fn change_block(
        &mut self,
        id: Id,
        entries: &Entries,
        added: &[(&String, &Value)],
        column: usize,
    ) {
        for run in entries.runs() {
            self.remove_lines(entries, run);
        }
        let Some(last) = entries.last_kept().filter(|_| !added.is_empty()) else {
            return;
        };
        let at = line_end(self.text, self.tree.node(last.value).end());
        let indents = self.indents.within(self.text, self.tree, id);
        let block = self.block(indents, at);
        let members = block.members(added, column);
        let gap = format!("{}{}", block.eol, " ".repeat(column));
        // A line break at the end of the text would become part of a block scalar that ends there.
        if at == self.text.len() && self.ends_in_block_scalar(last.value) {
            let start = self.entry_start(last.key);
            self.splice(start, start, members + &gap);
        } else {
            self.splice(at, at, gap + &members);
        }
    }

    /// The layout of what is written at an offset.
    pub(super) fn block(&self, indents: Indents, at: usize) -> Block<'static> {
        Block {
            step: indents.step,
            list: indents.list,
            eol: line_break(self.text, at),
        }
    }

    fn ends_in_block_scalar(&self, id: Id) -> bool {
        let last = self.tree.behind(id) - 1;
        self.tree.node(last).kind == Kind::Block
    }

    /// Takes a run of entries away with their lines. The first entry behind a dash leaves its place to the one that follows.
    fn remove_lines(&mut self, entries: &Entries, run: Range<usize>) {
        let start = self.entry_start(entries.all[run.start].key);
        if !is_first(self.text, start) {
            let next = entries.all.get(run.end);
            let end = next.map(|next| self.entry_start(next.key));
            self.splice(start, end.unwrap_or(start), "");
            return;
        }
        let end = self.tree.node(entries.all[run.end - 1].value).end();
        let mut end = line_end(self.text, end);
        let before = run
            .start
            .checked_sub(1)
            .map(|before| entries.all[before].value);
        if before.is_some_and(|before| self.ends_in_block_scalar(before)) {
            // Blank lines behind would become part of that scalar.
            end = blank_lines_end(self.text, end);
        }
        // The line break before them goes, so that what is added behind them does not stand in what goes.
        let start = line_start(self.text, start);
        let eol = line_break(self.text, end).len();
        match self.text[..start].ends_with(['\n', '\r']) {
            true => self.splice(start - eol, end, ""),
            false => self.splice(start, (end + eol).min(self.text.len()), ""),
        }
    }

    /// Where an entry of a block map begins: at its key, or at the `?` before it.
    fn entry_start(&self, key: Id) -> usize {
        let key = self.tree.node(key).props();
        let before = self.text[line_start(self.text, key)..key].trim_end_matches([' ', '\t']);
        let mark = line_start(self.text, key) + before.len();
        if before.ends_with('?') { mark - 1 } else { key }
    }
}
