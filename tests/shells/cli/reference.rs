//! The page about the command line.

use super::hold_page;

#[test]
fn the_page_is_made_from_the_help() {
    hold_page("docs/cli.md", &warmgate::cli::reference());
}
