//! The webhook configurations: who is asked about what.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{NAMESPACE, RELEASE, VARIATIONS, find, of_kind, render, texts};

/// The entries: name, path, and the modes of the namespaces that they are for.
const MUTATING: [(&str, &str); 2] = [
    ("fix.mutate.warmgate.io", "/mutate/fix"),
    ("enforce.mutate.warmgate.io", "/mutate/enforce"),
];
const VALIDATING: [(&str, &str); 6] = [
    ("audit.validate.warmgate.io", "/validate/audit"),
    ("warn.validate.warmgate.io", "/validate/warn"),
    ("fix.validate.warmgate.io", "/validate/fix"),
    ("unknown.validate.warmgate.io", "/validate/unknown"),
    ("enforce.validate.warmgate.io", "/validate/enforce"),
    ("enforce-open.validate.warmgate.io", "/validate/enforce"),
];

const MODES: [&str; 4] = ["audit", "warn", "fix", "enforce"];

fn entries<'a>(objects: &'a [Value], kind: &str) -> &'a [Value] {
    let configurations = of_kind(objects, kind);
    let [configuration] = configurations[..] else {
        panic!("{} of {kind}", configurations.len())
    };
    configuration["webhooks"]
        .as_array()
        .map_or(&[], Vec::as_slice)
}

/// The names of entries with the paths that they call.
fn names(entries: &[Value]) -> Vec<(&str, &str)> {
    let text = |value| Value::as_str(value).unwrap_or_default();
    let mut names = Vec::new();
    for entry in entries {
        let path = &entry["clientConfig"]["service"]["path"];
        names.push((text(&entry["name"]), text(path)));
    }
    names
}

/// By its name an entry keeps the authority that the controller writes into it, whatever the values are.
pub(in crate::suites) fn keep_their_names() {
    for (name, values) in VARIATIONS {
        let objects = render(values);
        assert_eq!(
            names(entries(&objects, "MutatingWebhookConfiguration")),
            MUTATING,
            "{name}"
        );
        assert_eq!(
            names(entries(&objects, "ValidatingWebhookConfiguration")),
            VALIDATING,
            "{name}"
        );
    }
}

/// Every entry says everything that the API server would fill in, so that no tool sees a difference; fails open; and never
/// sees the cluster's own namespaces and ours.
pub(in crate::suites) fn are_complete_and_fail_open() {
    for (name, values) in VARIATIONS {
        let objects = render(values);
        for kind in [
            "MutatingWebhookConfiguration",
            "ValidatingWebhookConfiguration",
        ] {
            for entry in entries(&objects, kind) {
                assert_eq!(entry["matchPolicy"], "Equivalent", "{name}");
                assert_eq!(entry["sideEffects"], "None", "{name}");
                assert_eq!(entry["admissionReviewVersions"], json!(["v1"]), "{name}");
                let service = &entry["clientConfig"]["service"];
                assert_eq!(service["namespace"], NAMESPACE, "{name}");
                assert_eq!(service["port"], 443, "{name}");
                let mutates = kind == "MutatingWebhookConfiguration";
                assert_eq!(entry["reinvocationPolicy"] == "IfNeeded", mutates, "{name}");
                assert!(entry["objectSelector"].is_object(), "{name}");
                let strict =
                    name == "registration" && entry["name"] == "enforce.validate.warmgate.io";
                let policy = if strict { "Fail" } else { "Ignore" };
                assert_eq!(entry["failurePolicy"], policy, "{name}: {}", entry["name"]);
                let conditions = entry["matchConditions"].as_array().map_or(0, Vec::len);
                assert!((3..=64).contains(&conditions), "{name}");
                let namespaces = entry["namespaceSelector"]["matchExpressions"].as_array();
                let never = json!({
                    "key": "kubernetes.io/metadata.name",
                    "operator": "NotIn",
                    "values": ["kube-node-lease", "kube-public", "kube-system", NAMESPACE],
                });
                assert!(namespaces.is_some_and(|all| all.contains(&never)), "{name}");
                for rule in entry["rules"].as_array().into_iter().flatten() {
                    assert_eq!(rule["scope"], "Namespaced", "{name}");
                    let resources = texts(&rule["resources"]);
                    assert!(
                        resources.iter().all(|one| !one.contains(['*', '/'])),
                        "{name}: {resources:?}"
                    );
                    let operations = texts(&rule["operations"]);
                    let created = resources == ["pods"];
                    let expected: &[&str] = if created {
                        &["CREATE"]
                    } else {
                        &["CREATE", "UPDATE"]
                    };
                    assert_eq!(operations, expected, "{name}: {resources:?}");
                }
            }
        }
    }
}

/// A namespace is matched by the entries of its mode; one whose label is none of the modes by the entry that warns of it; one
/// without a label by none.
pub(in crate::suites) fn match_the_modes() {
    let objects = render("");
    let labels = [
        None,
        Some("audit"),
        Some("warn"),
        Some("fix"),
        Some("enforce"),
        Some("Fix"),
        Some(""),
    ];
    for label in labels {
        let mode = label.filter(|label| MODES.contains(label));
        let mut labels = BTreeMap::from([("kubernetes.io/metadata.name", "team")]);
        labels.extend(label.map(|label| ("warmgate.io/mode", label)));
        let called = |kind| -> Vec<String> {
            let matched = entries(&objects, kind)
                .iter()
                .filter(|entry| matches(&entry["namespaceSelector"], &labels));
            let paths = matched.map(|entry| {
                entry["clientConfig"]["service"]["path"]
                    .as_str()
                    .unwrap_or_default()
                    .to_owned()
            });
            let mut paths: Vec<_> = paths.collect();
            paths.dedup();
            paths
        };
        let mutates = mode.filter(|mode| ["fix", "enforce"].contains(mode));
        let expected: Vec<_> = mutates
            .iter()
            .map(|mode| format!("/mutate/{mode}"))
            .collect();
        assert_eq!(
            called("MutatingWebhookConfiguration"),
            expected,
            "{label:?}"
        );
        let validates = label.map(|_| mode.unwrap_or("unknown"));
        let expected: Vec<_> = validates
            .iter()
            .map(|mode| format!("/validate/{mode}"))
            .collect();
        assert_eq!(
            called("ValidatingWebhookConfiguration"),
            expected,
            "{label:?}"
        );
    }
    for name in ["kube-node-lease", "kube-public", "kube-system", NAMESPACE] {
        let labels = BTreeMap::from([
            ("kubernetes.io/metadata.name", name),
            ("warmgate.io/mode", "fix"),
        ]);
        for kind in [
            "MutatingWebhookConfiguration",
            "ValidatingWebhookConfiguration",
        ] {
            for entry in entries(&objects, kind) {
                assert!(!matches(&entry["namespaceSelector"], &labels), "{name}");
            }
        }
    }
}

/// Whether a label selector takes an object with these labels.
fn matches(selector: &Value, labels: &BTreeMap<&str, &str>) -> bool {
    let expressions = selector["matchExpressions"]
        .as_array()
        .into_iter()
        .flatten();
    expressions.into_iter().all(|expression| {
        let label = expression["key"].as_str().and_then(|key| labels.get(key));
        let among = label.is_some_and(|label| texts(&expression["values"]).contains(label));
        match expression["operator"].as_str() {
            Some("Exists") => label.is_some(),
            Some("In") => among,
            Some("NotIn") => !among,
            other => panic!("an operator {other:?}"),
        }
    })
}

/// What the values say about registration is in every entry.
pub(in crate::suites) fn follow_the_values() {
    let (_, values) = VARIATIONS[5];
    let objects = render(values);
    let both = [
        ("MutatingWebhookConfiguration", "0-first", 3),
        ("ValidatingWebhookConfiguration", "gate", 4),
    ];
    for (kind, name, seconds) in both {
        let configuration = find(&objects, kind, name);
        for entry in configuration["webhooks"].as_array().into_iter().flatten() {
            assert_eq!(entry["timeoutSeconds"], seconds);
            assert_eq!(
                entry["namespaceSelector"]["matchLabels"],
                json!({"tier": "gpu"})
            );
            let team = json!({"key": "team", "operator": "Exists"});
            let expressions = entry["namespaceSelector"]["matchExpressions"].as_array();
            assert!(expressions.is_some_and(|all| all.contains(&team)));
            assert_eq!(entry["objectSelector"], json!({"matchLabels": {"a": "b"}}));
            assert_eq!(entry["clientConfig"]["service"]["name"], RELEASE);
            let ours = &entry["matchConditions"][2]["expression"];
            let ours = ours.as_str().unwrap_or_default();
            assert!(ours.contains("k == 'example.com/npu'"));
            assert!(ours.contains("k.matches('^example[.]com/npu-.*$')"));
        }
    }
    let args = &find(&objects, "Deployment", "warmgate-controller")["spec"]["template"]["spec"]["containers"]
        [0]["args"];
    let args = texts(args);
    assert!(args.contains(&"--mutating-configuration=0-first"));
    assert!(args.contains(&"--validating-configuration=gate"));
}
