//! What the demo prints: what came back over the socket, and what the simulator makes of it.

use std::fmt::Write as _;
use std::net::SocketAddr;

use anstyle::{AnsiColor, Style};
use json_patch::PatchOperation;
use serde_json::Value;

use super::{Exchange, MODE, Visit};
use crate::cli::CliError;
use crate::facts::Facts;
use crate::report;

const BOLD: Style = Style::new().bold();
const GREEN: Style = AnsiColor::Green.on_default();
const RED: Style = AnsiColor::Red.on_default().bold();

/// The first lines.
pub(super) fn opening(address: SocketAddr) -> String {
    format!(
        "The webhook listens on https://{address} with a certificate made for this run.\n\
         It is asked as an API server asks it, for a namespace of mode {}.\n",
        MODE.word()
    )
}

/// What one object met, and what becomes of it with and without.
pub(super) fn of_visit(number: usize, visit: &Visit, facts: &Facts) -> Result<String, CliError> {
    let mut text = String::new();
    let object = &visit.subject.object;
    let place = &visit.subject.place;
    line(
        &mut text,
        &format!("\n{BOLD}{number}. {}{BOLD:#} ({place})", title(object)),
    );
    for exchange in &visit.exchanges {
        of_exchange(&mut text, exchange)?;
    }
    let namespace = object["metadata"]["namespace"].as_str();
    let namespace = namespace.unwrap_or_default();
    timeline(&mut text, "as it was:", object, namespace, facts);
    let stored = visit.exchanges[1].response()?["allowed"] == true;
    if stored && visit.patched != *object {
        let heading = "as patched:";
        timeline(&mut text, heading, &visit.patched, namespace, facts);
    }
    Ok(text)
}

fn title(object: &Value) -> String {
    let text = |pointer: &str| object.pointer(pointer).and_then(Value::as_str);
    let kind = text("/kind").unwrap_or("object");
    let name = text("/metadata/name").or(text("/metadata/generateName"));
    match (text("/metadata/namespace"), name) {
        (Some(namespace), Some(name)) => format!("{kind} {namespace}/{name}"),
        (None, Some(name)) => format!("{kind} {name}"),
        (_, None) => kind.to_owned(),
    }
}

fn of_exchange(text: &mut String, exchange: &Exchange) -> Result<(), CliError> {
    let response = exchange.response()?;
    let verdict = if response["allowed"] == true {
        format!("{GREEN}allowed{GREEN:#}")
    } else {
        format!("{RED}refused{RED:#}")
    };
    let (target, status) = (&exchange.target, exchange.status);
    line(text, &format!("   POST {target}  {status}  {verdict}"));
    for warning in response["warnings"].as_array().into_iter().flatten() {
        let warning = warning.as_str().unwrap_or_default();
        line(text, &format!("     warning: {warning}"));
    }
    if let Some(message) = response["status"]["message"].as_str() {
        line(text, &format!("     {RED}message{RED:#}: {message}"));
    }
    for operation in &exchange.patch()?.0 {
        line(text, &format!("     patch: {}", shown(operation)));
    }
    if let Some(audit) = response["auditAnnotations"].as_object() {
        for (key, value) in audit {
            let value = value.as_str().unwrap_or_default();
            line(text, &format!("     audit: {key}: {value}"));
        }
    }
    Ok(())
}

fn shown(operation: &PatchOperation) -> String {
    match operation {
        PatchOperation::Add(add) => format!("add {} {}", add.path, report::brief(&add.value)),
        PatchOperation::Remove(remove) => format!("remove {}", remove.path),
        other => format!("{other:?}"),
    }
}

fn timeline(text: &mut String, heading: &str, object: &Value, namespace: &str, facts: &Facts) {
    line(text, &format!("   {BOLD}{heading}{BOLD:#}"));
    for simulated in report::simulate(object, namespace, facts, None) {
        for shown in simulated.text().lines() {
            line(text, &format!("   {shown}"));
        }
    }
}

fn line(text: &mut String, line: &str) {
    writeln!(text, "{line}").expect("a string takes every line");
}
