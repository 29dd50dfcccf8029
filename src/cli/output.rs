//! Where text goes.

use std::error::Error;
use std::io::{self, Write};

use super::CliError;

/// Prints text with styles, which are taken out where no terminal would show them.
pub(super) fn styled(text: &str) -> Result<(), CliError> {
    to(&mut anstream::stdout().lock(), text)
}

/// Prints text byte for byte.
pub(super) fn raw(text: &str) -> Result<(), CliError> {
    to(&mut io::stdout().lock(), text)
}

/// How wide the terminal is on which things are printed, in characters; `None` where they go elsewhere.
pub(super) fn width() -> Option<usize> {
    let (width, _) = terminal_size::terminal_size_of(io::stdout())?;
    Some(usize::from(width.0))
}

/// Tells something on standard error, with styles as far as they are shown there.
pub(super) fn note(text: &str) {
    // Where even standard error is gone nobody is left to be told.
    let _ = writeln!(anstream::stderr().lock(), "{text}");
}

/// Tells what went wrong, with what caused it.
pub(super) fn complain(error: &dyn Error) {
    note(&format!("error: {}", chain(error)));
}

/// An error with everything that caused it, on one line.
pub(super) fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(&format!(": {error}"));
        cause = error.source();
    }
    text
}

/// A reader that has seen enough, as `head` has, is no error.
fn to(out: &mut dyn Write, text: &str) -> Result<(), CliError> {
    let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    match written {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        written => written.map_err(CliError::Output),
    }
}
