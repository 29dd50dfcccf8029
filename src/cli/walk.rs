//! Which files are meant.

use std::collections::HashSet;
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};

use walkdir::{DirEntry, WalkDir};

use super::CliError;
use crate::report::Trouble;

/// The name that standard input has in reports.
const STDIN: &str = "<stdin>";

/// The endings of the files that are read of a folder.
const ENDINGS: [&str; 3] = ["json", "yaml", "yml"];

/// One input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Input {
    File(PathBuf),
    Stdin,
}

impl Input {
    /// The input that an argument names.
    pub(super) fn of(path: &Path) -> Self {
        if path.as_os_str() == "-" {
            Self::Stdin
        } else {
            Self::File(path.to_owned())
        }
    }

    /// How it is called in reports.
    pub(super) fn name(&self) -> String {
        match self {
            Self::File(path) => path.display().to_string(),
            Self::Stdin => STDIN.to_owned(),
        }
    }
}

/// The files that arguments mean.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// The inputs in a stable order, none twice.
    pub(super) inputs: Vec<Input>,
    /// What could not be looked into.
    pub(super) troubles: Vec<Trouble>,
    /// Whether one file, or standard input, was named and nothing else.
    pub(super) single: bool,
}

/// Finds the files that arguments mean: the files themselves, and those of a folder sorted by name.
pub(super) fn walk(paths: &[PathBuf]) -> Result<Found, CliError> {
    let mut found = Found::default();
    if paths.is_empty() {
        if io::stdin().is_terminal() {
            return Err(CliError::NoInput);
        }
        found.inputs.push(Input::Stdin);
        found.single = true;
        return Ok(found);
    }
    let mut seen = HashSet::new();
    for path in paths {
        match Input::of(path) {
            Input::File(path) if path.is_dir() => folder(&path, &mut found, &mut seen),
            input => found.take(input, None, &mut seen),
        }
    }
    found.single = matches!(paths, [path] if !path.is_dir());
    Ok(found)
}

fn folder(path: &Path, found: &mut Found, seen: &mut HashSet<Option<PathBuf>>) {
    let home = path.canonicalize().ok();
    let entries = WalkDir::new(path)
        .sort_by_file_name()
        .into_iter()
        .filter_entry(|entry| entry.depth() == 0 || !is_hidden(entry));
    for entry in entries {
        match entry {
            Ok(entry) if is_manifest(entry.path()) && may_be_file(&entry) => {
                // A walk leaves its folder by links alone, so that what is none need not be looked up once more.
                let inside = home.as_ref().filter(|_| entry.file_type().is_file());
                let inner = entry.path().strip_prefix(path).ok();
                let known = inside.zip(inner).map(|(home, inner)| home.join(inner));
                found.take(Input::File(entry.into_path()), known, seen);
            }
            Ok(_) => {}
            Err(error) => found.troubles.push(Trouble {
                file: error.path().unwrap_or(path).display().to_string(),
                place: None,
                message: error
                    .io_error()
                    .map_or_else(|| error.to_string(), ToString::to_string),
            }),
        }
    }
}

/// Whether an entry is a file, or a link that does not lead to a folder. A link to a file is followed, as mounted ConfigMaps need it,
/// and one that leads nowhere is told of when it is read; one to a folder is not followed, so that no walk goes round.
fn may_be_file(entry: &DirEntry) -> bool {
    let kind = entry.file_type();
    kind.is_file() || kind.is_symlink() && !entry.path().is_dir()
}

fn is_hidden(entry: &DirEntry) -> bool {
    entry.file_name().to_string_lossy().starts_with('.')
}

fn is_manifest(path: &Path) -> bool {
    path.extension().is_some_and(|ending| {
        ENDINGS
            .iter()
            .any(|known| ending.eq_ignore_ascii_case(known))
    })
}

impl Found {
    /// Takes an input that is not there yet, under whatever name; `known` is the one without links, where that is known.
    fn take(&mut self, input: Input, known: Option<PathBuf>, seen: &mut HashSet<Option<PathBuf>>) {
        let key = match &input {
            Input::File(path) => {
                known.or_else(|| Some(path.canonicalize().unwrap_or_else(|_| path.clone())))
            }
            Input::Stdin => None,
        };
        if seen.insert(key) {
            self.inputs.push(input);
        }
    }
}
