//! Certificates that others make: cert-manager, whose part is played here, and a user. Nothing here is named `warmgate`.

mod authority;
mod cert_manager;
mod provided;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use serde_json::{Value, json};

use self::authority::Leaf;
use crate::harness::cluster::Cluster;
use crate::product::{self, CHART, Release, VALUES};

/// How long a changed Secret may take to be served: the kubelet's and the webhook's looks, on a busy machine.
const SERVED: Duration = Duration::from_secs(180);

/// Creations a second.
const RATE: u32 = 20;

/// So many that each replica is asked again and again.
const MORE: usize = 60;

/// What is installed.
const GATE: Release = Release {
    namespace: "platform",
    fullname: "gate-warmgate",
};

/// The name by which the API server calls it.
const SERVICE: &str = "gate-warmgate.platform.svc";

/// Both webhook configurations.
const CONFIGURATIONS: [&str; 2] = [
    "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/00-gate",
    "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/gate",
];

/// With the certificates of either a pod is mended, a renewed one is served, and whoever has to writes `caBundle`.
pub(super) fn of_others_are_served() {
    let cluster = product::cluster("certificates");
    cert_manager::issues(&cluster);
    provided::is_taken(&cluster);
}

/// A command line of Helm for the release, with certificates as `values` say.
fn helm<'a>(verb: &'a str, values: &[&'a str]) -> Vec<&'a str> {
    let names = [
        "--set",
        "mutating.name=00-gate",
        "--set",
        "validating.name=gate",
    ];
    let release = [verb, "gate", CHART, "--namespace", GATE.namespace];
    [&release[..], &VALUES, &names, values].concat()
}

/// Writes a Secret as `manager` does: a certificate with its key, and whom to trust.
fn fill(
    cluster: &Cluster,
    manager: &str,
    name: &str,
    [certificate, key]: [&str; 2],
    trusted: Option<&str>,
) {
    let mut data = BTreeMap::from([("tls.crt", certificate), ("tls.key", key)]);
    data.extend(trusted.map(|trusted| ("ca.crt", trusted)));
    let data: BTreeMap<_, _> = data
        .into_iter()
        .map(|(key, pem)| (key, authority::base64(pem)))
        .collect();
    let path = format!("/api/v1/namespaces/{}/secrets/{name}", GATE.namespace);
    let secret = json!({
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": name},
        "type": "kubernetes.io/tls",
        "data": data,
    });
    apply(cluster, manager, &path, &secret);
}

/// Writes whom the API server is to trust, as `manager` does.
fn trust(cluster: &Cluster, manager: &str, path: &str, bundle: &str) {
    let found = cluster.get(path).unwrap_or_default();
    let entries = found["webhooks"].as_array().into_iter().flatten();
    let entries: Vec<_> = entries
        .map(|entry| json!({"name": entry["name"], "clientConfig": {"caBundle": authority::base64(bundle)}}))
        .collect();
    let apply_this = json!({
        "apiVersion": found["apiVersion"],
        "kind": found["kind"],
        "metadata": {"name": found["metadata"]["name"]},
        "webhooks": entries,
    });
    apply(cluster, manager, path, &apply_this);
}

fn apply(cluster: &Cluster, manager: &str, path: &str, object: &Value) {
    let path = format!("{path}?fieldManager={manager}&force=true");
    let kind = "application/apply-patch+yaml";
    let answer = cluster.api("PATCH", &path, kind, &object.to_string());
    assert!(matches!(answer.status, 200 | 201), "{}", answer.body);
}

/// Who has written `caBundle`.
fn writers(cluster: &Cluster) -> BTreeSet<String> {
    let found = CONFIGURATIONS.iter().filter_map(|path| cluster.get(path));
    let fields = found.flat_map(
        |mut found| match found["metadata"]["managedFields"].take() {
            Value::Array(fields) => fields,
            _ => Vec::new(),
        },
    );
    fields
        .filter(|one| one["fieldsV1"].to_string().contains("f:caBundle"))
        .filter_map(|one| one["manager"].as_str().map(str::to_owned))
        .collect()
}

/// How many authorities each entry of both configurations trusts.
fn trusted(cluster: &Cluster) -> BTreeSet<usize> {
    let found = CONFIGURATIONS.iter().filter_map(|path| cluster.get(path));
    found
        .flat_map(|found| found["webhooks"].as_array().cloned().unwrap_or_default())
        .map(|entry| {
            let bundle = entry["clientConfig"]["caBundle"].as_str();
            let pem = authority::text(bundle.unwrap_or_default());
            pem.matches("BEGIN CERTIFICATE").count()
        })
        .collect()
}

/// Waits until every replica of the webhook serves `leaf`.
#[track_caller]
fn wait_until_served(cluster: &Cluster, leaf: &Leaf) {
    let line = "warmgate_certificate_expiry_timestamp_seconds ";
    cluster.wait_for("certificate that is served", SERVED, || {
        let metrics = GATE.metrics(cluster, "webhook");
        for (name, metrics) in &metrics {
            let mut lines = metrics.out.lines();
            let expiry = lines.find_map(|found| found.strip_prefix(line));
            if expiry != Some(leaf.expires.to_string().as_str()) {
                return Err(format!("{name}: {expiry:?} {}", metrics.err));
            }
        }
        if metrics.len() < 2 {
            Err(format!("{} pods", metrics.len()))
        } else {
            Ok(())
        }
    });
}
