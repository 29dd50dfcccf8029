//! How a text is laid out: its lines, and by how much it indents.

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

/// Where the line of this offset begins.
pub(super) fn line_start(text: &str, offset: usize) -> usize {
    let start = text[..offset].rfind(['\n', '\r']).map_or(0, |at| at + 1);
    let mark = text[start..offset].starts_with('\u{feff}');
    start + if mark { '\u{feff}'.len_utf8() } else { 0 }
}

/// Where the line of this offset ends, before its line break.
pub(super) fn line_end(text: &str, offset: usize) -> usize {
    let rest = &text[offset..];
    offset + rest.find(['\n', '\r']).unwrap_or(rest.len())
}

/// The line break that stands at this offset, or the first one of the text.
pub(super) fn line_break(text: &str, offset: usize) -> &'static str {
    let from = [offset, 0].into_iter().find_map(|from| {
        let at = from + text[from..].find(['\n', '\r'])?;
        Some(&text[at..])
    });
    match from {
        Some(rest) if rest.starts_with("\r\n") => "\r\n",
        Some(rest) if rest.starts_with('\r') => "\r",
        _ => "\n",
    }
}

/// How many bytes of its line stand before this offset.
pub(super) fn column(text: &str, offset: usize) -> usize {
    offset - line_start(text, offset)
}

/// The blanks that the line of this offset begins with.
pub(super) fn indentation(text: &str, offset: usize) -> &str {
    let line = &text[line_start(text, offset)..];
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

/// Whether nothing but blanks stands before this offset on its line.
pub(super) fn is_first(text: &str, offset: usize) -> bool {
    text[line_start(text, offset)..offset]
        .trim_matches([' ', '\t'])
        .is_empty()
}

/// The first offset from here on where neither blanks, line breaks nor comments stand.
pub(super) fn skip_blanks(text: &str, mut offset: usize) -> usize {
    loop {
        let rest = &text[offset..];
        let blanks = rest.len() - rest.trim_start_matches([' ', '\t', '\n', '\r']).len();
        offset += blanks;
        if !text[offset..].starts_with('#') {
            return offset;
        }
        offset = line_end(text, offset);
    }
}
