//! Whether the image depends on nothing but the source: built twice, in two folders, it has one digest.

use std::fs;
use std::path::Path;

use super::{binary, warmgate_from};
use crate::harness::command::output;
use crate::harness::fault::{Context, Fault, Outcome};
use crate::harness::folders;
use crate::harness::steps::Steps;

/// Builds the image from two copies of the source, and compares the digests.
///
/// # Errors
///
/// They differ; or what git or cargo says.
pub(crate) fn compare() -> Outcome<()> {
    let scratch = folders::base().join("reproducible");
    let steps = Steps::new("reproducible");
    // Names of different lengths move what a path could have got into.
    let folders = ["one", "a-folder-with-a-longer-name"].map(|name| scratch.join(name));
    // A build takes minutes, and both are of the source as it is now.
    folders.iter().try_for_each(|folder| copy(folder))?;
    let mut digests = Vec::new();
    for folder in &folders {
        let what = format!("built in {}", folder.display());
        let digest = steps.take(what, || build(folder))?;
        println!("{digest}");
        digests.push(digest);
    }
    fs::remove_dir_all(&scratch).context(scratch.display())?;
    if digests[0] == digests[1] {
        return Ok(());
    }
    Err(Fault::new(
        "two builds of the same source have different digests",
    ))
}

fn build(folder: &Path) -> Outcome<String> {
    let program = binary::release(folder, &folder.join("target"))?;
    warmgate_from(&program)?.write(&folder.join("warmgate.tar"))
}

/// Copies the files that git knows, as they are now, into an empty `folder`.
fn copy(folder: &Path) -> Outcome<()> {
    if folder.exists() {
        fs::remove_dir_all(folder).context(folder.display())?;
    }
    let package = folders::package();
    let files = output(
        "git",
        &[
            "-C",
            &package.display().to_string(),
            "ls-files",
            "-z",
            "--cached",
            "--others",
            "--exclude-standard",
        ],
    )?;
    for file in files.split_terminator('\0') {
        let (from, to) = (package.join(file), folder.join(file));
        let parent = to.parent().unwrap_or(folder);
        fs::create_dir_all(parent).context(parent.display())?;
        fs::copy(&from, &to).context(from.display())?;
    }
    Ok(())
}
