//! What was found, kept in the source tree, and the page made from it.

use std::fs;
use std::path::PathBuf;

use crate::conformance::{Summary, page, read_summaries};
use crate::harness::fault::{Context, Outcome};
use crate::harness::folders;

/// Keeps what was found on one release, and writes the page anew.
///
/// # Errors
///
/// What the file system says.
pub(super) fn write(summary: &Summary) -> Outcome<()> {
    let folder = folder();
    fs::create_dir_all(&folder).context(folder.display())?;
    let path = folder.join(format!("{}.json", summary.kubernetes));
    let text = serde_json::to_string_pretty(summary).context(path.display())?;
    fs::write(&path, text + "\n").context(path.display())?;
    let path = folders::package().join("docs/conformance.md");
    fs::write(&path, page(&read_summaries(&folder))).context(path.display())
}

fn folder() -> PathBuf {
    folders::package().join("tests/kubelet/conformance")
}
