//! warmgate as a user gets it: the image of this source tree, installed by its chart.

use std::time::Duration;

use serde_json::{Value, json};

use crate::harness::cluster::Cluster;
use crate::harness::fault::{Fault, Outcome};
use crate::harness::steps::Steps;
use crate::image;

/// The name of the release, and of everything in it that has no longer one.
pub(crate) const RELEASE: &str = "warmgate";

/// The namespace it is installed in.
pub(crate) const NAMESPACE: &str = "warmgate";

/// The chart.
pub(crate) const CHART: &str = "charts/warmgate";

/// The label by which a namespace opts in.
pub(crate) const MODE: &str = "warmgate.io/mode";

/// The annotation that names what we wrote.
pub(crate) const CHANGES: &str = "warmgate.io/changes";

/// How long an installation may take on a busy machine: pods start, a certificate is made, the API server hears of it.
pub(crate) const INSTALLED: Duration = Duration::from_secs(180);

/// The values of every installation here: the image that was loaded, which no registry has.
pub(crate) const VALUES: [&str; 6] = [
    "--set",
    "image.repository=docker.io/library/warmgate",
    "--set",
    "image.tag=local",
    "--set",
    "image.pullPolicy=Never",
];

/// Builds the image, loads it, installs the chart with Helm 4, and returns once a pod that is asked for is mended.
///
/// # Errors
///
/// What cargo, containerd or Helm says.
pub(crate) fn install(cluster: &Cluster) -> Outcome<()> {
    let steps = Steps::new(RELEASE);
    let image = steps.take("image built", image::product)?;
    cluster.load_image(&image);
    steps.take("installed", || {
        let command = ["upgrade", "--install", "--create-namespace"];
        cluster
            .helm4(&[&command[..], &release(), &[CHART], &VALUES].concat())
            .checked()?;
        wait_until_mending(cluster);
        Ok(())
    })
}

/// Removes what [`install`] has installed, from a cluster that goes on.
///
/// # Errors
///
/// What Helm or the API server says.
pub(crate) fn uninstall(cluster: &Cluster) -> Outcome<()> {
    cluster
        .helm4(&[&["uninstall", "--wait"], &release()[..]].concat())
        .checked()?;
    let path = format!("/api/v1/namespaces/{NAMESPACE}");
    let answer = cluster.api("DELETE", &path, "application/json", "");
    if answer.status == 200 {
        return Ok(());
    }
    Err(Fault::new(answer.body))
}

/// The words that name the release in a command line of Helm.
pub(crate) fn release() -> [&'static str; 3] {
    [RELEASE, "--namespace", NAMESPACE]
}

/// Waits until every pod of a Deployment of ours is available, and no other is left.
///
/// # Panics
///
/// When that takes too long.
#[track_caller]
pub(crate) fn wait_until_rolled_out(cluster: &Cluster, deployment: &str) {
    let path = format!("/apis/apps/v1/namespaces/{NAMESPACE}/deployments/{deployment}");
    cluster.wait_for(&format!("rollout of {deployment}"), INSTALLED, || {
        let found = cluster.get(&path).ok_or("no such deployment")?;
        let status = &found["status"];
        let wanted = &found["spec"]["replicas"];
        let done = status["observedGeneration"] == found["metadata"]["generation"]
            && ["replicas", "updatedReplicas", "availableReplicas"]
                .iter()
                .all(|count| status[count].as_u64().unwrap_or(0) == wanted.as_u64().unwrap_or(1));
        if done {
            Ok(())
        } else {
            Err(status.to_string())
        }
    });
}

/// Waits until both Deployments are rolled out and the API server trusts and asks the webhook.
///
/// # Panics
///
/// When that takes too long.
#[track_caller]
pub(crate) fn wait_until_mending(cluster: &Cluster) {
    for deployment in ["warmgate-webhook", "warmgate-controller"] {
        wait_until_rolled_out(cluster, deployment);
    }
    let namespace = cluster.namespace("mends", &[(MODE, "fix")]);
    cluster.wait_for("mended pod", INSTALLED, || {
        let answer = cluster.api(
            "POST",
            &format!("{}?dryRun=All", namespace.path("pods", "")),
            "application/json",
            &asks_for_an_accelerator("mended").to_string(),
        );
        if changes(&answer.body).is_some() {
            Ok(())
        } else {
            Err(answer.body.to_string())
        }
    });
}

/// A pod that no node runs, with a server that is mended wherever warmgate is asked.
pub(crate) fn asks_for_an_accelerator(name: &str) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "annotations": {"warmgate.io/max-startup-time": "15m"}},
        "spec": {
            "schedulerName": "nobody",
            "containers": [{
                "name": "engine",
                "image": "vllm/vllm-openai:v0.11.0",
                "resources": {"limits": {"nvidia.com/gpu": "1"}},
                "livenessProbe": {"httpGet": {"path": "/health", "port": 8000}},
            }],
        },
    })
}

/// What an object's `changes` say, or nothing where there are none.
///
/// # Panics
///
/// When they are no JSON.
#[track_caller]
pub(crate) fn changes(object: &Value) -> Option<Value> {
    let text = object["metadata"]["annotations"][CHANGES].as_str()?;
    match serde_json::from_str(text) {
        Ok(changes) => Some(changes),
        Err(error) => panic!("{error}: {text}"),
    }
}
