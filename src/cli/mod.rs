//! The command line: a verb a file. Each reads, asks the core, and prints what the report made of the answer.

#![expect(
    clippy::disallowed_methods,
    reason = "this is where files are read and written, and where things are printed"
)]

mod admit;
mod args;
mod check;
mod completions;
#[cfg(feature = "controller")]
mod controller;
mod deliver;
#[cfg(feature = "webhook")]
pub mod demo;
mod error;
mod explain;
mod fix;
mod input;
mod judge;
mod known;
mod output;
mod progress;
mod reference;
mod rules;
mod sift;
mod undo;
mod walk;
#[cfg(feature = "webhook")]
mod webhook;

use std::process::ExitCode;

pub use args::Cli;
pub use error::CliError;
pub use reference::reference;

use args::Verb;

/// What a run came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Exit {
    /// 0: done, and nothing that fails was found.
    Clean,
    /// 1: something that fails was found.
    Found,
    /// 2: something could not be read or written; the rest is done.
    Unreadable,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::Clean => 0,
            Exit::Found => 1,
            Exit::Unreadable => 2,
        })
    }
}

/// Does what was asked. An error is told on standard error and makes the exit code 2.
pub fn run(cli: Cli) -> ExitCode {
    let done = match cli.verb {
        Verb::Admit(args) => admit::run(&args),
        Verb::Check(args) => check::run(&args),
        Verb::Completions(args) => completions::run(&args),
        #[cfg(feature = "controller")]
        Verb::Controller(args) => controller::run(args),
        #[cfg(feature = "webhook")]
        Verb::Demo(args) => demo::run(&args),
        Verb::Explain(args) => explain::run(&args),
        Verb::Fix(args) => fix::run(&args),
        Verb::Rules(args) => rules::run(&args),
        Verb::Undo(args) => undo::run(&args),
        #[cfg(feature = "webhook")]
        Verb::Webhook(args) => webhook::run(args),
    };
    match done {
        Ok(exit) => exit.into(),
        Err(error) => {
            output::complain(&error);
            Exit::Unreadable.into()
        }
    }
}
