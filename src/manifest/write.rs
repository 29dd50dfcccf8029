//! New values as text, in block or in flow style.

use serde_json::{Map, Value};

use super::scalar;

/// How strings are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Quoting {
    /// In double quotes, as JSON has them.
    Double,
    /// Bare where that is safe in a block, else in double quotes.
    Plain,
    /// Bare where that is safe between brackets, else in double quotes.
    PlainInFlow,
    /// In single quotes where that can be written, else in double quotes.
    Single,
}

/// A scalar, or an empty list or map.
pub(super) fn scalar(value: &Value, quoting: Quoting) -> String {
    match value {
        Value::String(text) => string(text, quoting),
        value => value.to_string(),
    }
}

/// Whether the value takes lines of its own in block style.
pub(super) fn is_nested(value: &Value) -> bool {
    match value {
        Value::Array(items) => !items.is_empty(),
        Value::Object(members) => !members.is_empty(),
        _ => false,
    }
}

/// The layout of values in block style.
#[derive(Clone, Copy, Debug)]
pub(super) struct Block<'a> {
    /// By how much a map is indented below the key that holds it.
    pub(super) step: usize,
    /// By how much the dashes of a list are.
    pub(super) list: usize,
    /// The line break.
    pub(super) eol: &'a str,
}

impl Block<'_> {
    /// Writes a member of a map whose keys stand at column `indent`.
    pub(super) fn member(&self, out: &mut String, key: &str, value: &Value, indent: usize) {
        out.push_str(&string(key, Quoting::Plain));
        out.push(':');
        self.below(out, value, indent);
    }

    /// Members of a map whose keys stand at column `indent`, from the first key on.
    pub(super) fn members(&self, members: &[(&String, &Value)], indent: usize) -> String {
        let mut out = String::new();
        for (number, (key, value)) in members.iter().enumerate() {
            if number > 0 {
                self.line(&mut out, indent);
            }
            self.member(&mut out, key, value, indent);
        }
        out
    }

    /// Writes what follows the colon of a key at column `indent`.
    pub(super) fn below(&self, out: &mut String, value: &Value, indent: usize) {
        match value {
            Value::Object(members) if !members.is_empty() => {
                for (key, value) in members {
                    self.line(out, indent + self.step);
                    self.member(out, key, value, indent + self.step);
                }
            }
            Value::Array(items) if !items.is_empty() => {
                for item in items {
                    self.line(out, indent + self.list);
                    out.push_str("- ");
                    self.item(out, item, indent + self.list + 2);
                }
            }
            value => {
                out.push(' ');
                out.push_str(&scalar(value, Quoting::Plain));
            }
        }
    }

    /// Writes a value that begins at column `indent`, as behind the dash of a list.
    pub(super) fn item(&self, out: &mut String, value: &Value, indent: usize) {
        match value {
            Value::Object(members) if !members.is_empty() => {
                for (number, (key, value)) in members.iter().enumerate() {
                    if number > 0 {
                        self.line(out, indent);
                    }
                    self.member(out, key, value, indent);
                }
            }
            Value::Array(items) if !items.is_empty() => {
                for (number, item) in items.iter().enumerate() {
                    if number > 0 {
                        self.line(out, indent);
                    }
                    out.push_str("- ");
                    self.item(out, item, indent + 2);
                }
            }
            value => out.push_str(&scalar(value, Quoting::Plain)),
        }
    }

    fn line(&self, out: &mut String, indent: usize) {
        out.push_str(self.eol);
        out.extend(std::iter::repeat_n(' ', indent));
    }
}

/// The layout of values between brackets.
#[derive(Clone, Debug)]
pub(super) struct Flow<'a> {
    /// Whether keys and strings are quoted, as in JSON.
    pub(super) quoted: bool,
    /// Whether a blank follows each colon and comma.
    pub(super) spaced: bool,
    /// What each level is indented by, where every value has a line of its own.
    pub(super) unit: Option<&'a str>,
    /// The line break.
    pub(super) eol: &'a str,
}

impl Flow<'_> {
    /// How strings are written here.
    pub(super) fn quoting(&self) -> Quoting {
        if self.quoted {
            Quoting::Double
        } else {
            Quoting::PlainInFlow
        }
    }

    /// Writes a member; `indent` is the indentation of its line.
    pub(super) fn member(&self, out: &mut String, key: &str, value: &Value, indent: &str) {
        out.push_str(&string(key, self.quoting()));
        out.push(':');
        // Without quotes around the key the blank is what makes it one.
        if self.spaced || !self.quoted {
            out.push(' ');
        }
        self.value(out, value, indent);
    }

    /// Members with `comma` between them; `indent` is the indentation of their lines.
    pub(super) fn members(
        &self,
        members: &[(&String, &Value)],
        comma: &str,
        indent: &str,
    ) -> String {
        let mut out = String::new();
        for (number, (key, value)) in members.iter().enumerate() {
            out.push_str(if number > 0 { comma } else { "" });
            self.member(&mut out, key, value, indent);
        }
        out
    }

    /// Writes a value that begins on a line with this indentation.
    pub(super) fn value(&self, out: &mut String, value: &Value, indent: &str) {
        match value {
            Value::Object(members) if !members.is_empty() => self.map(out, members, indent),
            Value::Array(items) if !items.is_empty() => {
                self.collection(out, ['[', ']'], items, indent, |out, item, indent| {
                    self.value(out, item, indent);
                });
            }
            value => out.push_str(&scalar(value, self.quoting())),
        }
    }

    /// What stands between two members on one line.
    pub(super) fn comma(&self) -> &'static str {
        if self.spaced { ", " } else { "," }
    }

    fn map(&self, out: &mut String, members: &Map<String, Value>, indent: &str) {
        self.collection(
            out,
            ['{', '}'],
            members,
            indent,
            |out, (key, value), indent| {
                self.member(out, key, value, indent);
            },
        );
    }

    fn collection<I: IntoIterator>(
        &self,
        out: &mut String,
        brackets: [char; 2],
        content: I,
        indent: &str,
        write: impl Fn(&mut String, I::Item, &str),
    ) {
        out.push(brackets[0]);
        let inner = self.unit.map(|unit| format!("{indent}{unit}"));
        for (number, item) in content.into_iter().enumerate() {
            match &inner {
                Some(inner) => {
                    out.push_str(if number > 0 { "," } else { "" });
                    out.push_str(self.eol);
                    out.push_str(inner);
                }
                None => out.push_str(if number > 0 { self.comma() } else { "" }),
            }
            write(out, item, inner.as_deref().unwrap_or(indent));
        }
        if inner.is_some() {
            out.push_str(self.eol);
            out.push_str(indent);
        }
        out.push(brackets[1]);
    }
}

fn string(text: &str, quoting: Quoting) -> String {
    match quoting {
        Quoting::Plain if is_plain(text, false) => text.to_owned(),
        Quoting::PlainInFlow if is_plain(text, true) => text.to_owned(),
        Quoting::Single if text.chars().all(is_printable) => {
            format!("'{}'", text.replace('\'', "''"))
        }
        _ => double(text),
    }
}

/// Whether a string needs no quotes, neither for a reader of YAML 1.1 nor for one of YAML 1.2.
fn is_plain(text: &str, flow: bool) -> bool {
    let is_string = matches!(scalar::resolve_plain(text), Ok(Value::String(_)));
    is_string
        && !matches!(text, "<<" | "=")
        && !is_number_like(text)
        && begins_plain(text)
        && !text.ends_with([':', ' '])
        && !text.contains(": ")
        && !text.contains(" #")
        && text.chars().all(is_printable)
        && !(flow && text.contains([',', '[', ']', '{', '}', '?']))
}

/// What some reader may take for a number, a date or a time of day, as base 60 was in YAML 1.1.
fn is_number_like(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_digit() || "+-.".contains(first))
        && text.contains(|c: char| c.is_ascii_digit())
        && text
            .chars()
            .all(|c| c.is_ascii_hexdigit() || "+-._:xXoOtTzZ ".contains(c))
}

fn begins_plain(text: &str) -> bool {
    let mut chars = text.chars();
    match chars.next() {
        // A dash is a list's only before a blank, and three of them are a document's.
        Some('-') => {
            !text.starts_with("---")
                && chars
                    .next()
                    .is_some_and(|c| c.is_alphanumeric() || c == '-' || c == '/')
        }
        Some(first) => !" ?:,[]{}#&*!|>'\"%@`".contains(first) && !text.starts_with("..."),
        None => false,
    }
}

/// Whether a character may stand in a scalar as it is: printable, and no kind of line break or mark.
fn is_printable(c: char) -> bool {
    !(c.is_control()
        || matches!(
            c,
            '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}'
        ))
}

/// A string in double quotes that YAML and JSON read alike.
fn double(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if is_printable(c) => out.push(c),
            c => out.push_str(&format!("\\u{:04x}", u32::from(c))),
        }
    }
    out.push('"');
    out
}
