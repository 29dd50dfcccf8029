//! Programs that are run to their end.

use std::io::Write;
use std::process::{Command, Stdio};

use super::fault::{Context, Fault, Outcome};

/// How a program ended and what it printed.
#[derive(Debug)]
pub(crate) struct Done {
    /// The command line, to name it by.
    pub(crate) line: String,
    /// The code it ended with; `None` where a signal ended it.
    pub(crate) code: Option<i32>,
    /// Whether it ended with code 0.
    pub(crate) ok: bool,
    /// What it wrote to standard output.
    pub(crate) out: String,
    /// What it wrote to standard error.
    pub(crate) err: String,
}

impl Done {
    /// What it printed, if it ended with code 0.
    ///
    /// # Errors
    ///
    /// The command line and everything it printed.
    pub(crate) fn checked(self) -> Outcome<String> {
        if self.ok {
            return Ok(self.out);
        }
        Err(Fault::new(format!(
            "{} failed: {}{}",
            self.line, self.err, self.out
        )))
    }

    /// What it printed.
    ///
    /// # Panics
    ///
    /// When it did not end with code 0.
    #[track_caller]
    pub(crate) fn must(self) -> String {
        match self.checked() {
            Ok(out) => out,
            Err(fault) => panic!("{fault}"),
        }
    }

    /// What it wrote to standard error.
    ///
    /// # Panics
    ///
    /// When it ended with code 0.
    #[track_caller]
    pub(crate) fn must_fail(self) -> String {
        assert!(
            !self.ok,
            "{} succeeded: {}{}",
            self.line, self.out, self.err
        );
        self.err
    }
}

/// Runs `command` to its end, with `input` as its standard input.
///
/// # Errors
///
/// That it could not be started or listened to.
pub(crate) fn run(command: &mut Command, input: Option<&str>) -> Outcome<Done> {
    let line = line(command);
    let stdin = if input.is_some() {
        Stdio::piped()
    } else {
        Stdio::null()
    };
    let mut child = command
        .stdin(stdin)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .context(&line)?;
    let pipe = child.stdin.take();
    let output = std::thread::scope(|scope| {
        if let (Some(mut pipe), Some(input)) = (pipe, input) {
            // A program that ends before it has read everything says why itself.
            scope.spawn(move || pipe.write_all(input.as_bytes()).ok());
        }
        child.wait_with_output().context(&line)
    })?;
    Ok(Done {
        line,
        code: output.status.code(),
        ok: output.status.success(),
        out: String::from_utf8_lossy(&output.stdout).into_owned(),
        err: String::from_utf8_lossy(&output.stderr).into_owned(),
    })
}

/// Runs `program` with `arguments` and gives what it printed.
///
/// # Errors
///
/// That it could not be started, or failed.
pub(crate) fn output(program: &str, arguments: &[&str]) -> Outcome<String> {
    run(Command::new(program).args(arguments), None)?.checked()
}

/// The command line, shortened to what a message can hold.
fn line(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    let words: Vec<_> = words.map(|word| word.to_string_lossy()).collect();
    let mut line = words.join(" ");
    if let Some((at, _)) = line.char_indices().nth(300) {
        line.truncate(at);
        line.push('…');
    }
    line
}
