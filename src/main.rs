//! The `warmgate` binary.

use std::process::ExitCode;

use clap::Parser;
use warmgate::cli::{self, Cli};

fn main() -> ExitCode {
    cli::run(Cli::parse())
}
