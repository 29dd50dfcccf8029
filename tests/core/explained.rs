//! The explanation of one object, however strange its numbers are.

use serde_json::Value;
use warmgate::admit::admit;
use warmgate::facts::{Facts, Mode, Origin};
use warmgate::report::{self, Entry, Explained, Wanted};
use warmgate::words::Seconds;

use crate::generate::create;

/// What `explain` says of an object in a file.
pub(crate) fn explained(object: &Value, load: Option<Seconds>) -> Explained {
    let facts = Facts::new(Mode::Enforce, Origin::File);
    let decision = admit(&create(object, ""), &facts);
    let entry = Entry {
        file: "a.yaml".to_owned(),
        document: 0,
        line: 1,
        kind: "Pod".to_owned(),
        name: Some("chat".to_owned()),
        namespace: None,
        places: vec![(1, 1); decision.findings.len()],
        decision,
    };
    report::explain(&entry, object, &facts, Wanted { load, width: 100 })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// What is simulated stays within bounds: of what has very many turns there are fewer phases, which is said. A load of a day is
    /// seen to its end.
    #[test]
    fn a_start_of_a_day_that_is_probed_every_second_is_explained() {
        for (hours, phases) in [(1, "in one of 9 phases"), (24, "in one of 3 phases")] {
            let probe = json!({
                "httpGet": {"path": "/health", "port": 8000},
                "periodSeconds": 1,
                "failureThreshold": 100_000,
            });
            let container = |name: &str| {
                json!({
                    "name": name,
                    "image": "registry.example/vllm-openai:v0.11.0",
                    "resources": {"limits": {"nvidia.com/gpu": "1"}},
                    "startupProbe": probe,
                    "livenessProbe": probe,
                    "readinessProbe": probe,
                })
            };
            let object = json!({
                "apiVersion": "v1",
                "kind": "Pod",
                "metadata": {"name": "chat"},
                "spec": {"containers": [container("engine"), container("other")]},
            });
            let explained = explained(&object, Some(Seconds(hours * 3_600)));
            let ready = format!("ready to serve after {}", hours * 3_600);
            for said in [phases, &ready] {
                assert!(explained.text.contains(said), "{said}: {}", explained.text);
            }
        }
    }

    /// Of a start that nobody lives to see the first weeks are simulated.
    #[test]
    fn a_start_of_centuries_is_explained() {
        for seconds in [i64::from(i32::MAX), i64::MAX] {
            let object = json!({
                "apiVersion": "v1",
                "kind": "Pod",
                "metadata": {"name": "chat", "annotations": {"warmgate.io/max-startup-time": "24h"}},
                "spec": {"containers": [{
                    "name": "engine",
                    "image": "registry.example/vllm-openai:v0.11.0",
                    "resources": {"limits": {"nvidia.com/gpu": "1"}},
                    "readinessProbe": {"httpGet": {"path": "/health", "port": 8000}},
                }]},
            });
            let explained = explained(&object, Some(Seconds(seconds)));
            let within = "in any of 3 phases; never ready to serve within ";
            assert!(explained.text.contains(within), "{}", explained.text);
        }
    }

    /// A pod that is asked every second whether it is ready, also while it ends.
    #[test]
    fn a_grace_period_of_centuries_is_explained() {
        for grace in [3_600, i64::from(i32::MAX), i64::MAX] {
            let object = json!({
                "apiVersion": "v1",
                "kind": "Pod",
                "metadata": {"name": "chat"},
                "spec": {
                    "terminationGracePeriodSeconds": grace,
                    "containers": [{
                        "name": "engine",
                        "image": "vllm/vllm-openai:v0.10.0",
                        "resources": {"limits": {"nvidia.com/gpu": 1}},
                        "readinessProbe": {"httpGet": {"path": "/health", "port": 8000}, "periodSeconds": 1},
                    }],
                },
            });
            let text = explained(&object, None).text;
            assert!(
                text.contains("engine when its pod is deleted: preStop until 15 s"),
                "{text}"
            );
        }
    }

    /// Time never runs backwards, also where a hook is said to sleep less than no time.
    #[test]
    fn a_hook_that_sleeps_less_than_no_time_is_explained() {
        let hook = |seconds: i64| json!({"sleep": {"seconds": seconds}});
        for seconds in [-1, i64::from(i32::MIN), i64::MIN] {
            let object = json!({
                "apiVersion": "v1",
                "kind": "Pod",
                "metadata": {"name": "chat", "annotations": {"warmgate.io/max-startup-time": "9s"}},
                "spec": {"containers": [{
                    "name": "engine",
                    "image": "vllm/vllm-openai:v0.10.0",
                    "resources": {"limits": {"nvidia.com/gpu": 1}},
                    "livenessProbe": {"httpGet": {"path": "/health", "port": 8000}},
                    "lifecycle": {"postStart": hook(seconds), "preStop": hook(seconds)},
                }]},
            });
            let text = explained(&object, Some(Seconds(3_600))).text;
            assert!(
                text.contains("engine when its pod is deleted: preStop until 0 s"),
                "{text}"
            );
        }
    }

    /// Where no container holds an accelerator, none is said to, and a helper of a server is not asked for a probe.
    #[test]
    fn a_helper_of_a_server_without_accelerator_stands_beside_it() {
        let pod = |app: &str| {
            json!({
                "apiVersion": "v1",
                "kind": "Pod",
                "metadata": {"name": "chat", "annotations": {"warmgate.io/accelerator": "true"}},
                "spec": {"containers": [
                    serde_json::from_str::<Value>(app).unwrap(),
                    {"name": "fluent-bit", "image": "fluent-bit"},
                ]},
            })
        };
        let served =
            r#"{"name": "app", "image": "x", "readinessProbe": {"tcpSocket": {"port": 1}}}"#;
        let text = explained(&pod(served), None).text;
        assert!(
            text.contains("does not serve: another container serves"),
            "{text}"
        );
        assert!(!text.contains("no-probes"), "{text}");
        let text = explained(&pod(r#"{"name": "app", "image": "x"}"#), None).text;
        assert!(text.contains("unknown: it has no probe"), "{text}");
        assert!(text.contains("no-probes"), "{text}");
        assert!(!text.contains("holds an accelerator"), "{text}");
    }

    /// The simulation knows as the rules do what passes early.
    #[test]
    fn a_probe_that_passes_early_kills_nobody_in_the_simulation() {
        let pod = |image: &str, probe: Value| {
            json!({
                "apiVersion": "v1",
                "kind": "Pod",
                "metadata": {"name": "chat", "annotations": {"warmgate.io/max-startup-time": "15m"}},
                "spec": {"containers": [{
                    "name": "engine",
                    "image": image,
                    "resources": {"limits": {"nvidia.com/gpu": 1}},
                    "livenessProbe": probe,
                }]},
            })
        };
        let asks = |script: &str| json!({"exec": {"command": ["sh", "-c", script]}});
        let root = json!({"httpGet": {"path": "/", "port": 11434}});
        for (image, probe, kills) in [
            ("x", asks("echo a; curl -sf localhost"), true),
            ("x", asks("curl -sf localhost; true"), false),
            ("ollama/ollama", root, false),
        ] {
            let text = explained(&pod(image, probe.clone()), None).text;
            assert_eq!(text.contains("kills it in each"), kills, "{probe}: {text}");
            assert_eq!(text.contains("[liveness-kills-startup]"), kills, "{text}");
        }
    }
}
