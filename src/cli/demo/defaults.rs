//! What an API server writes into an object before it asks a webhook: nobody can tell afterwards what the owner wrote.
//!
//! These are the defaults of containers and rollouts in `pkg/apis/core/v1/defaults.go` and `pkg/apis/apps/v1/defaults.go` of
//! Kubernetes. Kinds that it does not define itself have none.

use serde_json::{Value, json};

use crate::knowledge::Knowledge;
use crate::subject::group_and_kind;

/// Fills in what is absent.
pub(super) fn fill(object: &mut Value) {
    let (group, kind) = group_and_kind(object).unwrap_or_default();
    let knowledge = Knowledge::builtin();
    let workload = knowledge.workload(group, kind);
    let Some(workload) = workload.filter(|workload| workload.server_defaults) else {
        return;
    };
    if let Some(spec) = object.get_mut("spec") {
        match (workload.group.as_str(), workload.kind.as_str()) {
            ("", "Pod") => add(spec, &json!({"enableServiceLinks": true})),
            ("apps", kind) => rollout(kind, spec),
            _ => {}
        }
    }
    for template in &workload.templates {
        let spec = template.path.key("spec").pointer();
        object.pointer_mut(&spec).map(pod);
    }
}

/// The defaults of a workload of the group `apps`.
fn rollout(kind: &str, spec: &mut Value) {
    let (strategy, parameters, others) = match kind {
        "Deployment" => (
            "strategy",
            json!({"maxUnavailable": "25%", "maxSurge": "25%"}),
            json!({"replicas": 1, "revisionHistoryLimit": 10, "progressDeadlineSeconds": 600}),
        ),
        "StatefulSet" => (
            "updateStrategy",
            json!({"partition": 0}),
            json!({"replicas": 1, "revisionHistoryLimit": 10, "podManagementPolicy": "OrderedReady"}),
        ),
        "DaemonSet" => (
            "updateStrategy",
            json!({"maxUnavailable": 1, "maxSurge": 0}),
            json!({"revisionHistoryLimit": 10}),
        ),
        _ => return,
    };
    add(spec, &others);
    add(spec, &json!({strategy: {}}));
    let Some(strategy) = spec.get_mut(strategy) else {
        return;
    };
    add(strategy, &json!({"type": "RollingUpdate"}));
    if strategy["type"] == "RollingUpdate" {
        add(strategy, &json!({"rollingUpdate": {}}));
        if let Some(given) = strategy.get_mut("rollingUpdate") {
            add(given, &parameters);
        }
    }
}

fn pod(spec: &mut Value) {
    add(
        spec,
        &json!({"restartPolicy": "Always", "terminationGracePeriodSeconds": 30, "dnsPolicy": "ClusterFirst",
            "securityContext": {}, "schedulerName": "default-scheduler"}),
    );
    for list in ["initContainers", "containers"] {
        items(spec, list).for_each(container);
    }
}

fn container(container: &mut Value) {
    let image = container["image"].as_str().unwrap_or_default();
    let name = image.rsplit('/').next().unwrap_or_default();
    let floats = !name.contains(['@', ':']) || name.ends_with(":latest");
    add(
        container,
        &json!({"resources": {}, "terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File",
            "imagePullPolicy": if floats { "Always" } else { "IfNotPresent" }}),
    );
    items(container, "ports").for_each(|port| add(port, &json!({"protocol": "TCP"})));
    for role in ["livenessProbe", "readinessProbe", "startupProbe"] {
        if let Some(probe) = container.get_mut(role) {
            add(
                probe,
                &json!({"timeoutSeconds": 1, "periodSeconds": 10, "successThreshold": 1, "failureThreshold": 3}),
            );
            handler(probe);
        }
    }
    for hook in ["/lifecycle/postStart", "/lifecycle/preStop"] {
        container.pointer_mut(hook).map(handler);
    }
}

fn handler(holder: &mut Value) {
    if let Some(request) = holder.get_mut("httpGet") {
        add(request, &json!({"path": "/", "scheme": "HTTP"}));
    }
    if let Some(call) = holder.get_mut("grpc") {
        add(call, &json!({"service": ""}));
    }
}

fn items<'a>(holder: &'a mut Value, list: &str) -> impl Iterator<Item = &'a mut Value> {
    let items = holder.get_mut(list).and_then(Value::as_array_mut);
    items.into_iter().flatten()
}

/// Adds the members that are absent or null. What is no object is left to the API server's refusal.
fn add(object: &mut Value, defaults: &Value) {
    let (Some(object), Some(defaults)) = (object.as_object_mut(), defaults.as_object()) else {
        return;
    };
    for (key, default) in defaults {
        let value = object.entry(key).or_insert(Value::Null);
        if value.is_null() {
            *value = default.clone();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_absent_is_filled_in_and_nothing_else() {
        let mut object = json!({"apiVersion": "apps/v1", "kind": "Deployment", "spec": {
            "replicas": 3,
            "strategy": {"rollingUpdate": {"maxSurge": 1}},
            "template": {"spec": {"containers": [{
                "name": "a",
                "image": "registry:5000/a",
                "ports": [{"containerPort": 80}],
                "livenessProbe": {"httpGet": {"port": 80}, "periodSeconds": 5},
            }]}},
        }});
        fill(&mut object);
        let spec = &object["spec"];
        assert_eq!(spec["replicas"], 3);
        assert_eq!(spec["progressDeadlineSeconds"], 600);
        let strategy = json!({"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": "25%"}});
        assert_eq!(spec["strategy"], strategy);
        let pod = &spec["template"]["spec"];
        assert_eq!(pod["terminationGracePeriodSeconds"], 30);
        assert!(pod.get("enableServiceLinks").is_none());
        let container = &pod["containers"][0];
        assert_eq!(container["imagePullPolicy"], "Always");
        assert_eq!(container["ports"][0]["protocol"], "TCP");
        let probe = json!({"httpGet": {"port": 80, "path": "/", "scheme": "HTTP"}, "timeoutSeconds": 1,
            "periodSeconds": 5, "successThreshold": 1, "failureThreshold": 3});
        assert_eq!(container["livenessProbe"], probe);
        let filled = object.clone();
        fill(&mut object);
        assert_eq!(object, filled);
    }

    #[test]
    fn another_strategy_has_no_parameters() {
        let mut object = json!({"apiVersion": "apps/v1", "kind": "Deployment", "spec": {"strategy": {"type": "Recreate"}}});
        fill(&mut object);
        assert_eq!(object["spec"]["strategy"], json!({"type": "Recreate"}));
    }

    #[test]
    fn what_is_malformed_is_passed_on() {
        for spec in [
            json!(1),
            json!({"strategy": 1, "template": {"spec": {"containers": [1, {"ports": [1], "livenessProbe": 1}]}}}),
        ] {
            let mut object = json!({"apiVersion": "apps/v1", "kind": "Deployment", "spec": spec});
            fill(&mut object);
            assert_eq!(object["spec"]["strategy"], spec["strategy"]);
        }
    }

    #[test]
    fn kinds_that_kubernetes_does_not_define_are_left_alone() {
        let set = json!({"apiVersion": "leaderworkerset.x-k8s.io/v1", "kind": "LeaderWorkerSet", "spec": {}});
        let mut object = set.clone();
        fill(&mut object);
        assert_eq!(object, set);
    }
}
