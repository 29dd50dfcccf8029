//! Certificates of our own that are made anew while pods are created.

use std::collections::BTreeSet;
use std::time::Duration;

use super::creations::{self, assert_all_asked, assert_all_mended, assert_none_failed};
use crate::harness::cluster::Cluster;
use crate::harness::namespace::Namespace;
use crate::product::{MODE, NAMESPACE, WARMGATE};

/// Creations a second.
const RATE: u32 = 20;

/// So many that each replica is asked again and again.
const MORE: usize = 100;

/// The looks of the controller, the kubelet and the webhook one after another, and how long a new authority is only trusted.
const SERVED: Duration = Duration::from_secs(180);

/// Somebody deletes the Secret with the certificate, and then the one with the authorities: both come back, another certificate is
/// served, and meanwhile no pod is refused or unmended.
pub(super) fn loses_nothing(cluster: &Cluster, _unlabelled: &Namespace<'_>) {
    let namespaces = [cluster.namespace("renewal", &[(MODE, "fix")])];
    let created = creations::during(cluster, &namespaces, RATE, |creations| {
        creations.wait_until(MORE);
        for secret in ["warmgate-tls", "warmgate-ca"] {
            let before = expiries(cluster);
            assert_eq!(before.len(), 1, "{before:?}");
            let delete = ["delete", "secret", secret, "--namespace", NAMESPACE];
            cluster.kubectl(&delete, None).must();
            cluster.wait_for("another certificate", SERVED, || {
                let now = expiries(cluster);
                if now.len() == 1 && now.is_disjoint(&before) {
                    Ok(())
                } else {
                    Err(format!("{secret}: {now:?}"))
                }
            });
            creations.wait_until(creations.begun() + MORE);
        }
    });
    assert_none_failed(&created);
    assert_all_mended(cluster, &created);
    assert_all_asked(cluster, &namespaces);
}

/// When the certificates end that the replicas serve.
fn expiries(cluster: &Cluster) -> BTreeSet<String> {
    let line = "warmgate_certificate_expiry_timestamp_seconds ";
    let metrics = WARMGATE.metrics(cluster, "webhook").into_values();
    let found = metrics.map(|metrics| {
        let metrics = metrics.out;
        let found = metrics.lines().find_map(|found| found.strip_prefix(line));
        found.map(str::to_owned).unwrap_or(metrics)
    });
    found.collect()
}
