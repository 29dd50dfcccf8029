//! Whom the API server trusts, wiped or replaced by somebody: for how long pods go unmended.

use std::time::{Duration, Instant};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rcgen::{CertificateParams, KeyPair};
use serde_json::{Value, json};

use crate::harness::cluster::Cluster;
use crate::harness::namespace::Namespace;
use crate::product::{self, CONFIGURATIONS, MODE, NAMESPACE, WARMGATE};

/// What users are promised, in seconds.
const PROMISED: f64 = 15.0;

/// After this there is no hope. The message of a broken promise is to tell how long it took, so it is far from what is promised.
const HOPELESS: Duration = Duration::from_secs(120);

/// Somebody takes the authority away or puts another in its place, restarts the controller, or does both.
pub(super) fn comes_back(cluster: &Cluster, _unlabelled: &Namespace<'_>) {
    let namespace = cluster.namespace("trust", &[(MODE, "fix")]);
    let trusted = bundles(cluster);
    assert!(trusted.iter().all(Value::is_string), "{trusted:?}");
    let stranger = STANDARD.encode(stranger());
    let happenings: [(&str, &dyn Fn()); 4] = [
        ("emptied", &|| set(cluster, "")),
        ("replaced", &|| set(cluster, &stranger)),
        ("restarted", &|| restart(cluster, &namespace)),
        ("emptied and restarted", &|| {
            delete_controllers(cluster);
            set(cluster, "");
        }),
    ];
    for (what, happens) in happenings {
        assert!(product::mends(cluster, &namespace), "before it is {what}");
        let start = Instant::now();
        happens();
        let mut unmended = 0;
        cluster.wait_for("mended pod", HOPELESS, || {
            // A pod may be mended before the API server has heard of the change.
            let found = bundles(cluster);
            if product::mends(cluster, &namespace) && found == trusted {
                return Ok(());
            }
            unmended += 1;
            Err(format!("{what}: {found:?}"))
        });
        let took = start.elapsed().as_secs_f64();
        println!("trust: {what}: mended again after {took:.1} s, {unmended} pods were not");
        assert!(took <= PROMISED, "{what}: pods unmended for {took:.1} s");
    }
    WARMGATE.wait_until_rolled_out(cluster, "controller");
}

/// The `caBundle` of every entry of both configurations.
pub(super) fn bundles(cluster: &Cluster) -> Vec<Value> {
    let found = CONFIGURATIONS.iter().filter_map(|path| cluster.get(path));
    let entries = found.flat_map(|found| found["webhooks"].as_array().cloned().unwrap_or_default());
    entries
        .map(|entry| entry["clientConfig"]["caBundle"].clone())
        .collect()
}

/// Writes `bundle`, in base64, into every entry.
pub(super) fn set(cluster: &Cluster, bundle: &str) {
    for path in CONFIGURATIONS {
        let found = cluster.get(path).unwrap_or_default();
        let entries = found["webhooks"].as_array().map_or(0, Vec::len);
        let patch: Vec<_> = (0..entries)
            .map(|entry| {
                let path = format!("/webhooks/{entry}/clientConfig/caBundle");
                json!({"op": "replace", "path": path, "value": bundle})
            })
            .collect();
        let kind = "application/json-patch+json";
        let answer = cluster.api("PATCH", path, kind, &json!(patch).to_string());
        assert_eq!(answer.status, 200, "{}", answer.body);
    }
}

/// Deletes the controller's pods, as a drain of their nodes does. Others come.
fn delete_controllers(cluster: &Cluster) {
    let selector = "--selector=app.kubernetes.io/component=controller";
    let delete = [
        "delete",
        "pods",
        selector,
        "--wait=false",
        "--namespace",
        NAMESPACE,
    ];
    cluster.kubectl(&delete, None).must();
}

/// Restarts the controller alone, which nobody notices.
fn restart(cluster: &Cluster, namespace: &Namespace<'_>) {
    let names = || -> Vec<_> {
        let pods = WARMGATE.pods(cluster, "controller").into_iter();
        pods.map(|pod| pod["metadata"]["name"].clone()).collect()
    };
    let before = names();
    delete_controllers(cluster);
    cluster.wait_for("other controllers", product::INSTALLED, || {
        assert!(product::mends(cluster, namespace), "while it restarts");
        let now = names();
        if now.iter().any(|name| before.contains(name)) {
            return Err(format!("{now:?}"));
        }
        Ok(())
    });
    WARMGATE.wait_until_rolled_out(cluster, "controller");
}

/// The certificate of an authority that nobody knows.
fn stranger() -> String {
    let made = KeyPair::generate().and_then(|key| {
        let params = CertificateParams::new(vec!["stranger".to_owned()])?;
        params.self_signed(&key)
    });
    made.unwrap_or_else(|error| panic!("{error}")).pem()
}
