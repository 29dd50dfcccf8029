//! What the command line says of a manifest, as its users read it.

use std::process::Command;

use serde_json::Value;

use crate::harness::command::{self, Done};

/// The messages of what `check` finds in an object.
///
/// # Panics
///
/// When it cannot be run, or does not understand the object.
#[track_caller]
pub(super) fn findings(object: &Value) -> Vec<String> {
    let printed = run(&["check", "--format", "json", "-"], object);
    let report: Value =
        serde_json::from_str(&printed).unwrap_or_else(|error| panic!("{error}\n{printed}"));
    let objects = report["objects"].as_array().into_iter().flatten();
    let findings = objects.filter_map(|object| object["findings"].as_array());
    let message = |finding: &Value| finding["message"].as_str().map(str::to_owned);
    findings.flatten().filter_map(message).collect()
}

/// What a verb prints of an object that it reads from its standard input.
///
/// # Panics
///
/// When it cannot be run, or does not understand the object.
#[track_caller]
pub(super) fn run(arguments: &[&str], object: &Value) -> String {
    let text = serde_json::to_string_pretty(object).unwrap_or_default();
    let done = warmgate(arguments, &text);
    // 1 says that something was found.
    assert!(matches!(done.code, Some(0 | 1)), "{}", done.err);
    done.out
}

/// What `undo` makes of YAML, and what it says besides.
///
/// # Panics
///
/// When it cannot be run, or does not understand the text.
#[track_caller]
pub(super) fn undo(text: &str) -> Done {
    let done = warmgate(&["undo"], text);
    assert!(done.ok, "{}", done.err);
    done
}

/// Runs the command line of this source tree.
#[track_caller]
fn warmgate(arguments: &[&str], input: &str) -> Done {
    let mut command = Command::new(env!("CARGO_BIN_EXE_warmgate"));
    command.args(arguments);
    command::run(&mut command, Some(input)).unwrap_or_else(|fault| panic!("{fault}"))
}
