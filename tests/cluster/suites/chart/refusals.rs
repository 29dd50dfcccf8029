//! What the chart refuses: values that it does not know, and what would install and then hurt.

use std::fs;

use serde_json::{Value, json};

use super::{refusal, render};
use crate::harness::folders;

/// Values that would hurt, and what the sentence says.
const HARMFUL: [(&str, &str); 23] = [
    (
        "mutating: {failurePolicy: Fail}",
        "mutating.failurePolicy must be Ignore",
    ),
    (
        "{replicaCount: 1, validating: {failurePolicy: Fail}}",
        "needs a replicaCount of 2 or more",
    ),
    (
        "mutating: {timeoutSeconds: 9}",
        "are 11 s together, at most 10",
    ),
    (
        "validating: {timeoutSeconds: 0}",
        "/validating/timeoutSeconds",
    ),
    (
        "validating: {timeoutSeconds: 31}",
        "/validating/timeoutSeconds",
    ),
    ("replicaCount: 0", "/replicaCount"),
    ("podDisruptionBudget: {minAvailable: 1}", "can have one"),
    (
        "podDisruptionBudget: {maxUnavailable: null}",
        "needs minAvailable or maxUnavailable",
    ),
    (
        "podDisruptionBudget: {maxUnavailable: 0}",
        "nodes could never be drained",
    ),
    (
        "podDisruptionBudget: {maxUnavailable: \"0%\"}",
        "nodes could never be drained",
    ),
    (
        "podDisruptionBudget: {maxUnavailable: null, minAvailable: 2}",
        "nodes could never be drained",
    ),
    (
        "podDisruptionBudget: {maxUnavailable: null, minAvailable: \"51%\"}",
        "nodes could never be drained",
    ),
    ("healthPort: 8443", "port and healthPort are both 8443"),
    (
        "{hostNetwork: true, port: 10250}",
        "port 10250 is taken on nodes by Kubernetes itself",
    ),
    (
        "{hostNetwork: true, healthPort: 443}",
        "healthPort 443 is below 1024 or a node port",
    ),
    (
        "namespaceSelector: {matchLabels: {warmgate.io/mode: fix}}",
        "namespaceSelector names warmgate.io/mode",
    ),
    (
        "namespaceSelector: {matchExpressions: [{key: warmgate.io/mode, operator: Exists}]}",
        "namespaceSelector names warmgate.io/mode",
    ),
    (
        "namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: serving}}",
        "namespaceSelector chooses serving, which is never looked at",
    ),
    (
        "namespaceSelector: {matchExpressions: [{key: kubernetes.io/metadata.name, operator: In, values: [ml, kube-system]}]}",
        "namespaceSelector chooses kube-system, which is never looked at",
    ),
    (
        "certificates: {source: byo}",
        "needs certificates.secretName",
    ),
    (
        "certificates: {issuerRef: {name: vault}}",
        "set certificates.source to cert-manager",
    ),
    (
        "certificates: {source: cert-manager, issuerRef: {kind: ClusterIssuer}}",
        "certificates.issuerRef has no name",
    ),
    (
        "extraAcceleratorResources: [\"example.com/npu'\"]",
        "/extraAcceleratorResources/0",
    ),
];

/// Each of them alone, and with a sentence.
pub(in crate::suites) fn name_what_would_hurt() {
    for (values, sentence) in HARMFUL {
        let refusal = refusal(values);
        assert!(refusal.contains(sentence), "{values}: {refusal}");
    }
    // Near them and harmless.
    for values in [
        "{replicaCount: 1, podDisruptionBudget: {enabled: false}}",
        "podDisruptionBudget: {maxUnavailable: null, minAvailable: \"50%\"}",
        "podDisruptionBudget: {maxUnavailable: \"1%\"}",
        "{mutating: {timeoutSeconds: 5}, validating: {timeoutSeconds: 5}}",
        "port: 10250",
        "namespaceSelector: {matchExpressions: [{key: kubernetes.io/metadata.name, operator: NotIn, values: [kube-system]}]}",
    ] {
        render(values);
    }
}

/// At every place where a member has a name, a member of another name is refused.
pub(in crate::suites) fn name_unknown_values() {
    let schema = folders::package().join("charts/warmgate/values.schema.json");
    let schema = fs::read_to_string(schema).unwrap_or_else(|error| panic!("{error}"));
    let schema: Value = serde_json::from_str(&schema).unwrap_or_else(|error| panic!("{error}"));
    let mut places = Vec::new();
    collect(&schema, &schema, &mut Vec::new(), &mut places);
    assert!(places.len() > 20, "{places:?}");
    for place in places {
        let unknown = json!({"notAValue": 1});
        let values = place
            .iter()
            .rev()
            .fold(unknown, |inner, step| match step.as_str() {
                "[]" => json!([inner]),
                key => json!({key: inner}),
            });
        let refusal = refusal(&values.to_string());
        assert!(
            refusal.contains("'notAValue' not allowed"),
            "{place:?}: {refusal}"
        );
    }
}

/// The places of all maps whose members have names; `[]` is an element of a list.
fn collect(root: &Value, schema: &Value, place: &mut Vec<String>, into: &mut Vec<Vec<String>>) {
    let schema = match schema["$ref"].as_str() {
        Some(reference) => root
            .pointer(reference.trim_start_matches('#'))
            .unwrap_or(schema),
        None => schema,
    };
    if let Some(properties) = schema["properties"].as_object() {
        into.push(place.clone());
        for (key, member) in properties {
            place.push(key.clone());
            collect(root, member, place, into);
            place.pop();
        }
    } else if !schema["items"].is_null() {
        place.push("[]".to_owned());
        collect(root, &schema["items"], place, into);
        place.pop();
    }
}
