//! Why a command of a probe cannot be started.

use super::super::ContainerIntent;
use crate::words::clip;

/// Why the runtime cannot start a command, where that is certain. A shell that cannot find a program is another matter: it
/// ends with 127, and that is a failure.
pub(super) fn not_started(container: &ContainerIntent<'_>, command: &[String]) -> Option<String> {
    let program = command.first()?;
    let mut words = program.split_whitespace();
    let first = words.next()?;
    let is_path = first.contains(['/', '\\']);
    let rest: Vec<&str> = words.collect();
    if !rest.is_empty() && (!is_path || rest.iter().any(|word| word.starts_with('-'))) {
        return Some(format!(
            "the whole line \"{} ...\" is taken for one program",
            clip(first, 40)
        ));
    }
    if SHELL_WORDS.contains(&program.as_str()) {
        return Some(format!("{program} is a word of the shell, no program"));
    }
    (needs_userland(program) && is_bare(container))
        .then(|| format!("the image has no {}", clip(program, 40)))
}

/// Words that a shell knows and no image has as a program.
const SHELL_WORDS: [&str; 12] = [
    "!", ".", ":", "[[", "exec", "exit", "export", "if", "return", "set", "source", "while",
];

/// Whether the image is known to have no shell and no tools: its preset says so, or its name does.
fn is_bare(container: &ContainerIntent<'_>) -> bool {
    if let Some(shell) = container.server().and_then(|server| server.shell) {
        return !shell;
    }
    let image = container.container.image.unwrap_or_default();
    let image = image.split_once('@').map_or(image, |(name, _digest)| name);
    let last = image.rsplit('/').next().unwrap_or(image);
    let has = |text: &str, word: &str| {
        text.split(|c: char| !c.is_ascii_alphanumeric())
            .any(|part| part == word)
    };
    (has(image, "distroless") || has(last, "scratch")) && !has(last, "debug")
}

/// Whether a program is one of those that come with a shell.
fn needs_userland(program: &str) -> bool {
    let name = program.rsplit('/').next().unwrap_or(program);
    matches!(
        name,
        "ash"
            | "bash"
            | "busybox"
            | "cat"
            | "curl"
            | "dash"
            | "grep"
            | "ls"
            | "nc"
            | "pgrep"
            | "sh"
            | "sleep"
            | "test"
            | "wget"
    )
}
