//! `warmgate check`.

use super::args::{CheckArgs, Format};
use super::{CliError, Exit, known, output, sift, walk};
use crate::report::{self, Report};

pub(super) fn run(args: &CheckArgs) -> Result<Exit, CliError> {
    let facts = known::files(&args.beside, args.mode.into())?;
    let found = walk::walk(&args.paths.paths)?;
    let (entries, unread) = sift::all(found.inputs, facts);
    let mut troubles = found.troubles;
    troubles.extend(unread);
    let report = Report { entries, troubles };
    match args.format {
        Format::Human => {
            for trouble in &report.troubles {
                output::note(&format!("error: {trouble}"));
            }
            output::styled(&report::plain(&report))?;
        }
        Format::Json => output::raw(&format!("{:#}\n", report::json(&report)))?,
    }
    Ok(exit(args, &report))
}

fn exit(args: &CheckArgs, report: &Report) -> Exit {
    let limit = args.fail_on.into();
    let found = report.entries.iter().any(|entry| entry.fails(limit));
    let nothing = args.require_subject && !report.entries.iter().any(|entry| entry.is_judged());
    if !report.troubles.is_empty() {
        Exit::Unreadable
    } else if found || nothing {
        if nothing {
            output::note("error: no object was judged, and --require-subject is given");
        }
        Exit::Found
    } else {
        Exit::Clean
    }
}
