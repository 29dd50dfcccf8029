//! What a user of a cluster has in the path: programs that know their way to it.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use super::fault::{Context, Outcome};

/// Writes a program to `path` that runs `command`, in its environment, with further arguments.
///
/// # Errors
///
/// It cannot be written.
pub(crate) fn write(path: &Path, command: &Command) -> Outcome<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).context(folder.display())?;
    }
    let environment = command
        .get_envs()
        .filter_map(|(name, value)| Some((name.display(), value?.display())))
        .map(|(name, value)| format!("{name}='{value}'"));
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    let words = words.map(|word| format!("'{}'", word.display()));
    let line: Vec<_> = std::iter::once("exec env".to_owned())
        .chain(environment)
        .chain(words)
        .collect();
    let text = format!("#!/bin/sh\n{} \"$@\"\n", line.join(" "));
    fs::write(path, text).context(path.display())?;
    fs::set_permissions(path, Permissions::from_mode(0o755)).context(path.display())
}
