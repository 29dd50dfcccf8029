//! Archives in which nothing depends on when, where or by whom they were made.

use std::collections::BTreeMap;

use crate::harness::fault::{Fault, Outcome};

const BLOCK: usize = 512;

/// What stands at one path.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Entry {
    /// A folder, and its mode.
    Folder(u32),
    /// A file: its mode and its bytes.
    File(u32, Vec<u8>),
    /// A symbolic link, and what it names.
    Link(String),
}

/// The entries of an archive, by path without a leading slash. Written in the order of their paths, so folders come first.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tar(BTreeMap<String, Entry>);

impl Tar {
    /// Adds `entry` at `path`, and the folders above it that are not there yet.
    pub(crate) fn add(&mut self, path: &str, entry: Entry) {
        for (at, _) in path.match_indices('/') {
            let folder = self.0.entry(path[..at].to_owned());
            folder.or_insert(Entry::Folder(0o755));
        }
        self.0.insert(path.to_owned(), entry);
    }

    /// The paths and what stands at each.
    pub(crate) fn entries(&self) -> &BTreeMap<String, Entry> {
        &self.0
    }

    /// The archive, in the format of POSIX.1-1988: owner root, every time 0.
    ///
    /// # Errors
    ///
    /// A path that is longer than the format holds.
    pub(crate) fn bytes(&self) -> Outcome<Vec<u8>> {
        let mut bytes = Vec::new();
        for (path, entry) in &self.0 {
            let (kind, mode, content, target) = match entry {
                Entry::Folder(mode) => (b'5', *mode, [].as_slice(), ""),
                Entry::File(mode, content) => (b'0', *mode, content.as_slice(), ""),
                Entry::Link(target) => (b'2', 0o777, [].as_slice(), target.as_str()),
            };
            bytes.extend(header(path, kind, mode, content.len(), target)?);
            bytes.extend(content);
            bytes.resize(bytes.len().next_multiple_of(BLOCK), 0);
        }
        bytes.resize(bytes.len() + 2 * BLOCK, 0);
        Ok(bytes)
    }
}

/// One header block: its checksum counts itself as spaces.
fn header(path: &str, kind: u8, mode: u32, size: usize, target: &str) -> Outcome<[u8; BLOCK]> {
    let name = if kind == b'5' {
        format!("{path}/")
    } else {
        path.to_owned()
    };
    let mut block = [0; BLOCK];
    let fields: [(usize, usize, &str); 11] = [
        (0, 100, &name),
        (100, 8, &format!("{mode:07o}")),
        (108, 8, "0000000"),
        (116, 8, "0000000"),
        (124, 12, &format!("{size:011o}")),
        (136, 12, "00000000000"),
        (148, 8, "        "),
        (157, 100, target),
        (257, 6, "ustar"),
        (263, 2, "00"),
        (329, 8, "0000000"),
    ];
    for (at, room, text) in fields {
        if text.len() > room {
            return Err(Fault::new(format!("{text} is longer than {room} bytes")));
        }
        block[at..at + text.len()].copy_from_slice(text.as_bytes());
    }
    block[156] = kind;
    let sum: u32 = block.iter().map(|byte| u32::from(*byte)).sum();
    block[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    Ok(block)
}
