//! By how much a document indents.

use super::super::scan::column;
use super::super::tree::{Id, Kind, Tree};

/// By how much nested maps and lists are indented when a document shows no example.
const STEP: usize = 2;

/// By how much a document indents what stands below a key.
#[derive(Clone, Copy, Debug)]
pub(super) struct Indents {
    /// A map.
    pub(super) step: usize,
    /// The dashes of a list.
    pub(super) list: usize,
}

impl Indents {
    /// The widths that occur most often in a document.
    pub(super) fn of(text: &str, tree: &Tree, root: Id) -> Self {
        let mut maps = [0_usize; 17];
        let mut lists = [0_usize; 17];
        for id in root..tree.behind(root) {
            if tree.node(id).kind != (Kind::Map { flow: false }) {
                continue;
            }
            for (key, value) in tree.entries(id) {
                let Some(width) = width(text, tree, key, value) else {
                    continue;
                };
                match tree.node(value).kind {
                    Kind::List { .. } => lists[width.min(16)] += 1,
                    _ => maps[width.min(16)] += 1,
                }
            }
        }
        let step = most(&maps).unwrap_or(STEP);
        let list = most(&lists).unwrap_or(step);
        Self { step, list }
    }

    /// The same, but with the width that this map itself shows for the maps in it.
    pub(super) fn within(self, text: &str, tree: &Tree, map: Id) -> Self {
        let is_map = |id: Id| tree.node(id).kind == Kind::Map { flow: false };
        let own = tree
            .entries(map)
            .filter(|&(_, value)| is_map(value))
            .find_map(|(key, value)| width(text, tree, key, value));
        Self {
            step: own.unwrap_or(self.step),
            ..self
        }
    }
}

fn width(text: &str, tree: &Tree, key: Id, value: Id) -> Option<usize> {
    if !tree.node(value).is_block_collection() {
        return None;
    }
    let (key, value) = (tree.node(key).props(), tree.node(value).start());
    column(text, value).checked_sub(column(text, key))
}

fn most(counts: &[usize]) -> Option<usize> {
    let (width, &count) = counts
        .iter()
        .enumerate()
        .rev()
        .max_by_key(|&(_, count)| count)?;
    (count > 0).then_some(width)
}
