//! Field paths as `changes` writes them: list elements go by their names, so that a container injected in front moves none.

use serde_json::Value;

use crate::words::{FieldPath, Segment};

/// A path with the names of containers in place of their numbers: `spec.containers[engine].startupProbe`.
pub(super) fn named(path: &FieldPath, object: &Value) -> String {
    let mut text = String::new();
    let mut here = Some(object);
    for segment in path.segments() {
        match segment {
            Segment::Index(index) => {
                here = here.and_then(|value| value.get(index));
                let name = here
                    .and_then(|item| item.get("name"))
                    .and_then(Value::as_str);
                let name = name.map_or_else(|| index.to_string(), str::to_owned);
                text.push_str(&format!("[{name}]"));
            }
            Segment::Key(key) => {
                here = here.and_then(|value| value.get(key));
                if key.contains(['.', '/']) {
                    text.push_str(&format!("[{key}]"));
                } else {
                    let dot = if text.is_empty() { "" } else { "." };
                    text.push_str(&format!("{dot}{key}"));
                }
            }
        }
    }
    text
}

/// The longest path that is looked for. Those of ours have some dozen steps and hold one name of the owner's.
const LONGEST: usize = 1024;

/// The path that [`named`] wrote, in this object.
pub(super) fn resolve(name: &str, object: &Value) -> Option<FieldPath> {
    if name.len() > LONGEST {
        return None;
    }
    let mut path = FieldPath::root();
    let mut rest = name;
    while !rest.is_empty() {
        if let Some(bracketed) = rest.strip_prefix('[') {
            let (inside, behind) = bracketed.split_once(']')?;
            path = match path.find(object)? {
                Value::Array(items) => path.index(position(items, inside)?),
                _ => path.key(inside),
            };
            rest = behind;
        } else {
            let key = rest.strip_prefix('.').unwrap_or(rest);
            let end = key.find(['.', '[']).unwrap_or(key.len());
            let (key, behind) = key.split_at(end);
            if key.is_empty() {
                return None;
            }
            path = path.key(key);
            rest = behind;
        }
    }
    Some(path)
}

fn name_of(item: &Value) -> Option<&str> {
    item.get("name")?.as_str()
}

/// The item of that name, or the item without a name that has that number.
fn position(items: &[Value], name: &str) -> Option<usize> {
    let unnamed = |index: &usize| {
        items
            .get(*index)
            .is_some_and(|item| name_of(item).is_none())
    };
    items
        .iter()
        .position(|item| name_of(item) == Some(name))
        .or_else(|| name.parse().ok().filter(unnamed))
}
