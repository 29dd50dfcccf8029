//! What a value of JSON is, in the words of a message.

use serde_json::Value;

/// What `value` is: "a list", "null" and so on.
pub fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Array(_) => "a list",
        Value::Bool(_) => "a boolean",
        Value::Null => "null",
        Value::Number(_) => "a number",
        Value::Object(_) => "a map",
        Value::String(_) => "a string",
    }
}
