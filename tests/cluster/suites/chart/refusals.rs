//! What the chart refuses: values that it does not know, and what would install and then hurt.

use std::fs;

use serde_json::{Value, json};

use super::{refusal, render};
use crate::harness::folders;

/// Values that would hurt, and what the sentence says.
const HARMFUL: [(&str, &str); 42] = [
    (
        "mutating: {failurePolicy: Fail}",
        "mutating.failurePolicy must be Ignore",
    ),
    (
        "{replicaCount: 1, validating: {failurePolicy: Fail}}",
        "needs a replicaCount of 2 or more",
    ),
    (
        "{podDisruptionBudget: {enabled: false}, validating: {failurePolicy: Fail}}",
        "needs podDisruptionBudget.enabled",
    ),
    (
        "{podDisruptionBudget: {maxUnavailable: 2}, validating: {failurePolicy: Fail}}",
        "maxUnavailable 2 of a replicaCount of 2 lets all webhooks be evicted at once",
    ),
    (
        "{podDisruptionBudget: {maxUnavailable: \"51%\"}, validating: {failurePolicy: Fail}}",
        "maxUnavailable 51% of a replicaCount of 2 lets all webhooks be evicted at once",
    ),
    (
        "{podDisruptionBudget: {maxUnavailable: null, minAvailable: \"0%\"}, validating: {failurePolicy: Fail}}",
        "minAvailable 0% lets all webhooks be evicted at once",
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
        "namespaceSelector: {matchExpressions: [{key: team, operator: Exists}, {key: tier, operator: In}]}",
        "namespaceSelector.matchExpressions[1] has the operator In and no values",
    ),
    (
        "objectSelector: {matchExpressions: [{key: tier, operator: NotIn, values: []}]}",
        "objectSelector.matchExpressions[0] has the operator NotIn and no values",
    ),
    (
        "objectSelector: {matchExpressions: [{key: tier, operator: Exists, values: [gpu]}]}",
        "objectSelector.matchExpressions[0] has the operator Exists and values",
    ),
    (
        "controller: {topologySpreadConstraints: [{topologyKey: rack, maxSkew: 1, whenUnsatisfiable: DoNotSchedule, \
         labelSelector: {matchExpressions: [{key: a, operator: In}]}}]}",
        "controller.topologySpreadConstraints[0].labelSelector.matchExpressions[0] has the operator In and no values",
    ),
    (
        "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [\
         {matchExpressions: [{key: cores, operator: Gt, values: [\"1\", \"2\"]}]}]}}}",
        "matchExpressions[0] has the operator Gt, which takes one value, and has 2",
    ),
    (
        "controller: {affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: rack}]}}}",
        "controller.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[0] has no labelSelector",
    ),
    (
        "certificates: {source: byo}",
        "needs certificates.secretName",
    ),
    (
        "certificates: {source: byo, secretName: warmgate-ca}",
        "secretName warmgate-ca is what the chart names the Secret of its own authority",
    ),
    (
        "{fullnameOverride: gate, certificates: {secretName: gate-ca}}",
        "secretName gate-ca is what the chart names the Secret of its own authority",
    ),
    (
        "certificates: {source: cert-manager, secretName: warmgate-issued-ca}",
        "secretName warmgate-issued-ca is what the chart names the Secret of its own authority",
    ),
    (
        "certificates: {source: byo, secretName: warmgate-tls}",
        "secretName warmgate-tls is what the chart names the Secret that the controller fills",
    ),
    (
        "certificates: {source: cert-manager, secretName: warmgate-tls}",
        "secretName warmgate-tls is what the chart names the Secret that the controller fills",
    ),
    (
        "metrics: {serviceMonitor: {interval: 30s, scrapeTimeout: 31s}}",
        "scrapeTimeout 31s is longer than interval, which is 30s",
    ),
    (
        "metrics: {serviceMonitor: {interval: 1m30s, scrapeTimeout: 1h}}",
        "scrapeTimeout 1h is longer than interval, which is 1m30s",
    ),
    (
        "certificates: {source: cert-manager, caDays: 59}",
        "caDays 59 is less than twice certificates.tlsDays, which is 30",
    ),
    (
        "certificates: {source: cert-manager, tlsDays: 1000}",
        "set caDays to 2000 or more",
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
        "{replicaCount: 3, podDisruptionBudget: {maxUnavailable: \"51%\"}, validating: {failurePolicy: Fail}}",
        "{podDisruptionBudget: {maxUnavailable: null, minAvailable: \"1%\"}, validating: {failurePolicy: Fail}}",
        "podDisruptionBudget: {maxUnavailable: 2}",
        "certificates: {source: cert-manager, caDays: 60}",
        "certificates: {source: cert-manager, caDays: 59, issuerRef: {name: vault}}",
        "certificates: {caDays: 59}",
        "certificates: {source: byo, secretName: gate-ca}",
        "certificates: {secretName: warmgate-tls}",
        "metrics: {serviceMonitor: {interval: 90s, scrapeTimeout: 1m30s}}",
        "metrics: {serviceMonitor: {interval: 1h, scrapeTimeout: 2m}}",
        "objectSelector: {matchLabels: {operator: In}, matchExpressions: [{key: a, operator: DoesNotExist}]}",
        "affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: rack, labelSelector: {}}]}}",
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
