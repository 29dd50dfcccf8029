//! What a review costs, from the wire and back: beside a handler that judges nothing, and beside the same edits written in Go.
//!
//! Every server is a process of its own, on a core of its own where there are two, and gets the bytes that an API server would
//! send. The cases take turns in rounds and each figure is the median of its rounds, so that whatever else the machine did falls
//! on all of them.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stderr,
    clippy::print_stdout,
    reason = "a bench starts programs, reads clocks and says what it saw"
)]

#[cfg(target_os = "linux")]
mod cases;
#[cfg(target_os = "linux")]
#[path = "../../tests/shells/webhook/certificates.rs"]
#[expect(dead_code, reason = "the tests of the webhook use more of it")]
mod certificates;
#[path = "../common/mod.rs"]
mod common;
#[cfg(target_os = "linux")]
mod counts;
#[cfg(target_os = "linux")]
mod cpu;
#[cfg(target_os = "linux")]
mod edits;
#[cfg(target_os = "linux")]
mod go;
#[cfg(target_os = "linux")]
mod load;
#[cfg(target_os = "linux")]
mod memory;
#[cfg(target_os = "linux")]
mod nothing;
#[cfg(target_os = "linux")]
mod process;
#[cfg(target_os = "linux")]
mod report;
#[cfg(target_os = "linux")]
mod reviews;
#[cfg(target_os = "linux")]
mod run;
#[cfg(target_os = "linux")]
mod start;
#[cfg(target_os = "linux")]
mod wire;

use std::process::ExitCode;

#[cfg(target_os = "linux")]
fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let done = match arguments.first() {
        // The bench starts itself so.
        Some(first) if first == nothing::VERB => nothing::serve(&arguments[1..]),
        _ => common::Options::parse(arguments.into_iter()).and_then(run::run),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("{why}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(not(target_os = "linux"))]
fn main() -> ExitCode {
    eprintln!("skipped: what a process takes is read from /proc, which only Linux has");
    ExitCode::SUCCESS
}
