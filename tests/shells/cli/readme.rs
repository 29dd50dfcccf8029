//! The README shows what the program prints.

use std::path::Path;

use super::{hold_page, run};

/// The fence of a block that shows a command and its output.
const FENCE: &str = "```console\n$ warmgate ";

/// The README with every shown output made anew.
fn renewed(readme: &str) -> String {
    let mut parts = readme.split(FENCE);
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (block, rest) = part.split_once("\n```\n").expect("a fence is closed");
        let command = block.lines().next().unwrap_or_default();
        let args: Vec<&str> = command.split_whitespace().collect();
        let output = run(&args).out;
        text.push_str(&format!(
            "{FENCE}{command}\n{}\n```\n{rest}",
            output.trim_end()
        ));
    }
    text
}

#[test]
fn the_readme_shows_what_is_printed() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md");
    let readme = std::fs::read_to_string(&path).expect("README.md can be read");
    assert!(readme.matches(FENCE).count() >= 3);
    hold_page("README.md", &renewed(&readme));
}
