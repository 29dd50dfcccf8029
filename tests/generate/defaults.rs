//! What an API server fills in before it asks (`pkg/apis/core/v1/defaults.go`, `pkg/apis/apps/v1/defaults.go`), as far as it
//! touches what is judged.

use serde_json::{Map, Value, json};
use warmgate::facts::Facts;
use warmgate::subject::group_and_kind;

/// The object as the API server shows it to a webhook. What has a wrong type is left as it is: the server would have refused
/// it.
pub(crate) fn with_server_defaults(object: &Value, facts: &Facts) -> Value {
    let mut object = object.clone();
    let Some((group, kind)) = group_and_kind(&object) else {
        return object;
    };
    let Some(workload) = facts
        .knowledge
        .workload(group, kind)
        .filter(|row| row.server_defaults)
    else {
        return object;
    };
    if kind == "Deployment"
        && let Some(spec) = map(&mut object, "/spec")
    {
        fill(spec, "progressDeadlineSeconds", json!(600));
        fill(spec, "strategy", json!({"type": "RollingUpdate"}));
        strategy(spec);
    }
    for place in &workload.templates {
        let spec = place.path.key("spec").pointer();
        if let Some(spec) = map(&mut object, &spec) {
            pod(spec);
        }
    }
    object
}

fn strategy(spec: &mut Map<String, Value>) {
    let Some(strategy) = spec.get_mut("strategy").and_then(Value::as_object_mut) else {
        return;
    };
    fill(strategy, "type", json!("RollingUpdate"));
    if strategy["type"] != "RollingUpdate" {
        return;
    }
    fill(strategy, "rollingUpdate", json!({}));
    if let Some(rolling) = strategy
        .get_mut("rollingUpdate")
        .and_then(Value::as_object_mut)
    {
        fill(rolling, "maxSurge", json!("25%"));
        fill(rolling, "maxUnavailable", json!("25%"));
    }
}

fn pod(spec: &mut Map<String, Value>) {
    fill(spec, "restartPolicy", json!("Always"));
    fill(spec, "terminationGracePeriodSeconds", json!(30));
    fill(spec, "dnsPolicy", json!("ClusterFirst"));
    for list in ["initContainers", "containers"] {
        let items = spec.get_mut(list).and_then(Value::as_array_mut);
        for container in items.into_iter().flatten().filter_map(Value::as_object_mut) {
            fill(
                container,
                "terminationMessagePath",
                json!("/dev/termination-log"),
            );
            for port in container
                .get_mut("ports")
                .and_then(Value::as_array_mut)
                .into_iter()
                .flatten()
            {
                if let Some(port) = port.as_object_mut() {
                    fill(port, "protocol", json!("TCP"));
                }
            }
            for role in ["livenessProbe", "readinessProbe", "startupProbe"] {
                if let Some(probe) = container.get_mut(role).and_then(Value::as_object_mut) {
                    self::probe(probe);
                }
            }
        }
    }
}

fn probe(probe: &mut Map<String, Value>) {
    for (field, value) in [
        ("timeoutSeconds", 1),
        ("periodSeconds", 10),
        ("successThreshold", 1),
        ("failureThreshold", 3),
    ] {
        if probe
            .get(field)
            .is_none_or(|value| value.is_null() || value == 0)
        {
            probe.insert(field.to_owned(), json!(value));
        }
    }
    if let Some(get) = probe.get_mut("httpGet").and_then(Value::as_object_mut) {
        fill(get, "path", json!("/"));
        fill(get, "scheme", json!("HTTP"));
    }
    if let Some(grpc) = probe.get_mut("grpc").and_then(Value::as_object_mut) {
        fill(grpc, "service", json!(""));
    }
}

fn map<'v>(object: &'v mut Value, pointer: &str) -> Option<&'v mut Map<String, Value>> {
    object.pointer_mut(pointer)?.as_object_mut()
}

fn fill(members: &mut Map<String, Value>, key: &str, value: Value) {
    let absent = members.get(key).is_none_or(Value::is_null);
    if absent {
        members.insert(key.to_owned(), value);
    }
}
