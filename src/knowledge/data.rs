//! The data before it is understood: lists of rows by name, and how a config adds to them.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::KnowledgeError;

/// Lists of rows by name.
#[derive(Clone, Debug, Default)]
pub(super) struct Data(Map<String, Value>);

impl Data {
    /// Takes data of the format apart. `lists` are the names that it may have.
    pub(super) fn of(value: &Value, lists: &[&str]) -> Result<Self, KnowledgeError> {
        let Value::Object(members) = value else {
            return Err(KnowledgeError::new("the data", "is no map of lists"));
        };
        for (name, rows) in members {
            if !lists.contains(&name.as_str()) {
                let why = format!("is no list of this format: use {}", lists.join(", "));
                return Err(KnowledgeError::new(name, why));
            }
            if !rows.is_array() {
                return Err(KnowledgeError::new(name, "is no list"));
            }
        }
        Ok(Self(members.clone()))
    }

    /// Puts lists beside these that have other names.
    pub(super) fn join(&mut self, other: Self) {
        self.0.extend(other.0);
    }

    /// The rows of a list, typed.
    pub(super) fn rows<T: DeserializeOwned>(&self, list: &str) -> Result<Vec<T>, KnowledgeError> {
        let rows = self.0.get(list).and_then(Value::as_array);
        let typed = |(number, row): (usize, &Value)| {
            T::deserialize(row).map_err(|error| {
                let id = row.get("id").and_then(Value::as_str);
                let id = id.map(|id| format!(" ({id})")).unwrap_or_default();
                KnowledgeError::new(format!("{list}[{number}]{id}"), error.to_string())
            })
        };
        rows.into_iter().flatten().enumerate().map(typed).collect()
    }

    /// Adds the rows of `extra` before these, so that they are met first. A row that is about the same thing as one of these
    /// changes or replaces it.
    pub(super) fn extend(&mut self, extra: &Self) {
        for (list, rows) in &extra.0 {
            let here = self
                .0
                .entry(list.as_str())
                .or_insert_with(|| Value::Array(Vec::new()));
            let Value::Array(here) = here else { continue };
            let mut new = Vec::new();
            for row in rows.as_array().into_iter().flatten() {
                match here.iter_mut().find(|known| same(list, known, row)) {
                    Some(known) if list == "servers" => merge(known, row),
                    Some(known) => *known = row.clone(),
                    None => new.push(row.clone()),
                }
            }
            here.splice(0..0, new);
        }
    }
}

/// Whether two rows of a list are about the same thing.
fn same(list: &str, a: &Value, b: &Value) -> bool {
    let keys: &[&str] = match list {
        "servers" => &["id"],
        "workloads" => &["group", "kind"],
        _ => return false,
    };
    keys.iter().all(|key| a.get(key) == b.get(key))
}

/// Changes a preset: images, commands and paths are added, everything else is replaced.
fn merge(preset: &mut Value, change: &Value) {
    let (Value::Object(preset), Value::Object(change)) = (preset, change) else {
        return;
    };
    for (key, value) in change {
        let adds = matches!(key.as_str(), "commands" | "images" | "paths");
        match (preset.get_mut(key), value) {
            (Some(Value::Array(here)), Value::Array(more)) if adds => {
                here.splice(0..0, more.iter().cloned());
            }
            _ => {
                preset.insert(key.clone(), value.clone());
            }
        }
    }
}
