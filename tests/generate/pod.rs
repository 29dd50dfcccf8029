//! Pod specs, and the labels and annotations that say where a pod stands.

use serde_json::{Map, Value, json};

use super::{Source, annotations, container};

/// A pod template with metadata and spec.
pub(super) fn template(source: &mut Source<'_>) -> Value {
    let mut labels = Map::from_iter([("app".to_owned(), json!("chat"))]);
    if source.chance(4) {
        let (key, value) = source.one(&LABELS);
        labels.insert(key.to_owned(), json!(value));
    }
    let mut annotations = Map::new();
    if source.chance(5) {
        let (key, value) = source.one(&OTHERS);
        annotations.insert(key.to_owned(), json!(value));
    }
    if source.chance(2) {
        annotations::add(source, &mut annotations);
    }
    let mut metadata = Map::from_iter([("labels".to_owned(), Value::Object(labels))]);
    if !annotations.is_empty() {
        metadata.insert("annotations".to_owned(), Value::Object(annotations));
    }
    if source.chance(12) {
        metadata.clear();
    }
    json!({"metadata": metadata, "spec": spec(source)})
}

const LABELS: [(&str, &str); 12] = [
    ("leaderworkerset.sigs.k8s.io/name", "group"),
    ("leaderworkerset.sigs.k8s.io/worker-index", "0"),
    ("leaderworkerset.sigs.k8s.io/worker-index", "1"),
    ("ray.io/node-type", "head"),
    ("ray.io/node-type", "worker"),
    ("kueue.x-k8s.io/queue-name", "team"),
    ("serving.knative.dev/revision", "r-1"),
    ("notebook-name", "n"),
    ("component", "singleuser-server"),
    ("warmgate.io/mode", "fix"),
    ("pod-template-hash", "abc"),
    ("sidecar.istio.io/inject", "true"),
];

const OTHERS: [(&str, &str); 5] = [
    (
        "sidecar.istio.io/status",
        "{\"containers\":[\"istio-proxy\"]}",
    ),
    ("gpu-fraction", "0.5"),
    ("kubernetes.io/config.mirror", "x"),
    ("prometheus.io/scrape", "true"),
    (
        "proxy.istio.io/config",
        "{\"terminationDrainDuration\":\"60s\"}",
    ),
];

fn spec(source: &mut Source<'_>) -> Value {
    let mut spec = Map::new();
    if source.chance(4) {
        spec.insert("initContainers".to_owned(), init_containers(source));
    }
    spec.insert("containers".to_owned(), containers(source));
    if source.chance(3) {
        let graces = [30, 0, 10, 29, 60, 75, 300, 900];
        spec.insert(
            "terminationGracePeriodSeconds".to_owned(),
            source.number(&graces),
        );
    }
    if source.chance(6) {
        let (field, value) = placement(source);
        spec.insert(field.to_owned(), value);
    }
    if source.chance(8) {
        let claim = source.one(&["resourceClaimName", "resourceClaimTemplateName"]);
        let name = source.word(&["gpu", "nic", "unknown-class", "nobody"]);
        spec.insert(
            "resourceClaims".to_owned(),
            json!([{"name": "card", (claim): name}]),
        );
    }
    for (field, value) in [
        ("restartPolicy", json!("Always")),
        ("restartPolicy", json!("OnFailure")),
        ("hostNetwork", json!(true)),
        ("enableServiceLinks", json!(false)),
        ("activeDeadlineSeconds", json!(600)),
        (
            "schedulingGates",
            json!([{"name": "kueue.x-k8s.io/admission"}]),
        ),
        ("os", json!({"name": "windows"})),
        (
            "volumes",
            json!([{"name": "models", "persistentVolumeClaim": {"claimName": "models"}}]),
        ),
    ] {
        if source.chance(12) {
            spec.insert(field.to_owned(), value);
        }
    }
    Value::Object(spec)
}

fn containers(source: &mut Source<'_>) -> Value {
    let server = container::server(source, "engine");
    if !source.chance(3) {
        return json!([server]);
    }
    let name = source.one(&["proxy", "istio-proxy", "queue-proxy", "second"]);
    let beside = if source.chance(3) {
        container::server(source, name)
    } else {
        container::helper(source, name)
    };
    if source.chance(2) {
        json!([beside, server])
    } else {
        json!([server, beside])
    }
}

fn init_containers(source: &mut Source<'_>) -> Value {
    let mut init = container::server(source, "download");
    let mut sidecar = container::server(source, "native");
    if source.chance(2) {
        sidecar["restartPolicy"] = json!("Always");
    } else {
        for role in [
            "livenessProbe",
            "readinessProbe",
            "startupProbe",
            "lifecycle",
        ] {
            sidecar.as_object_mut().map(|members| members.remove(role));
        }
    }
    for role in [
        "livenessProbe",
        "readinessProbe",
        "startupProbe",
        "lifecycle",
        "resources",
    ] {
        init.as_object_mut().map(|members| members.remove(role));
    }
    if source.chance(2) {
        json!([init, sidecar])
    } else {
        json!([sidecar])
    }
}

/// Where the pod may run: on spot capacity only, or also there.
fn placement(source: &mut Source<'_>) -> (&'static str, Value) {
    match source.below(6) {
        0 => ("nodeSelector", json!({"cloud.google.com/gke-spot": "true"})),
        1 => (
            "nodeSelector",
            json!({"karpenter.sh/capacity-type": source.word(&["spot", "on-demand"])}),
        ),
        2 => (
            "tolerations",
            json!([{"key": "kubernetes.azure.com/scalesetpriority", "operator": "Equal", "value": "spot"}]),
        ),
        3 => ("tolerations", json!([{"operator": "Exists"}])),
        4 => {
            let values = source.one(&[&["SPOT"][..], &["SPOT", "ON_DEMAND"]]);
            let term = json!({"matchExpressions": [{"key": "eks.amazonaws.com/capacityType", "operator": "In", "values": values}]});
            (
                "affinity",
                json!({"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}}),
            )
        }
        _ => ("nodeSelector", json!({"kubernetes.io/os": "windows"})),
    }
}
