//! What is created while the webhook restarts.

use serde_json::Value;

use super::creations::{self, assert_all_asked, assert_all_mended, assert_none_failed, rate};
use crate::harness::cluster::Cluster;
use crate::harness::namespace::Namespace;
use crate::product::{MODE, NAMESPACE, WARMGATE};

/// Creations a second.
const RATE: u32 = 50;

/// How many there are at least: as many as a minute has room for.
const AT_LEAST: usize = 3000;

/// How many there are once the last webhook was told to leave: in 20 s it may be gone, because its lame duck lasts for 15 s.
const AFTERWARDS: usize = 1000;

/// A rolling restart under a steady load loses nothing: each replica is reachable for as long as anybody may still be sent to it.
pub(super) fn loses_nothing(cluster: &Cluster, _unlabelled: &Namespace<'_>) {
    let namespaces = [cluster.namespace("restart", &[(MODE, "fix")])];
    let before = webhooks(cluster);
    let created = creations::during(cluster, &namespaces, RATE, |creations| {
        let restart = ["rollout", "restart", "deployment/warmgate-webhook"];
        cluster
            .kubectl(&[&restart[..], &["--namespace", NAMESPACE]].concat(), None)
            .must();
        WARMGATE.wait_until_rolled_out(cluster, "webhook");
        creations.wait_until(AT_LEAST.max(creations.begun() + AFTERWARDS));
    });
    let stayed = WARMGATE.pods(cluster, "webhook").into_iter().filter(|pod| {
        pod["metadata"]["deletionTimestamp"].is_null() && before.contains(&pod["metadata"]["uid"])
    });
    assert_eq!(stayed.count(), 0);
    assert_none_failed(&created);
    assert_all_mended(cluster, &created);
    assert_all_asked(cluster, &namespaces);
    let rate = rate(&created);
    println!(
        "restart: {} created, {rate:.0} a second, 0 failed, 0 unmended",
        created.len()
    );
    assert!(
        rate > f64::from(RATE) / 2.0,
        "{rate:.0} a second are no load"
    );
}

/// Who the webhook's pods are.
fn webhooks(cluster: &Cluster) -> Vec<Value> {
    let pods = WARMGATE.pods(cluster, "webhook").into_iter();
    pods.map(|pod| pod["metadata"]["uid"].clone()).collect()
}
