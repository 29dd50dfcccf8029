//! When traffic stops coming to a pod that is deleted.

use std::time::{Duration, SystemTime};

use serde_json::{Value, json};
use warmgate::kubelet::Micros;

use super::ENGINE;
use crate::harness::cluster::Cluster;
use crate::harness::namespace::Namespace;
use crate::kubelet::recording::Recording;

const DEADLINE: Duration = Duration::from_secs(120);

/// How often the endpoints are looked at.
const PAUSE: Duration = Duration::from_millis(20);

/// How long the preStop hook sleeps, in seconds.
const SLEEP: i64 = 6;

/// A pod that is deleted is no ready endpoint any more while its preStop hook runs, so new requests go elsewhere before SIGTERM.
/// Without a hook nobody waits for that: SIGTERM and the endpoint's end are under way at the same time.
pub(crate) fn go_before_a_hook_is_over(cluster: &Cluster, namespace: &Namespace<'_>) {
    let recording = Recording::start(cluster, namespace).unwrap_or_else(|fault| panic!("{fault}"));
    for (name, hook) in [("sleeps", Some(SLEEP)), ("ends-at-once", None)] {
        let service = json!({
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {"name": name},
            "spec": {"selector": {"app": name}, "ports": [{"port": 80, "targetPort": 8000}]},
        });
        for (resource, object) in [("services", service), ("pods", pod(name, hook))] {
            let made = namespace.create(resource, &object);
            assert_eq!(made.status, 201, "{}", made.body);
        }
        namespace.ready(name, DEADLINE);
        let is = |ready: bool| {
            cluster.wait_for("endpoint", DEADLINE, || {
                let endpoint = endpoint(cluster, namespace, name);
                let found = endpoint["conditions"]["ready"] == ready;
                found
                    .then(|| endpoint["conditions"].clone())
                    .ok_or_else(|| endpoint.to_string())
            })
        };
        is(true);
        let deleted = now();
        namespace.delete("pods", name, &json!({}));
        let gone = until_not_ready(cluster, namespace, name);
        let term = cluster.wait_for("SIGTERM", DEADLINE, || {
            let evidence = recording.evidence().map_err(|fault| fault.to_string())?;
            let at = evidence.servers().when(name, ENGINE, 0, "term");
            at.ok_or_else(|| "no word of it".to_owned())
        });
        let after = |at: Micros| at - deleted;
        println!(
            "{name}: no endpoint after {} s, SIGTERM after {} s",
            after(gone),
            after(term)
        );
        match hook {
            Some(sleep) => {
                assert!(gone < term, "{gone} {term}");
                assert!(after(term) >= Micros::secs(sleep), "{}", after(term));
                // It still serves what it has.
                assert!(after(gone) < Micros::secs(sleep), "{}", after(gone));
            }
            None => assert!(after(term) < Micros::secs(SLEEP), "{}", after(term)),
        }
    }
}

fn pod(name: &str, hook: Option<i64>) -> Value {
    let mut container = json!({
        "name": ENGINE,
        "image": "slowserver:local",
        "args": ["--http", "8000", "--on-term", "abort"],
        "readinessProbe": {"httpGet": {"port": 8000}, "periodSeconds": 1},
    });
    if let Some(seconds) = hook {
        container["lifecycle"] = json!({"preStop": {"sleep": {"seconds": seconds}}});
    }
    json!({
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "labels": {"app": name}},
        "spec": {"containers": [container]},
    })
}

/// When the endpoint is not ready any more: it ends, or it is gone.
fn until_not_ready(cluster: &Cluster, namespace: &Namespace<'_>, service: &str) -> Micros {
    loop {
        let slices = slices(cluster, namespace, service);
        // An answer that is none says nothing.
        let is_ready = slices["items"].as_array().is_none_or(|slices| {
            let endpoints = slices
                .iter()
                .filter_map(|slice| slice["endpoints"].as_array());
            endpoints
                .flatten()
                .any(|it| it["conditions"]["ready"] == true)
        });
        if !is_ready {
            return now();
        }
        std::thread::sleep(PAUSE);
    }
}

/// The one endpoint of a service.
fn endpoint(cluster: &Cluster, namespace: &Namespace<'_>, service: &str) -> Value {
    slices(cluster, namespace, service)["items"][0]["endpoints"][0].clone()
}

fn slices(cluster: &Cluster, namespace: &Namespace<'_>, service: &str) -> Value {
    let path = format!(
        "/apis/discovery.k8s.io/v1/namespaces/{}/endpointslices?labelSelector=kubernetes.io/service-name={service}",
        namespace.name()
    );
    cluster.get(&path).unwrap_or_default()
}

/// The time since the epoch.
fn now() -> Micros {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let since = since.unwrap_or_default().as_micros();
    Micros(i64::try_from(since).unwrap_or(i64::MAX))
}
