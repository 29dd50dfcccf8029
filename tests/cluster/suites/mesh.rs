//! Another mutating webhook, one like a mesh's: it adds a container in front of ours and rewrites the probes, before us or after us.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Value, json};

use super::engine::{mended, named, pod, template, workload, written};
use super::registered::{Registered, serve};
use super::stored::the_pod;
use crate::harness::audit::Record;
use crate::harness::cluster::Cluster;
use crate::harness::namespace::Namespace;
use crate::product::MODE;

const DEADLINE: Duration = Duration::from_secs(120);

/// Prefixes by which the API server calls the mesh before `00-warmgate`, and after it.
const BEFORE: &str = "00-mesh";
const AFTER: &str = "mesh";

/// The mesh's webhook in one namespace, in which warmgate mends.
struct Mesh<'c> {
    namespace: Namespace<'c>,
    _registered: Registered<'c>,
}

impl<'c> Mesh<'c> {
    /// Registers the server in the namespace `home` under a name that `order` begins.
    fn make(cluster: &'c Cluster, home: &Namespace<'_>, authority: &str, order: &str) -> Self {
        let namespace = cluster.namespace(order, &[(MODE, "fix")]);
        let entry = json!({
            "name": "mesh.warmgate.test",
            "failurePolicy": "Fail",
            "reinvocationPolicy": "IfNeeded",
        });
        let name = format!("{order}-{}", namespace.name());
        let registered = Registered::make(cluster, name, home, authority, &namespace, entry);
        // The API server hears of it a moment later.
        let path = format!("{}?dryRun=All", namespace.path("pods", ""));
        let asked = pod(template()).to_string();
        cluster.wait_for("call of the mesh", DEADLINE, || {
            let answer = cluster.api("POST", &path, "application/json", &asked);
            if answer.body["spec"]["containers"][0]["name"] == "istio-proxy" {
                Ok(())
            } else {
                Err(answer.body.to_string())
            }
        });
        Self {
            namespace,
            _registered: registered,
        }
    }
}

/// What the kubelet goes by, container by container. The proxy answers for the server whichever probe it is asked for, so of the path
/// only the proxy's part counts.
fn essence(pod: &Value) -> Value {
    let containers = pod["spec"]["containers"].as_array();
    let containers = containers.into_iter().flatten().map(|container| {
        let mut parts = json!({"lifecycle": container["lifecycle"]});
        for probe in ["startupProbe", "livenessProbe", "readinessProbe"] {
            parts[probe] = container[probe].clone();
            if let Some(path) = parts[probe].pointer_mut("/httpGet/path") {
                let (folder, _) = path
                    .as_str()
                    .and_then(|path| path.rsplit_once('/'))
                    .unwrap_or_default();
                *path = json!(folder);
            }
        }
        (
            container["name"].as_str().unwrap_or_default().to_owned(),
            parts,
        )
    });
    json!({
        "containers": containers.collect::<BTreeMap<_, _>>(),
        "grace": pod["spec"]["terminationGracePeriodSeconds"],
    })
}

/// One call of a webhook, as the audit log tells it.
#[derive(Debug)]
struct Call {
    round: u32,
    ours: bool,
    /// The fields that its patch writes.
    writes: Vec<String>,
}

/// The calls that were made for a pod, in their order.
fn calls(cluster: &Cluster, pod: &Value) -> Vec<Call> {
    let uid = &pod["metadata"]["uid"];
    let annotations = cluster.wait_for("audit record", DEADLINE, || {
        let records = cluster.audit();
        let made = records.iter().map(Record::value).find(|record| {
            record["verb"] == "create" && record["responseObject"]["metadata"]["uid"] == *uid
        });
        let made = made.ok_or_else(|| format!("{} records", records.len()))?;
        Ok(made["annotations"].clone())
    });
    let told =
        |key: &str| -> Option<Value> { serde_json::from_str(annotations[key].as_str()?).ok() };
    let call = |key: &str| {
        let place = key.strip_prefix("mutation.webhook.admission.k8s.io/")?;
        let (round, index) = place.strip_prefix("round_")?.split_once("_index_")?;
        let patch = told(&format!("patch.webhook.admission.k8s.io/{place}"));
        let operations = patch.as_ref().and_then(|told| told["patch"].as_array());
        let paths = operations
            .into_iter()
            .flatten()
            .map(|operation| operation["path"].as_str());
        let call = Call {
            round: round.parse().ok()?,
            ours: told(key)?["configuration"] == "00-warmgate",
            writes: paths.flatten().map(str::to_owned).collect(),
        };
        Some((call.round, index.parse::<u32>().ok()?, call))
    };
    let keys = annotations.as_object().into_iter().flatten();
    let mut calls: Vec<_> = keys.filter_map(|(key, _)| call(key)).collect();
    calls.sort_by_key(|(round, index, _)| (*round, *index));
    calls.into_iter().map(|(_, _, call)| call).collect()
}

/// The pod that somebody makes by himself, and the one that a Deployment makes.
fn pods(cluster: &Cluster, order: &str, home: &Namespace<'_>, authority: &str) -> [Value; 2] {
    let mesh = Mesh::make(cluster, home, authority, order);
    let deployment = workload("Deployment", template());
    let made = mesh.namespace.create("deployments", &deployment);
    assert_eq!(made.status, 201, "{}", made.body);
    let owned = the_pod(cluster, &mesh.namespace);
    let alone = mesh.namespace.create("pods", &pod(template()));
    assert_eq!(alone.status, 201, "{}", alone.body);
    for (pod, mended_before) in [(&alone.body, false), (&owned, true)] {
        let calls = calls(cluster, pod);
        assert_eq!(calls[0].ours, order == AFTER, "{calls:?}");
        assert!(calls.iter().all(|call| call.round <= 1), "{calls:?}");
        let ours: Vec<_> = calls.iter().filter(|call| call.ours).collect();
        assert!((1..=2).contains(&ours.len()), "{calls:?}");
        assert_eq!(ours[0].writes.is_empty(), mended_before, "{calls:?}");
        // What the mesh has rewritten is no longer ours, which is all that is left to say.
        for again in &ours[1..] {
            let record = "/metadata/annotations/warmgate.io~1changes";
            assert!(again.writes.iter().all(|path| path == record), "{calls:?}");
        }
    }
    [alone.body, owned]
}

/// Whichever comes first, what the kubelet goes by is the same, and nobody is called a third time.
pub(super) fn comes_before_or_after(cluster: &Cluster, home: &Namespace<'_>) {
    let authority = serve(cluster, home);
    let [before, after] = [BEFORE, AFTER].map(|order| pods(cluster, order, home, &authority));
    for (before, after) in before.iter().zip(&after) {
        assert_eq!(written(&before["spec"]), mended());
        assert_eq!(essence(before), essence(after));
    }
    for pod in before.iter().chain(&after) {
        let containers = &pod["spec"]["containers"];
        assert_eq!(containers[0]["name"], "istio-proxy", "{pod}");
        assert_eq!(containers[0]["readinessProbe"]["timeoutSeconds"], 1);
        let startup = &containers[1]["startupProbe"]["httpGet"];
        assert_eq!(startup["port"], 15020, "{pod}");
    }
    let startup = "spec.containers[engine].startupProbe".to_owned();
    assert!(named(&before[0]).contains(&startup), "{}", before[0]);
    assert!(!named(&after[0]).contains(&startup), "{}", after[0]);
}
