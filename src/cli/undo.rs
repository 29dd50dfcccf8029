//! `warmgate undo`.

use std::path::PathBuf;

use clap::Args;
use json_patch::Patch;

use super::args::{Beside, Paths};
use super::deliver::{self, Attempt, Destination, Edited};
use super::input::Text;
use super::{CliError, Exit, input, judge, known, output, progress};
use crate::facts::Mode;
use crate::knowledge::Knowledge;
use crate::manifest::Object;
use crate::plan::{self, Left, NoUndo, Undo};
use crate::report::{self, Trouble};

/// Takes back what warmgate wrote into live objects.
///
/// Reads objects as `kubectl get -o yaml` gives them. Every field that their annotation warmgate.io/changes names and that still has the
/// value that warmgate wrote becomes what it was before; the annotation goes. A field with another value is its owner's by now: it is
/// named and left as it is. Comments, order and style stay. The result is for `kubectl replace`: `kubectl apply` would take out no field
/// that it never applied. In a namespace in mode fix or enforce the webhook writes everything again with that very replace, unless the
/// object has the annotation warmgate.io/skip with a reason, or the namespace has another mode.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  kubectl get deployment llama -o yaml | warmgate undo --diff
  kubectl get deployment llama -o yaml | warmgate undo |
    kubectl annotate --local -f - warmgate.io/skip='tuned by hand' -o yaml | kubectl replace -f -

Exit codes:
  0  done, whether something was taken back or not
  2  usage, or a file or a record could not be read, edited or written; the others are done")]
pub(super) struct UndoArgs {
    #[command(flatten)]
    paths: Paths,
    #[command(flatten)]
    to: Destination,
    /// The configuration of warmgate, YAML or JSON: it may name more kinds of workloads (docs/configuration.md)
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
}

/// An attempt on one text, and which of its objects have no record.
type Taken = (Attempt, Vec<String>);

pub(super) fn run(args: &UndoArgs) -> Result<Exit, CliError> {
    let beside = Beside {
        facts: None,
        config: args.config.clone(),
    };
    let facts = known::admission(&beside, Mode::Fix)?;
    let texts = input::read(&args.paths.paths)?;
    args.to.refuse(&texts)?;
    let taken: Vec<Taken> = progress::over("undoing", &texts.texts, |text| {
        take_back(text, &facts.knowledge)
    });
    let (attempts, unrecorded): (Vec<Attempt>, Vec<Vec<String>>) = taken.into_iter().unzip();
    let exit = args.to.take(texts, attempts)?;
    if let Some(note) = report::unrecorded(&unrecorded.concat()) {
        output::note(&note);
    }
    Ok(exit)
}

fn take_back(text: &Text, knowledge: &Knowledge) -> Taken {
    let troubles: Vec<Trouble> = text.troubles().collect();
    if !troubles.is_empty() {
        return (Err(troubles), Vec::new());
    }
    let none = Patch::default();
    let objects = &text.manifest.objects;
    let undone: Vec<Result<Undo, NoUndo>> = objects
        .iter()
        .map(|object| plan::undo(&object.value, knowledge))
        .collect();
    let patches: Vec<&Patch> = undone
        .iter()
        .map(|undone| undone.as_ref().map_or(&none, |undo| &undo.patch))
        .collect();
    let mut told = Told::default();
    for (object, undone) in objects.iter().zip(&undone) {
        told.object(text, object, undone);
    }
    let attempt = deliver::edit(text, &patches).map(|new| Edited {
        text: new,
        notes: told.notes,
        troubles: told.troubles,
    });
    (attempt, told.unrecorded)
}

/// What is said of the objects of a text.
#[derive(Default)]
struct Told {
    notes: Vec<String>,
    troubles: Vec<Trouble>,
    unrecorded: Vec<String>,
}

impl Told {
    fn object(&mut self, text: &Text, object: &Object, undone: &Result<Undo, NoUndo>) {
        let title = judge::title(&object.value);
        let file = text.input.name();
        match undone {
            Ok(undo) => {
                let done = report::undone(undo);
                self.notes
                    .push(format!("{file}:{}: {title}: {done}", object.line));
                let left = undo.left.iter();
                self.notes
                    .extend(left.map(|left| field(text, object, &title, left)));
            }
            Err(NoUndo::NoRecord) => self.unrecorded.push(title),
            Err(NoUndo::Unreadable) => self.troubles.push(Trouble {
                file,
                place: Some((object.line, object.column)),
                message: format!("{title}: {}", report::no_undo(&NoUndo::Unreadable)),
            }),
            Err(why) => {
                let why = report::no_undo(why);
                self.notes.push(format!(
                    "{file}:{}: {title}: left alone: {why}",
                    object.line
                ));
            }
        }
    }
}

/// What is said of a field that stays, with the place where it stands.
fn field(text: &Text, object: &Object, title: &str, left: &Left) -> String {
    let place = left
        .path
        .as_ref()
        .map(|path| text.manifest.position(object, path));
    let (line, column) = place.unwrap_or((object.line, object.column));
    let file = text.input.name();
    format!("{file}:{line}:{column}: {title}: {}", report::left(left))
}
