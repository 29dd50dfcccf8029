//! What the command line says of a manifest, as its users read it.

use std::io::Write;
use std::process::{Command, Stdio};

use serde_json::Value;

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
    let mut command = Command::new(env!("CARGO_BIN_EXE_warmgate"));
    command
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap_or_else(|error| panic!("{error}"));
    let text = serde_json::to_string_pretty(object).unwrap_or_default();
    let mut input = child.stdin.take().expect("it was asked for");
    input
        .write_all(text.as_bytes())
        .unwrap_or_else(|error| panic!("{error}"));
    drop(input);
    let done = child
        .wait_with_output()
        .unwrap_or_else(|error| panic!("{error}"));
    let err = String::from_utf8_lossy(&done.stderr);
    // 1 says that something was found.
    assert!(matches!(done.status.code(), Some(0 | 1)), "{err}");
    String::from_utf8_lossy(&done.stdout).into_owned()
}
