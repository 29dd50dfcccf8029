//! The entries of a map, and which of them stay.

use std::collections::HashSet;
use std::ops::Range;

use super::super::tree::Id;

/// One entry as it is written.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub(super) key: Id,
    pub(super) value: Id,
    pub(super) stays: bool,
}

/// All entries of a map, merges among them.
#[derive(Debug, Default)]
pub(super) struct Entries {
    pub(super) all: Vec<Entry>,
    /// The names of those that are no merges.
    pub(super) names: HashSet<String>,
}

impl Entries {
    /// The last entry that stays.
    pub(super) fn last_kept(&self) -> Option<Entry> {
        self.all.iter().rev().find(|entry| entry.stays).copied()
    }

    /// Lets all merges go. The first of them stays if something takes its place, and is returned.
    pub(super) fn dissolve(
        &mut self,
        is_merge: impl Fn(Id) -> bool,
        replaced: bool,
    ) -> Option<Entry> {
        let mut first = None;
        for entry in self.all.iter_mut().filter(|entry| is_merge(entry.key)) {
            entry.stays = replaced && first.is_none();
            if entry.stays {
                first = Some(*entry);
            }
        }
        first
    }

    /// The runs of entries that go, as ranges of indices.
    pub(super) fn runs(&self) -> Vec<Range<usize>> {
        let mut runs: Vec<Range<usize>> = Vec::new();
        let gone = self.all.iter().enumerate().filter(|(_, it)| !it.stays);
        for (index, _) in gone {
            match runs.last_mut() {
                Some(run) if run.end == index => run.end += 1,
                _ => runs.push(index..index + 1),
            }
        }
        runs
    }
}
