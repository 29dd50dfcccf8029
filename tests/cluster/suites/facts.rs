//! Facts on their way: what a Namespace says reaches the pods that are made in it, by way of the controller and a mounted file.

use std::time::Duration;

use super::engine::{pod, template};
use crate::harness::cluster::Cluster;
use crate::harness::namespace::Namespace;
use crate::product::{MODE, WARMGATE};

/// The controller looks every few seconds, the kubelet when it is told to, and the webhook every five.
const DEADLINE: Duration = Duration::from_secs(180);

const DECLARES: &str = "warmgate.io/max-startup-time";
const HASH: &str = "warmgate.io/content-hash-facts";

/// What an annotation on the Namespace declares counts for a pod that declares nothing, until it is taken away.
pub(super) fn reach_the_webhook(cluster: &Cluster, _unlabelled: &Namespace<'_>) {
    let namespace = cluster.namespace("facts", &[(MODE, "fix")]);
    let mut silent = pod(template());
    silent["metadata"]["annotations"].take();
    let path = format!("{}?dryRun=All", namespace.path("pods", ""));
    let silent = silent.to_string();
    let wait_for = |failures: u64| {
        cluster.wait_for(&format!("{failures} failures"), DEADLINE, || {
            let answer = cluster.api("POST", &path, "application/json", &silent);
            let probe = &answer.body["spec"]["containers"][0]["startupProbe"];
            match probe["failureThreshold"].as_u64() {
                Some(found) if found == failures => Ok(()),
                _ => Err(answer.body.to_string()),
            }
        });
    };
    let annotate = |word: &str| {
        let annotate = [
            "annotate",
            "--overwrite",
            "namespace",
            namespace.name(),
            word,
        ];
        cluster.kubectl(&annotate, None).must();
    };
    // An hour, the default.
    wait_for(361);
    annotate(&format!("{DECLARES}=30m"));
    // 1.25 times 1800 s, and the one period that is never sure.
    wait_for(226);
    for pod in WARMGATE.pods(cluster, "webhook") {
        assert!(pod["metadata"]["annotations"][HASH].is_string(), "{pod}");
    }
    annotate(&format!("{DECLARES}=15m"));
    wait_for(114);
    annotate(&format!("{DECLARES}-"));
    wait_for(361);
}
