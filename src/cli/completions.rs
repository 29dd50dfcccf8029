//! `warmgate completions`.

use clap::builder::PossibleValuesParser;
use clap::{Args, CommandFactory};
use clap_complete::{Shell, generate};

use super::args::Cli;
use super::{CliError, Exit, output};
use crate::rules;

/// Prints what makes a shell complete the verbs and options of warmgate.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  warmgate completions bash > ~/.local/share/bash-completion/completions/warmgate
  warmgate completions zsh > ~/.zfunc/_warmgate           with fpath+=~/.zfunc before compinit
  warmgate completions fish > ~/.config/fish/completions/warmgate.fish

Exit codes:
  0  done
  2  usage")]
pub(super) struct CompletionsArgs {
    /// The shell
    #[arg(value_enum, value_name = "SHELL")]
    shell: Shell,
}

pub(super) fn run(args: &CompletionsArgs) -> Result<Exit, CliError> {
    let mut command = Cli::command().mut_subcommand("rules", |verb| {
        verb.mut_arg("id", |id| {
            id.value_parser(PossibleValuesParser::new(rules::ids()))
        })
    });
    // Not straight to the output: a reader that stops would be a panic.
    let mut script = Vec::new();
    generate(args.shell, &mut command, "warmgate", &mut script);
    output::raw(&String::from_utf8_lossy(&script))?;
    Ok(Exit::Clean)
}
