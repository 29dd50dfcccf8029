//! Where a field stands in a JSON object.

use std::fmt;

use serde_json::Value;

/// One step of a [`FieldPath`].
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Segment {
    /// An element of a list, counted from 0.
    Index(usize),
    /// A member of a map.
    Key(String),
}

/// The way from the root of an object to one of its fields.
///
/// It is displayed as Kubernetes writes field paths (`spec.template.spec.containers[0]`), and [`FieldPath::pointer`] is
/// the same as a JSON pointer (RFC 6901).
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FieldPath(Vec<Segment>);

impl FieldPath {
    /// The object itself.
    pub fn root() -> Self {
        Self::default()
    }

    /// The path made of these member names, from the root.
    pub fn of(keys: &[&str]) -> Self {
        Self(
            keys.iter()
                .map(|key| Segment::Key((*key).to_owned()))
                .collect(),
        )
    }

    /// The member `key` of what stands here.
    pub fn key(&self, key: &str) -> Self {
        self.child(Segment::Key(key.to_owned()))
    }

    /// The members `keys`, one below the other, of what stands here.
    pub fn keys(&self, keys: &[&str]) -> Self {
        self.join(&Self::of(keys))
    }

    /// The element `index` of the list that stands here.
    pub fn index(&self, index: usize) -> Self {
        self.child(Segment::Index(index))
    }

    /// `other`, taken from here instead of from the root.
    pub fn join(&self, other: &Self) -> Self {
        Self(self.0.iter().chain(&other.0).cloned().collect())
    }

    /// What holds this field, or `None` for the root.
    pub fn parent(&self) -> Option<Self> {
        let (_, parents) = self.0.split_last()?;
        Some(Self(parents.to_vec()))
    }

    /// What follows the last list element on the way: the field within a container.
    pub fn within_item(&self) -> Self {
        let below = self
            .0
            .iter()
            .rposition(|segment| matches!(segment, Segment::Index(_)));
        Self(self.0[below.map_or(0, |index| index + 1)..].to_vec())
    }

    /// The steps from the root.
    pub fn segments(&self) -> &[Segment] {
        &self.0
    }

    /// Whether `prefix` is this field or holds it.
    pub fn starts_with(&self, prefix: &Self) -> bool {
        self.0.starts_with(&prefix.0)
    }

    /// The way from `prefix` to this field, or `None` where `prefix` neither is nor holds it.
    pub fn below(&self, prefix: &Self) -> Option<Self> {
        let rest = self.0.strip_prefix(prefix.0.as_slice())?;
        Some(Self(rest.to_vec()))
    }

    /// The value that stands at this path in `root`.
    pub fn find<'a>(&self, root: &'a Value) -> Option<&'a Value> {
        self.0
            .iter()
            .try_fold(root, |value, segment| match segment {
                Segment::Index(index) => value.as_array()?.get(*index),
                Segment::Key(key) => value.as_object()?.get(key),
            })
    }

    /// This path as a JSON pointer (RFC 6901), as patches and the JSON report carry it.
    pub fn pointer(&self) -> String {
        let mut pointer = String::new();
        for segment in &self.0 {
            pointer.push('/');
            match segment {
                Segment::Index(index) => pointer.push_str(&index.to_string()),
                Segment::Key(key) => pointer.push_str(&key.replace('~', "~0").replace('/', "~1")),
            }
        }
        pointer
    }

    /// The path that a JSON pointer names in `root`. A number is an index where a list stands, else a member name; where
    /// nothing stands any more, it is a member name.
    pub fn from_pointer(pointer: &str, root: &Value) -> Self {
        let mut path = Self::root();
        let mut here = Some(root);
        for part in pointer.split('/').skip(1) {
            let part = part.replace("~1", "/").replace("~0", "~");
            let index = here
                .and_then(Value::as_array)
                .and_then(|_| part.parse().ok());
            path = match index {
                Some(index) => path.index(index),
                None => path.key(&part),
            };
            here = here.and_then(|value| match value {
                Value::Array(items) => items.get(index?),
                Value::Object(members) => members.get(&part),
                _ => None,
            });
        }
        path
    }

    fn child(&self, segment: Segment) -> Self {
        let mut segments = Vec::with_capacity(self.0.len() + 1);
        segments.extend_from_slice(&self.0);
        segments.push(segment);
        Self(segments)
    }
}

impl fmt::Display for FieldPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, segment) in self.0.iter().enumerate() {
            match segment {
                Segment::Index(index) => write!(f, "[{index}]")?,
                Segment::Key(key) if is_plain(key) => {
                    let dot = if number == 0 { "" } else { "." };
                    write!(f, "{dot}{key}")?;
                }
                Segment::Key(key) => write!(f, "[{key}]")?,
            }
        }
        Ok(())
    }
}

/// Whether a member name can be told from the dots around it.
fn is_plain(key: &str) -> bool {
    !key.is_empty()
        && key
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn displays_like_kubernetes_and_points_like_rfc_6901() {
        let path = FieldPath::of(&["spec", "containers"])
            .index(2)
            .key("livenessProbe");
        assert_eq!(path.to_string(), "spec.containers[2].livenessProbe");
        assert_eq!(path.pointer(), "/spec/containers/2/livenessProbe");
        let path = FieldPath::of(&["metadata", "annotations", "warmgate.io/a~b"]);
        assert_eq!(path.to_string(), "metadata.annotations[warmgate.io/a~b]");
        assert_eq!(path.pointer(), "/metadata/annotations/warmgate.io~1a~0b");
    }

    #[test]
    fn a_pointer_is_read_against_what_stands_there() {
        let root = json!({"a": [{"0": 1}], "b": {"0": 2}});
        for pointer in ["/a/0/0", "/b/0", "/a/7/x", "", "/b/no~1where"] {
            assert_eq!(FieldPath::from_pointer(pointer, &root).pointer(), pointer);
        }
        assert_eq!(
            FieldPath::from_pointer("/a/0/0", &root),
            FieldPath::of(&["a"]).index(0).key("0")
        );
    }
}
