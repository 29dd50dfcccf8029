//! `warmgate fix`.

use json_patch::Patch;

use super::args::FixArgs;
use super::deliver::{self, Attempt, Edited};
use super::input::Text;
use super::{CliError, Exit, input, judge, known, progress};
use crate::facts::{Facts, Mode};
use crate::report::{self, Entry, Trouble};

pub(super) fn run(args: &FixArgs) -> Result<Exit, CliError> {
    let facts = known::files(&args.beside, Mode::Enforce)?;
    let mut texts = input::read(&args.paths.paths)?;
    args.to.refuse(&texts)?;
    let facts = known::widened(facts, texts.texts.iter().map(known::said));
    let mended = progress::over("mending", &mut texts.texts, |text| mend(text, &facts));
    args.to.take(texts, mended)
}

fn mend(text: &mut Text, facts: &Facts) -> Attempt {
    let troubles: Vec<Trouble> = text.troubles().collect();
    if !troubles.is_empty() {
        return Err(troubles);
    }
    let entries = judge::of_text(text, facts);
    let patches: Vec<&Patch> = entries.iter().map(|entry| &entry.decision.patch).collect();
    Ok(Edited {
        text: deliver::edit(text, &patches)?,
        notes: entries.iter().filter_map(told).collect(),
        troubles: Vec::new(),
    })
}

/// What is said of an object that was changed, or could have been.
fn told(entry: &Entry) -> Option<String> {
    let place = format!("{}:{}: {}", entry.file, entry.line, entry.title());
    if entry.decision.patch.0.is_empty() {
        let why = entry.decision.left_alone?;
        Some(format!("{place}: left alone: {why}"))
    } else {
        Some(format!("{place}: {} changed", report::change(entry)))
    }
}
