//! Where texts go that were edited: to standard output, as they are or as a diff, or back into their files.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use clap::Args;
use json_patch::Patch;
use similar::TextDiff;

use super::input::{Text, Texts};
use super::walk::Input;
use super::{CliError, Exit, output};
use crate::report::Trouble;

/// Lines around a change that a diff shows.
const CONTEXT: usize = 3;

/// Where edited texts go; without either they are printed.
#[derive(Args, Debug)]
pub(super) struct Destination {
    /// Write the files in place, each in one step
    #[arg(long, conflicts_with = "diff")]
    write: bool,
    /// Print what would change as a unified diff, and write nothing
    #[arg(long)]
    diff: bool,
}

/// A text after its edits.
pub(super) struct Edited {
    pub(super) text: String,
    /// What is told of it on standard error, once it is where it should go.
    pub(super) notes: Vec<String>,
    /// What of it is left as it is, as it cannot be read.
    pub(super) troubles: Vec<Trouble>,
}

/// An edited text, or why it is left as it is.
pub(super) type Attempt = Result<Edited, Vec<Trouble>>;

/// The text with patches of its objects in it.
pub(super) fn edit(text: &Text, patches: &[&Patch]) -> Result<String, Vec<Trouble>> {
    let patches: Vec<(usize, &Patch)> = patches
        .iter()
        .copied()
        .enumerate()
        .filter(|(_, patch)| !patch.0.is_empty())
        .collect();
    text.manifest
        .edit(&patches)
        .map_err(|error| vec![trouble(text, &output::chain(&error))])
}

fn trouble(text: &Text, message: &str) -> Trouble {
    Trouble {
        file: text.input.name(),
        place: None,
        message: message.to_owned(),
    }
}

impl Destination {
    /// Several texts on one output could not be told apart, and standard input cannot be written.
    pub(super) fn refuse(&self, texts: &Texts) -> Result<(), CliError> {
        let reads_stdin = texts.texts.iter().any(|text| text.input == Input::Stdin);
        let why = if self.write && reads_stdin {
            "standard input cannot be written in place: leave out --write"
        } else if !self.write && !self.diff && !texts.single {
            "folders and several files are not printed: --write changes them in place, --diff shows what would change"
        } else {
            return Ok(());
        };
        Err(CliError::Usage(why.to_owned()))
    }

    /// Brings each text to where it was asked for, and tells what could not be read, edited or written.
    pub(super) fn take(&self, texts: Texts, attempts: Vec<Attempt>) -> Result<Exit, CliError> {
        let mut troubles = texts.troubles;
        let mut printed = String::new();
        for (text, attempt) in texts.texts.iter().zip(attempts) {
            let edited = match attempt {
                Ok(edited) => edited,
                Err(more) => {
                    troubles.extend(more);
                    continue;
                }
            };
            if let Err(error) = self.deliver(text, &edited.text, &mut printed) {
                troubles.push(trouble(text, &output::chain(&error)));
                continue;
            }
            edited.notes.iter().for_each(|note| output::note(note));
            troubles.extend(edited.troubles);
        }
        for trouble in &troubles {
            output::note(&format!("error: {trouble}: left as it is"));
        }
        output::raw(&printed)?;
        Ok(if troubles.is_empty() {
            Exit::Clean
        } else {
            Exit::Unreadable
        })
    }

    fn deliver(&self, text: &Text, new: &str, printed: &mut String) -> Result<(), CliError> {
        let old = text.manifest.text();
        match &text.input {
            Input::File(path) if self.write => {
                if new != old {
                    write(path, new)?;
                }
            }
            input if self.diff => printed.push_str(&diff(&input.name(), old, new)),
            _ => printed.push_str(new),
        }
        Ok(())
    }
}

fn diff(name: &str, old: &str, new: &str) -> String {
    if old == new {
        return String::new();
    }
    let name = name.trim_start_matches('/');
    TextDiff::from_lines(old, new)
        .unified_diff()
        .context_radius(CONTEXT)
        .header(&format!("a/{name}"), &format!("b/{name}"))
        .to_string()
}

/// Puts a new text in the place of a file in one step, with the permissions of the old one: whoever reads it meanwhile, or after
/// a crash, sees either of the two whole. A link stays one.
fn write(path: &Path, text: &str) -> Result<(), CliError> {
    let failed = |source: io::Error| CliError::Write {
        file: path.to_owned(),
        source,
    };
    let target = path.canonicalize().map_err(failed)?;
    let beside = sibling(&target);
    let written = fill(&beside, &target, text).and_then(|()| fs::rename(&beside, &target));
    if written.is_err() {
        // What was begun is of no use; that it cannot be removed is no news beside why it could not be finished.
        let _ = fs::remove_file(&beside);
    }
    written.map_err(failed)
}

/// A hidden name beside a file, which no walk reads.
fn sibling(target: &Path) -> PathBuf {
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    target.with_file_name(format!(".{name}.{}.tmp", std::process::id()))
}

fn fill(beside: &Path, target: &Path, text: &str) -> io::Result<()> {
    let mut file: File = OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(beside)?;
    file.set_permissions(fs::metadata(target)?.permissions())?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}
