//! Everything that the API has, to tell what somebody left.

use std::collections::BTreeSet;

use serde_json::Value;

use super::cluster::Cluster;

/// Every object of every kind that can be listed, as `PATH NAMESPACE/NAME`. Events are none, because they go by themselves; pods that are
/// leaving have left; and what nodes say of themselves is theirs.
///
/// # Panics
///
/// When the API server refuses.
#[track_caller]
pub(crate) fn inventory(cluster: &Cluster) -> BTreeSet<String> {
    let groups = cluster.get("/apis").unwrap_or_default();
    let versions = items(&groups, "groups")
        .filter_map(|group| group["preferredVersion"]["groupVersion"].as_str())
        .map(|version| format!("/apis/{version}"));
    let mut found = BTreeSet::new();
    for root in std::iter::once("/api/v1".to_owned()).chain(versions) {
        let resources = cluster.get(&root).unwrap_or_default();
        for resource in items(&resources, "resources").filter(|resource| is_listed(resource)) {
            let plural = text(resource, "name");
            let list = cluster.get(&format!("{root}/{plural}")).unwrap_or_default();
            found.extend(
                items(&list, "items")
                    .map(|object| &object["metadata"])
                    .filter(|meta| plural != "pods" || meta["deletionTimestamp"].is_null())
                    .filter(|meta| meta["namespace"] != "kube-node-lease")
                    .map(|meta| {
                        let (namespace, name) = (text(meta, "namespace"), text(meta, "name"));
                        format!("{root}/{plural} {namespace}/{name}")
                    }),
            );
        }
    }
    found
}

fn is_listed(resource: &Value) -> bool {
    let verbs = resource["verbs"].as_array();
    text(resource, "name") != "events"
        && verbs.is_some_and(|verbs| verbs.iter().any(|verb| verb == "list"))
}

fn items<'a>(list: &'a Value, key: &str) -> impl Iterator<Item = &'a Value> {
    list[key].as_array().into_iter().flatten()
}

fn text<'a>(object: &'a Value, key: &str) -> &'a str {
    object[key].as_str().unwrap_or_default()
}
