//! What the types of the Kubernetes API know of a piece of an object.

use k8s_openapi::api::{apps, batch, core};
use serde::de::value::Error;
use serde::de::{Deserialize, Deserializer, Error as _, Visitor};
use serde::forward_to_deserialize_any;
use serde_ignored::Path;
use serde_json::Value;

use crate::words::FieldPath;

/// One type of the API.
#[derive(Clone, Copy)]
pub(super) struct Type {
    /// The names of its fields.
    pub(super) fields: fn() -> &'static [&'static str],
    /// Reads a value and tells the fields that no type has, from the value on. `false` where the reading ended early,
    /// because a piece does not have the type's shape.
    pub(super) read: fn(&Value, &mut Vec<FieldPath>) -> bool,
}

/// A container.
pub(super) const CONTAINER: Type = of::<core::v1::Container>();

/// A pod spec.
pub(super) const POD_SPEC: Type = of::<core::v1::PodSpec>();

/// The request of a probe or hook.
pub(super) const HTTP_GET: Type = of::<core::v1::HTTPGetAction>();

/// The hooks of a container.
pub(super) const LIFECYCLE: Type = of::<core::v1::Lifecycle>();

/// A probe.
pub(super) const PROBE: Type = of::<core::v1::Probe>();

/// The `spec` of a kind; `None` for kinds that others define.
pub(super) fn spec(group: &str, kind: &str) -> Option<Type> {
    Some(match (group, kind) {
        ("", "Pod") => POD_SPEC,
        ("apps", "DaemonSet") => of::<apps::v1::DaemonSetSpec>(),
        ("apps", "Deployment") => of::<apps::v1::DeploymentSpec>(),
        ("apps", "ReplicaSet") => of::<apps::v1::ReplicaSetSpec>(),
        ("apps", "StatefulSet") => of::<apps::v1::StatefulSetSpec>(),
        ("batch", "CronJob") => of::<batch::v1::CronJobSpec>(),
        ("batch", "Job") => of::<batch::v1::JobSpec>(),
        _ => return None,
    })
}

const fn of<T: for<'de> Deserialize<'de>>() -> Type {
    Type {
        fields: fields::<T>,
        read: read::<T>,
    }
}

fn read<T: for<'de> Deserialize<'de>>(value: &Value, unknown: &mut Vec<FieldPath>) -> bool {
    // One type of closure for all of them: each would have its own copy of every decoder below it otherwise, and PodSpec is
    // below eight.
    let note: &mut dyn FnMut(Path<'_>) = &mut |path| unknown.push(field_path(&path));
    serde_ignored::deserialize::<_, _, T>(value, note).is_ok()
}

fn field_path(path: &Path<'_>) -> FieldPath {
    match path {
        Path::Root => FieldPath::root(),
        Path::Map { parent, key } => field_path(parent).key(key),
        Path::NewtypeStruct { parent }
        | Path::NewtypeVariant { parent }
        | Path::Some { parent } => field_path(parent),
        Path::Seq { parent, index } => field_path(parent).index(*index),
    }
}

/// The field names that a type asks its deserializer for.
fn fields<T: for<'de> Deserialize<'de>>() -> &'static [&'static str] {
    let mut names: &'static [&'static str] = &[];
    // It holds nothing but the names, so the reading always fails.
    let _failed = T::deserialize(FieldNames(&mut names));
    names
}

/// A deserializer that only listens for the names of fields.
struct FieldNames<'n>(&'n mut &'static [&'static str]);

impl<'de> Deserializer<'de> for FieldNames<'_> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, _visitor: V) -> Result<V::Value, Error> {
        Err(Error::custom("no value"))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        fields: &'static [&'static str],
        _visitor: V,
    ) -> Result<V::Value, Error> {
        *self.0 = fields;
        Err(Error::custom("no value"))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn unknown(of: Type, value: &Value) -> (Vec<String>, bool) {
        let mut unknown = Vec::new();
        let whole = (of.read)(value, &mut unknown);
        (unknown.iter().map(FieldPath::to_string).collect(), whole)
    }

    #[test]
    fn tells_the_fields_that_no_type_has() {
        let spec = json!({
            "strategy": {"type": "Recreate"},
            "containers": [{"name": "a", "livenessProbe": {"httpGet": {"port": 1, "url": "/"}}, "env": [{"name": "A", "valu": "x"}]}],
            "volumes": [{"name": "v", "emptyDir": {"sizeLimit": 5}}]
        });
        let expected = [
            "strategy",
            "containers[0].livenessProbe.httpGet.url",
            "containers[0].env[0].valu",
        ];
        assert_eq!(
            unknown(POD_SPEC, &spec),
            (expected.map(str::to_owned).to_vec(), true)
        );
    }

    #[test]
    fn numbers_are_quantities_too_and_other_shapes_end_the_reading() {
        let container =
            json!({"name": "a", "resources": {"limits": {"nvidia.com/gpu": 1, "cpu": 0.5}}});
        assert_eq!(unknown(CONTAINER, &container), (Vec::new(), true));
        let container = json!({"x": 1, "ports": "8000", "y": 2});
        assert_eq!(
            unknown(CONTAINER, &container),
            (vec!["x".to_owned()], false)
        );
    }

    #[test]
    fn knows_the_names_of_fields() {
        assert!((CONTAINER.fields)().contains(&"livenessProbe"));
        assert!((PROBE.fields)().contains(&"failureThreshold"));
        assert!((POD_SPEC.fields)().contains(&"terminationGracePeriodSeconds"));
        let deployment = spec("apps", "Deployment").unwrap();
        assert!((deployment.fields)().contains(&"strategy"));
        assert!(spec("leaderworkerset.x-k8s.io", "LeaderWorkerSet").is_none());
    }
}
