//! What the objects of one input say of each other: claims, namespace defaults, Services, disruption budgets.
//!
//! A cluster's facts file says the same of what is stored in it; only `check` and `fix` have an input of many objects.

use serde_json::{Map, Value};

use super::{Cluster, DeviceRequest, Neighbours};
use crate::annotations;

/// Reads facts off the objects of one input. Objects without a namespace stand in `default_namespace`, so that they find
/// each other under the name that the judged object is looked up by.
pub fn collect<'a>(
    objects: impl Iterator<Item = &'a Value>,
    default_namespace: &str,
) -> (Cluster, Neighbours) {
    let mut cluster = Cluster::default();
    let mut neighbours = Neighbours::default();
    for object in objects {
        let Some((group, kind, name)) = identity(object) else {
            continue;
        };
        let namespace = text(object, "/metadata/namespace").unwrap_or(default_namespace);
        match (group, kind) {
            ("", "Namespace") => {
                if let Some(defaults) = namespace_defaults(object) {
                    cluster.namespaces.insert(name.to_owned(), defaults);
                }
            }
            ("", "Service") if has_variables(object) => neighbours
                .services
                .entry(namespace.to_owned())
                .or_default()
                .push(name.to_owned()),
            ("policy", "PodDisruptionBudget") => {
                let selector = object.pointer("/spec/selector").cloned();
                neighbours
                    .disruption_budgets
                    .entry(namespace.to_owned())
                    .or_default()
                    .extend([selector.unwrap_or_default()]);
            }
            ("resource.k8s.io", "ResourceClaim") => {
                let requests = device_requests(object.pointer("/spec"));
                let key = format!("{namespace}/{name}");
                cluster.claims.claims.insert(key, requests);
            }
            ("resource.k8s.io", "ResourceClaimTemplate") => {
                let requests = device_requests(object.pointer("/spec/spec"));
                let key = format!("{namespace}/{name}");
                cluster.claims.templates.insert(key, requests);
            }
            _ => {}
        }
    }
    (cluster, neighbours)
}

/// Whether an object of this group and kind says something of others: those that [`collect`] reads.
pub fn speaks_of_others(group: &str, kind: &str) -> bool {
    matches!(
        (group, kind),
        ("", "Namespace" | "Service")
            | ("policy", "PodDisruptionBudget")
            | ("resource.k8s.io", "ResourceClaim" | "ResourceClaimTemplate")
    )
}

impl Cluster {
    /// Adds other facts; where both speak, `more` wins.
    pub fn extend(&mut self, more: Self) {
        self.kubernetes_version = more.kubernetes_version.or(self.kubernetes_version.take());
        self.namespaces.extend(more.namespaces);
        self.starts.extend(more.starts);
        self.claims.templates.extend(more.claims.templates);
        self.claims.claims.extend(more.claims.claims);
    }
}

impl Neighbours {
    /// Adds what other objects say, behind what is there.
    pub fn extend(&mut self, more: Self) {
        for (namespace, services) in more.services {
            self.services.entry(namespace).or_default().extend(services);
        }
        for (namespace, budgets) in more.disruption_budgets {
            let known = self.disruption_budgets.entry(namespace).or_default();
            known.extend(budgets);
        }
    }
}

/// Whether the kubelet makes variables for a Service: it needs an address for them (`FromServices` in
/// `pkg/kubelet/envvars/envvars.go`).
fn has_variables(service: &Value) -> bool {
    text(service, "/spec/clusterIP") != Some("None")
        && text(service, "/spec/type") != Some("ExternalName")
}

fn identity(object: &Value) -> Option<(&str, &str, &str)> {
    let version = text(object, "/apiVersion")?;
    let group = version.split_once('/').map_or("", |(group, _)| group);
    Some((
        group,
        text(object, "/kind")?,
        text(object, "/metadata/name")?,
    ))
}

fn text<'a>(object: &'a Value, pointer: &str) -> Option<&'a str> {
    object
        .pointer(pointer)?
        .as_str()
        .filter(|text| !text.is_empty())
}

/// The annotations of a Namespace that are ours.
fn namespace_defaults(object: &Value) -> Option<Map<String, Value>> {
    let annotations = object.pointer("/metadata/annotations")?.as_object()?;
    let ours: Map<String, Value> = annotations
        .iter()
        .filter(|(key, _)| annotations::is_ours(key))
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect();
    (!ours.is_empty()).then_some(ours)
}

/// The requests of a claim. v1beta1 names the class in the request itself, v1beta2 and later in `exactly` or in each choice
/// of `firstAvailable` (`k8s.io/api/resource`).
fn device_requests(spec: Option<&Value>) -> Vec<DeviceRequest> {
    let requests = spec
        .and_then(|spec| spec.pointer("/devices/requests"))
        .and_then(Value::as_array);
    requests.into_iter().flatten().map(device_request).collect()
}

fn device_request(request: &Value) -> DeviceRequest {
    let choices = request.get("firstAvailable").and_then(Value::as_array);
    let places: Vec<&Value> = [Some(request), request.get("exactly")]
        .into_iter()
        .flatten()
        .chain(choices.into_iter().flatten())
        .collect();
    let admin = |place: &&Value| place.get("adminAccess").and_then(Value::as_bool) == Some(true);
    let mut classes: Vec<String> = Vec::new();
    for class in places
        .iter()
        .filter_map(|place| text(place, "/deviceClassName"))
    {
        if !classes.iter().any(|known| known == class) {
            classes.push(class.to_owned());
        }
    }
    DeviceRequest {
        name: text(request, "/name").unwrap_or_default().to_owned(),
        classes,
        admin_access: places.iter().any(admin),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::Version;
    use super::*;

    #[test]
    fn claims_of_every_version_are_found_under_their_namespace() {
        let objects = [
            json!({"apiVersion": "resource.k8s.io/v1beta1", "kind": "ResourceClaimTemplate", "metadata": {"name": "old"},
                "spec": {"spec": {"devices": {"requests": [{"name": "card", "deviceClassName": "gpu.example.com"}]}}}}),
            json!({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaimTemplate", "metadata": {"name": "new", "namespace": "team"},
            "spec": {"spec": {"devices": {"requests": [
                {"name": "card", "exactly": {"deviceClassName": "gpu.example.com"}},
                {"name": "net", "firstAvailable": [{"deviceClassName": "nic.example.com"}, {"deviceClassName": "gpu.example.com"}]}
            ]}}}}),
            json!({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": {"name": "shared", "namespace": "team"}}),
        ];
        let (cluster, _) = collect(objects.iter(), "here");
        let request = |name: &str, classes: &[&str]| DeviceRequest {
            name: name.to_owned(),
            classes: classes.iter().map(|class| (*class).to_owned()).collect(),
            admin_access: false,
        };
        let templates = &cluster.claims.templates;
        assert_eq!(
            templates["here/old"],
            [request("card", &["gpu.example.com"])]
        );
        let net = request("net", &["nic.example.com", "gpu.example.com"]);
        assert_eq!(
            templates["team/new"],
            [request("card", &["gpu.example.com"]), net]
        );
        assert_eq!(cluster.claims.claims["team/shared"], []);
    }

    #[test]
    fn a_claim_with_admin_access_only_looks() {
        let claim = json!({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": {"name": "watch"},
        "spec": {"devices": {"requests": [
            {"name": "all", "exactly": {"deviceClassName": "gpu.example.com", "adminAccess": true}}
        ]}}});
        let (cluster, _) = collect([&claim].into_iter(), "");
        assert!(cluster.claims.claims["/watch"][0].admin_access);
    }

    #[test]
    fn neighbours_and_namespace_defaults_are_found() {
        let objects = [
            json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "vllm"}}),
            json!({"apiVersion": "serving.example/v1", "kind": "Service", "metadata": {"name": "other"}}),
            json!({"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "b", "namespace": "team"},
                "spec": {"selector": {"matchLabels": {"app": "chat"}}}}),
            json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team",
                "annotations": {"warmgate.io/drain-time": "2m", "owner": "someone"}}}),
            json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "bare", "annotations": {"owner": "someone"}}}),
            json!([1]),
            json!({"kind": "Service"}),
        ];
        let (cluster, neighbours) = collect(objects.iter(), "");
        assert_eq!(neighbours.services[""], ["vllm"]);
        let budgets = neighbours.disruption_budgets["team"].clone().into_iter();
        assert!(budgets.eq([json!({"matchLabels": {"app": "chat"}})]));
        let defaults = &cluster.namespaces["team"];
        assert_eq!(
            Value::Object(defaults.clone()),
            json!({"warmgate.io/drain-time": "2m"})
        );
        assert!(!cluster.namespaces.contains_key("bare"));
    }

    #[test]
    fn facts_of_the_input_win_over_those_of_the_file() {
        let claims = |class: &str| {
            let object = json!({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": {"name": "a"},
                "spec": {"devices": {"requests": [{"exactly": {"deviceClassName": class}}]}}});
            collect([&object].into_iter(), "").0
        };
        let mut cluster = Cluster {
            kubernetes_version: Some(Version { minor: 33 }),
            ..claims("stored")
        };
        cluster.extend(claims("written"));
        assert_eq!(cluster.claims.claims["/a"][0].classes, ["written"]);
        assert_eq!(cluster.kubernetes_version, Some(Version { minor: 33 }));
    }
}
