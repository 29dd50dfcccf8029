//! The command line as a page, made from the help itself.

use std::fmt::Write as _;

use clap::{Command, CommandFactory};

use super::Cli;

/// How wide the help is printed on the page.
const WIDTH: usize = 100;

/// The page `docs/cli.md`.
pub fn reference() -> String {
    let mut page = String::from(
        "<!-- Made from the help of the program; `WARMGATE_BLESS=1 cargo test --test shells reference` writes it anew. -->\n\n# Command line\n",
    );
    let mut root = Cli::command()
        .term_width(WIDTH)
        .disable_help_subcommand(true);
    root.build();
    section(&mut page, &mut root, "warmgate");
    let verbs: Vec<String> = root
        .get_subcommands()
        .map(|verb| verb.get_name().to_owned())
        .collect();
    for verb in verbs {
        if let Some(command) = root.find_subcommand_mut(&verb) {
            section(&mut page, command, &format!("warmgate {verb}"));
        }
    }
    page
}

fn section(page: &mut String, command: &mut Command, title: &str) {
    let help = command.render_long_help().to_string();
    let help: Vec<&str> = help.lines().map(str::trim_end).collect();
    write!(
        page,
        "\n## `{title}`\n\n```text\n{}\n```\n",
        help.join("\n").trim_end()
    )
    .expect("a string takes every line");
}
