//! The text of an object to the JSON that is judged.
//!
//! The API server keeps a record of who wrote which field, which makes a third of the values of a usual object. Only the entries
//! of an apply are ever asked for, so a record without one is skipped and not read.

use std::fmt;

use serde::de::{Deserialize, DeserializeSeed, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

/// Where the record stands.
const RECORD: &[&str] = &["metadata", "managedFields"];

/// Reads an object; its record is empty where nobody applied.
pub(super) fn read(text: &str) -> serde_json::Result<Value> {
    let mut json = serde_json::Deserializer::from_str(text);
    Above(RECORD)
        .deserialize(&mut json)
        .and_then(|object| json.end().map(|()| object))
        // What has another shape is read, or refused, as it is.
        .or_else(|_| serde_json::from_str(text))
}

/// A map on the way to the record, which is this far away.
struct Above(&'static [&'static str]);

impl<'de> DeserializeSeed<'de> for Above {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<Value, D::Error> {
        match self.0 {
            [] => record(json),
            _ => json.deserialize_map(self),
        }
    }
}

impl<'de> Visitor<'de> for Above {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut members = Map::new();
        while let Some(key) = map.next_key::<String>()? {
            let value = match self.0.split_first() {
                Some((next, rest)) if key == *next => map.next_value_seed(Self(rest))?,
                _ => map.next_value()?,
            };
            members.insert(key, value);
        }
        Ok(Value::Object(members))
    }
}

fn record<'de, D: Deserializer<'de>>(json: D) -> Result<Value, D::Error> {
    let text = <&RawValue>::deserialize(json)?.get();
    // A word can also be written with escapes.
    let is_asked_for = text.contains("Apply") || text.contains(r"\u");
    if is_asked_for || !text.starts_with('[') {
        return serde_json::from_str(text).map_err(serde::de::Error::custom);
    }
    Ok(Value::Array(Vec::new()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// The record of an object in which it is `text`.
    fn record_of(text: &str) -> Value {
        let object = format!(r#"{{"a": 1, "metadata": {{"managedFields": {text}, "name": "x"}}}}"#);
        let mut object = read(&object).unwrap();
        assert_eq!(object["a"], 1);
        assert_eq!(object["metadata"]["name"], "x");
        object["metadata"]["managedFields"].take()
    }

    #[test]
    fn only_what_was_applied_is_read() {
        for text in ["[]", "[7]", r#"[{"operation": "Update"}]"#] {
            assert_eq!(record_of(text), json!([]), "{text}");
        }
        for text in [
            "null",
            "7",
            r#"[{"operation": "Apply"}]"#,
            r#"[{"operation": "Update"}, {"operation": "Apply"}]"#,
            r#"[{"operation": "\u0041pply"}]"#,
        ] {
            let whole: Value = serde_json::from_str(text).unwrap();
            assert_eq!(record_of(text), whole, "{text}");
        }
    }

    #[test]
    fn everything_else_is_read_as_ever() {
        for text in [
            "null",
            "[1]",
            r#""text""#,
            r#"{"metadata": null}"#,
            r#"{"metadata": [{"managedFields": [1]}]}"#,
            r#"{"spec": {"managedFields": [1]}, "managedFields": [2]}"#,
            r#"{"metadata": {"x": 1}, "b": 2, "metadata": {"y": [1.5, {}]}}"#,
        ] {
            let whole: Value = serde_json::from_str(text).unwrap();
            assert_eq!(read(text).unwrap(), whole, "{text}");
        }
        for text in [
            "",
            "{",
            r#"{"metadata": {"managedFields": [}}"#,
            "{} {}",
            r#"{"a": 1e400}"#,
        ] {
            assert!(read(text).is_err(), "{text}");
        }
    }
}
