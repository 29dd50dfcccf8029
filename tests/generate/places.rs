//! Where something stands in an object.

use serde_json::Value;

/// JSON pointers to everything in a value, itself first, each before what is below it.
pub(crate) fn places(value: &Value) -> Vec<String> {
    let mut all = Vec::new();
    collect(value, String::new(), &mut all);
    all
}

fn collect(value: &Value, here: String, all: &mut Vec<String>) {
    all.push(here.clone());
    let below: Vec<(String, &Value)> = match value {
        Value::Object(members) => members
            .iter()
            .map(|(key, value)| (key.replace('~', "~0").replace('/', "~1"), value))
            .collect(),
        Value::Array(items) => items
            .iter()
            .enumerate()
            .map(|(index, value)| (index.to_string(), value))
            .collect(),
        _ => Vec::new(),
    };
    for (step, value) in below {
        collect(value, format!("{here}/{step}"), all);
    }
}
