//! What is created while no webhook answers.

use crate::harness::cluster::Cluster;
use crate::harness::command::Done;
use crate::harness::namespace::Namespace;
use crate::product::{self, MODE, WARMGATE, asks_for_an_accelerator, changes};

/// Without a webhook pods are created as they are; with one again they are mended.
pub(super) fn lets_pods_through(cluster: &Cluster, _unlabelled: &Namespace<'_>) {
    let namespace = cluster.namespace("outage", &[(MODE, "fix")]);
    let is_mended = |name: &str| {
        let pod = asks_for_an_accelerator(name).to_string();
        let answer = cluster.api(
            "POST",
            &namespace.path("pods", ""),
            "application/json",
            &pod,
        );
        assert_eq!(answer.status, 201, "{}", answer.body);
        changes(&answer.body).is_some()
    };
    assert!(is_mended("before"));
    let back = Back(cluster);
    scale(cluster, 0).must();
    WARMGATE.wait_until_rolled_out(cluster, "webhook");
    // A webhook that leaves answers once more on each connection that it has.
    let mut number = 0;
    cluster.wait_for("unmended pod", product::INSTALLED, || {
        number += 1;
        match is_mended(&format!("meanwhile-{number}")) {
            true => Err(format!("{number} are mended")),
            false => Ok(()),
        }
    });
    drop(back);
    WARMGATE.wait_until_mending(cluster);
    assert!(is_mended("after"));
}

/// Brings the webhooks back, also for the next suite when this one fails.
struct Back<'a>(&'a Cluster);

impl Drop for Back<'_> {
    fn drop(&mut self) {
        scale(self.0, 2);
    }
}

/// Sets how many webhooks there are to be.
fn scale(cluster: &Cluster, wanted: usize) -> Done {
    let replicas = format!("--replicas={wanted}");
    let scale = ["scale", "deployment/warmgate-webhook", &replicas];
    cluster.kubectl(
        &[&scale[..], &["--namespace", product::NAMESPACE]].concat(),
        None,
    )
}
