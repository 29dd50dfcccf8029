//! What `check` is held against: nothing but the events of a YAML parser, with the place of each, of the same files on the same
//! threads.

use std::fs;
use std::hint::black_box;
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use walkdir::WalkDir;

use crate::Outcome;

/// A parser that tells where each event stands.
pub(crate) struct Parser {
    /// The name of its package.
    pub(crate) name: &'static str,
    /// The number of events in a text.
    events: fn(&str) -> Result<usize, String>,
}

/// The parsers that are compared.
pub(crate) const PARSERS: [Parser; 2] = [
    Parser {
        name: "granit-parser",
        events: granit,
    },
    Parser {
        name: "saphyr-parser",
        events: saphyr,
    },
];

/// Reads all files of a folder and goes through all events of each.
///
/// # Errors
///
/// That a file cannot be read, or that it is no YAML.
pub(crate) fn walk(parser: &str, folder: &Path) -> Outcome<usize> {
    let parser = PARSERS
        .iter()
        .find(|known| known.name == parser)
        .ok_or_else(|| format!("there is no parser {parser}"))?;
    let counts: Result<Vec<usize>, String> = files(folder)?
        .par_iter()
        .map(|path| {
            let said = |error: String| format!("{}: {error}", path.display());
            let text = fs::read_to_string(path).map_err(|error| said(error.to_string()))?;
            (parser.events)(&text).map_err(said)
        })
        .collect();
    Ok(counts?.into_iter().sum())
}

/// The files of the tree, in the order of their names.
pub(crate) fn files(folder: &Path) -> Outcome<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in WalkDir::new(folder).sort_by_file_name() {
        let entry = entry?;
        if entry.file_type().is_file() {
            files.push(entry.into_path());
        }
    }
    Ok(files)
}

fn granit(text: &str) -> Result<usize, String> {
    let mut options = granit_parser::Options::default();
    options.set_emit_comments(false);
    let mut count = 0;
    for event in granit_parser::Parser::new_from_str_with_options(text, options) {
        black_box(event.map_err(|error| error.to_string())?);
        count += 1;
    }
    Ok(count)
}

fn saphyr(text: &str) -> Result<usize, String> {
    let mut count = 0;
    for event in saphyr_parser::Parser::new_from_str(text) {
        black_box(event.map_err(|error| error.to_string())?);
        count += 1;
    }
    Ok(count)
}
