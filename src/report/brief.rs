//! Values and edits on one line.

use serde_json::Value;

use crate::plan::{Edit, Why};
use crate::words::clip;

/// The longest value that is written out.
const LIMIT: usize = 160;

/// Members whose values may be secrets: their presence is told, nothing else.
const HIDDEN: [&str; 1] = ["httpHeaders"];

/// A value on one line, as YAML writes it in flow style. Header values are left out, and long values are cut.
pub fn brief(value: &Value) -> String {
    let mut text = String::new();
    write(value, &mut text);
    clip(&text, LIMIT)
}

fn write(value: &Value, text: &mut String) {
    match value {
        Value::Object(members) => {
            text.push('{');
            for (number, (key, value)) in members.iter().enumerate() {
                if number > 0 {
                    text.push_str(", ");
                }
                text.push_str(key);
                text.push_str(": ");
                if HIDDEN.contains(&key.as_str()) {
                    text.push('…');
                } else {
                    write(value, text);
                }
            }
            text.push('}');
        }
        Value::Array(items) => {
            text.push('[');
            for (number, item) in items.iter().enumerate() {
                if number > 0 {
                    text.push_str(", ");
                }
                write(item, text);
            }
            text.push(']');
        }
        Value::String(string) => text.push_str(string),
        other => text.push_str(&other.to_string()),
    }
}

/// What an edit does, and why: `add PATH: VALUE (WHY)`.
pub fn edit(edit: &Edit) -> String {
    let path = &edit.path;
    let why = &edit.why;
    match (&edit.was, &edit.value) {
        (_, None) => format!("take out {path} ({why})"),
        (None, Some(value)) => format!("add {path}: {} ({why})", brief(value)),
        (Some(was), Some(value)) => {
            format!(
                "raise {path} from {} to {} ({why})",
                brief(was),
                brief(value)
            )
        }
    }
}

/// Why an edit is not made, in a few words.
pub(super) fn why(why: &Why) -> String {
    match why {
        Why::Applied => "the field is applied by name and would be put back".to_owned(),
        Why::BadHandler(reason) => format!("the handler at hand cannot serve: {reason}"),
        Why::BehindMesh => "a mesh proxy captures the traffic of the pod".to_owned(),
        Why::ExceedsGrace(sleep, grace) => {
            format!("a sleep of {sleep} s does not fit into a grace period of {grace} s")
        }
        Why::NoSleep => {
            "the API server is too old for the sleep action, and nobody knows whether the image has a sleep"
                .to_owned()
        }
        Why::OwnersNone => "the owner said none".to_owned(),
        Why::OwnersValue(value, needed) => {
            format!("the owner set {value} s, where {needed} s are needed")
        }
        Why::ReadyGate(reason) => format!("peers wait for Ready: {reason}"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn header_values_are_not_shown() {
        let probe = json!({"httpGet": {"path": "/health", "port": 8000, "httpHeaders": [{"name": "a", "value": "secret"}]}});
        assert_eq!(
            brief(&probe),
            "{httpGet: {path: /health, port: 8000, httpHeaders: …}}"
        );
    }

    #[test]
    fn a_value_is_one_line_of_bounded_length() {
        let text = brief(&json!(["a\nb".repeat(200)]));
        assert_eq!(text.chars().count(), LIMIT);
        assert!(!text.contains('\n'));
    }
}
