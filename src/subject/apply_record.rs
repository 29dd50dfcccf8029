//! Which fields an owner applied by name.
//!
//! The API server fills in defaults before a webhook sees the object, so `timeoutSeconds: 1` may be the owner's word or
//! nobody's. Two records tell: the annotation that client-side apply keeps, and the managed fields of server-side apply.

use serde_json::Value;

use super::raw;
use crate::words::{FieldPath, Segment};

/// The most elements that a list in a record may have. Each field is looked for in all of them, and the lists that are edited
/// have no more than 128.
const MOST_ELEMENTS: usize = 256;

const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// The fields of an object that somebody applied by name.
#[derive(Debug, Default)]
pub struct ApplyRecord {
    last_applied: Option<Value>,
    managed: Vec<Value>,
}

impl ApplyRecord {
    /// Reads both records of an object.
    pub fn read(object: &Value) -> Self {
        let Some(metadata) = object.get("metadata") else {
            return Self::default();
        };
        let annotation = metadata
            .get("annotations")
            .and_then(|annotations| raw::text(annotations, LAST_APPLIED));
        let managed = raw::items(metadata, "managedFields")
            .iter()
            .filter(|entry| raw::text(entry, "operation") == Some("Apply"))
            .filter_map(|entry| entry.get("fieldsV1").cloned())
            .collect();
        Self {
            last_applied: annotation.and_then(|text| serde_json::from_str(text).ok()),
            managed,
        }
    }

    /// Whether an apply names the field at `path` of `object`, which may have lost it since: the records that come in with an
    /// update are those of the object as it was.
    pub fn names(&self, object: &Value, path: &FieldPath) -> bool {
        self.last_applied
            .as_ref()
            .is_some_and(|applied| applied_names(applied, object, path.segments()))
            || self
                .managed
                .iter()
                .any(|fields| managed_names(fields, object, path.segments()))
    }
}

/// Whether the applied configuration has the field; elements of lists are found again by their name.
fn applied_names(applied: &Value, object: &Value, path: &[Segment]) -> bool {
    let Some((first, rest)) = path.split_first() else {
        return !applied.is_null();
    };
    let next = match first {
        Segment::Key(key) => applied
            .get(key)
            .map(|applied| (applied, object.get(key).unwrap_or(&Value::Null))),
        Segment::Index(index) => object.get(index).and_then(|item| {
            let name = raw::text(item, "name")?;
            let items = applied
                .as_array()
                .filter(|items| items.len() <= MOST_ELEMENTS)?;
            Some((
                items
                    .iter()
                    .find(|other| raw::text(other, "name") == Some(name))?,
                item,
            ))
        }),
    };
    next.is_some_and(|(applied, object)| applied_names(applied, object, rest))
}

/// Whether a `fieldsV1` set has the field: `f:` names a member, `k:` the keys of a list's element.
fn managed_names(fields: &Value, object: &Value, path: &[Segment]) -> bool {
    let Some((first, rest)) = path.split_first() else {
        return true;
    };
    let Some(members) = fields.as_object() else {
        return false;
    };
    match first {
        Segment::Key(key) => {
            let object = object.get(key).unwrap_or(&Value::Null);
            members
                .get(&format!("f:{key}"))
                .is_some_and(|fields| managed_names(fields, object, rest))
        }
        Segment::Index(index) => {
            let Some(item) = object.get(index).filter(|_| members.len() <= MOST_ELEMENTS) else {
                return false;
            };
            members
                .iter()
                .any(|(key, fields)| is_key_of(key, item) && managed_names(fields, item, rest))
        }
    }
}

fn is_key_of(key: &str, item: &Value) -> bool {
    let Some(key) = key.strip_prefix("k:") else {
        return false;
    };
    // Most keys are of this form, and need not be read to be told from this one.
    if let Some(rest) = key.strip_prefix(r#"{"name":""#)
        && !rest.contains('\\')
        && rest.split('"').next() != raw::text(item, "name")
    {
        return false;
    }
    let Ok(Value::Object(keys)) = serde_json::from_str(key) else {
        return false;
    };
    !keys.is_empty()
        && keys
            .iter()
            .all(|(name, value)| item.get(name) == Some(value))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn object(metadata: Value) -> Value {
        json!({
            "metadata": metadata,
            "spec": {"containers": [{"name": "a"}, {"name": "b", "livenessProbe": {"timeoutSeconds": 1, "periodSeconds": 10}}]}
        })
    }

    fn path(field: &str) -> FieldPath {
        FieldPath::of(&["spec", "containers"])
            .index(1)
            .key("livenessProbe")
            .key(field)
    }

    #[test]
    fn client_side_apply_names_what_the_owner_wrote() {
        let applied = json!({"spec": {"containers": [{"name": "b", "livenessProbe": {"timeoutSeconds": 1}}]}}).to_string();
        let object = object(json!({"annotations": {LAST_APPLIED: applied}}));
        let record = ApplyRecord::read(&object);
        assert!(record.names(&object, &path("timeoutSeconds")));
        assert!(!record.names(&object, &path("periodSeconds")));
        assert!(!record.names(&object, &path("failureThreshold")));
    }

    #[test]
    fn a_field_that_was_dropped_since_is_named_still() {
        let applied =
            json!({"spec": {"containers": [{"name": "b", "startupProbe": {"exec": {}}}]}});
        let fields = json!({"f:spec": {"f:containers": {"k:{\"name\":\"b\"}": {"f:startupProbe": {"f:exec": {}}}}}});
        for metadata in [
            json!({"annotations": {LAST_APPLIED: applied.to_string()}}),
            json!({"managedFields": [{"operation": "Apply", "fieldsV1": fields}]}),
        ] {
            let object = object(metadata);
            let container = FieldPath::of(&["spec", "containers"]).index(1);
            let record = ApplyRecord::read(&object);
            assert!(record.names(&object, &container.key("startupProbe")));
            assert!(!record.names(&object, &container.key("lifecycle")));
        }
    }

    #[test]
    fn server_side_apply_names_what_the_owner_wrote() {
        let fields = |timeout: Value| json!({"f:spec": {"f:containers": {"k:{\"name\":\"b\"}": {"f:livenessProbe": timeout}}}});
        let object = object(json!({"managedFields": [
            {"operation": "Update", "fieldsV1": fields(json!({"f:periodSeconds": {}}))},
            {"operation": "Apply", "fieldsV1": fields(json!({"f:timeoutSeconds": {}}))},
        ]}));
        let record = ApplyRecord::read(&object);
        assert!(record.names(&object, &path("timeoutSeconds")));
        assert!(
            !record.names(&object, &path("periodSeconds")),
            "an Update entry lists defaults too"
        );
    }

    #[test]
    fn nonsense_names_nothing() {
        for metadata in [
            json!(null),
            json!({"annotations": {LAST_APPLIED: "{"}}),
            json!({"managedFields": [1, {"operation": "Apply"}]}),
        ] {
            let object = object(metadata);
            assert!(!ApplyRecord::read(&object).names(&object, &path("timeoutSeconds")));
        }
    }
}
