//! `warmgate explain`.

use std::fs;
use std::path::Path;

use super::args::ExplainArgs;
use super::{CliError, Exit, input, judge, known, output};
use crate::facts::Mode;
use crate::report::{self, Picture, Wanted};

/// How wide pictures are where no terminal says it, in characters.
const WIDTH: usize = 100;

/// How narrow and how wide they may become on a terminal.
const WIDTHS: (usize, usize) = (60, 160);

pub(super) fn run(args: &ExplainArgs) -> Result<Exit, CliError> {
    let facts = known::files(&args.beside, Mode::Enforce)?;
    let mut texts = input::read(std::slice::from_ref(&args.file))?;
    let facts = known::widened(facts, texts.texts.iter().map(known::said));
    let wanted = Wanted {
        load: args.load,
        width: output::width().map_or(WIDTH, |width| width.clamp(WIDTHS.0, WIDTHS.1)),
    };
    let mut troubles = texts.troubles;
    let (mut pages, mut pictures) = (Vec::new(), Vec::new());
    for text in &mut texts.texts {
        troubles.extend(text.troubles());
        let entries = judge::of_text(text, &facts);
        for (entry, object) in entries.iter().zip(&text.manifest.objects) {
            let explained = report::explain(entry, &object.value, &facts, wanted);
            pages.push(explained.text);
            pictures.extend(explained.pictures);
        }
    }
    for trouble in &troubles {
        output::note(&format!("error: {trouble}"));
    }
    output::styled(&pages.join("\n"))?;
    if let Some(svg) = &args.svg {
        draw(&args.file, svg, &pictures)?;
    }
    Ok(if troubles.is_empty() {
        Exit::Clean
    } else {
        Exit::Unreadable
    })
}

fn draw(file: &Path, svg: &Path, pictures: &[Picture]) -> Result<(), CliError> {
    if pictures.is_empty() {
        return Err(CliError::NothingToDraw {
            file: super::walk::Input::of(file).name(),
            svg: svg.to_owned(),
        });
    }
    fs::write(svg, report::svg(pictures)).map_err(|source| CliError::Write {
        file: svg.to_owned(),
        source,
    })
}
