//! `warmgate fix`.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use json_patch::Patch;
use rayon::prelude::*;
use similar::TextDiff;

use super::args::FixArgs;
use super::input::{Text, Texts};
use super::walk::Input;
use super::{CliError, Exit, input, judge, known, output};
use crate::facts::{Facts, Mode};
use crate::report::{self, Entry, Trouble};

/// Lines around a change that a diff shows.
const CONTEXT: usize = 3;

/// A text that was mended, or why it was not.
type Mended = Result<(String, Vec<Entry>), Vec<Trouble>>;

pub(super) fn run(args: &FixArgs) -> Result<Exit, CliError> {
    let facts = known::files(&args.beside, Mode::Enforce)?;
    let texts = input::read(&args.paths.paths)?;
    refuse(args, &texts)?;
    let facts = known::widened(facts, &texts.texts);
    let mended: Vec<Mended> = texts
        .texts
        .par_iter()
        .map(|text| mend(text, &facts))
        .collect();
    let mut troubles = texts.troubles;
    let mut printed = String::new();
    for (text, mended) in texts.texts.iter().zip(mended) {
        match mended {
            Err(more) => troubles.extend(more),
            Ok((new, entries)) => {
                if let Err(error) = deliver(args, text, &new, &mut printed) {
                    troubles.push(trouble(&text.input, &output::chain(&error)));
                    continue;
                }
                told(&entries);
            }
        }
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

/// Several texts on one output could not be told apart, and standard input cannot be written.
fn refuse(args: &FixArgs, texts: &Texts) -> Result<(), CliError> {
    let reads_stdin = texts.texts.iter().any(|text| text.input == Input::Stdin);
    let why = if args.write && reads_stdin {
        "standard input cannot be written in place: leave out --write"
    } else if !args.write && !args.diff && !texts.single {
        "folders and several files are not printed: --write mends them in place, --diff shows what would change"
    } else {
        return Ok(());
    };
    Err(CliError::Usage(why.to_owned()))
}

fn mend(text: &Text, facts: &Facts) -> Mended {
    let troubles: Vec<Trouble> = text.troubles().collect();
    if !troubles.is_empty() {
        return Err(troubles);
    }
    let entries = judge::of_text(text, facts);
    let patches: Vec<(usize, &Patch)> = entries
        .iter()
        .map(|entry| &entry.decision.patch)
        .enumerate()
        .filter(|(_, patch)| !patch.0.is_empty())
        .collect();
    match text.manifest.edit(&patches) {
        Ok(new) => Ok((new, entries)),
        Err(error) => Err(vec![trouble(&text.input, &output::chain(&error))]),
    }
}

fn trouble(input: &Input, message: &str) -> Trouble {
    Trouble {
        file: input.name(),
        place: None,
        message: message.to_owned(),
    }
}

/// Brings a mended text to where it was asked for.
fn deliver(args: &FixArgs, text: &Text, new: &str, printed: &mut String) -> Result<(), CliError> {
    let old = text.manifest.text();
    match &text.input {
        Input::File(path) if args.write => {
            if new != old {
                write(path, new)?;
            }
        }
        input if args.diff => printed.push_str(&diff(&input.name(), old, new)),
        _ => printed.push_str(new),
    }
    Ok(())
}

/// Says on standard error what was changed.
fn told(entries: &[Entry]) {
    for entry in entries {
        let place = format!("{}:{}: {}", entry.file, entry.line, entry.title());
        if !entry.decision.patch.0.is_empty() {
            output::note(&format!("{place}: {} changed", report::change(entry)));
        } else if let Some(why) = entry.decision.left_alone {
            output::note(&format!("{place}: left alone: {why}"));
        }
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
