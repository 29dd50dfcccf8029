//! What is created while no webhook answers.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::engine::{ENGINE, template, workload};
use super::stored::the_pod;
use crate::harness::cluster::Cluster;
use crate::harness::command::Done;
use crate::harness::namespace::Namespace;
use crate::product::{self, MODE, WARMGATE, asks_for_an_accelerator, changes};

/// How long the API server waits for an answer: `timeoutSeconds` of both configurations.
const CALL: Duration = Duration::from_secs(2);

/// What a busy machine may take besides.
const MARGIN: Duration = Duration::from_secs(10);

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
    assert!(is_mended("after"));
}

/// Webhooks that take calls and never answer cost each call its timeout, and no more; then the pod is created as it is.
pub(super) fn of_webhooks_that_hang(cluster: &Cluster, _unlabelled: &Namespace<'_>) {
    let namespace = cluster.namespace("outage-hanging", &[(MODE, "fix")]);
    assert!(product::mends(cluster, &namespace));
    let own = cluster
        .own()
        .expect("suites that stop containers run on a cluster of our own");
    let mut frozen = Vec::new();
    for pod in WARMGATE.pods(cluster, "webhook") {
        let id = pod["status"]["containerStatuses"][0]["containerID"].as_str();
        let id = id.unwrap_or_else(|| panic!("{pod}"));
        frozen.push(own.freeze(id).unwrap_or_else(|fault| panic!("{fault}")));
    }
    let start = Instant::now();
    let mended = product::mends(cluster, &namespace);
    let took = start.elapsed();
    drop(frozen);
    println!("outage: created after {:.1} s", took.as_secs_f64());
    assert!(!mended);
    assert!((CALL..2 * CALL + MARGIN).contains(&took), "{took:?}");
    WARMGATE.wait_until_mending(cluster);
}

/// Where the cluster's owner wants the judgement to be sure, an outage stops the workloads that people write in namespaces of mode
/// `enforce`, and nothing else: no pod, nothing that a controller wrote, nothing that is not ours, nothing anywhere else.
pub(super) fn where_the_policy_is_to_fail(cluster: &Cluster, _unlabelled: &Namespace<'_>) {
    let _back = Back(cluster);
    let fail = ["--set", "validating.failurePolicy=Fail"];
    product::upgrade(cluster, &fail).must();
    WARMGATE.wait_until_mending(cluster);
    let [enforce, fix] = ["enforce", "fix"]
        .map(|mode| cluster.namespace(&format!("outage-{mode}"), &[(MODE, mode)]));
    let mut deployment = workload("Deployment", template());
    deployment["spec"]["replicas"] = json!(0);
    let made = enforce.create("deployments", &deployment);
    assert_eq!(made.status, 201, "{}", made.body);

    scale(cluster, 0).must();
    WARMGATE.wait_until_rolled_out(cluster, "webhook");
    let create = |namespace: &Namespace<'_>, resource: &str, object: &Value| {
        let path = format!("{}?dryRun=All", namespace.path(resource, ""));
        cluster.api("POST", &path, "application/json", &object.to_string())
    };
    deployment["metadata"]["name"] = json!("another");
    // A webhook that leaves answers once more on each connection that it has.
    let refused = cluster.wait_for("refusal", product::INSTALLED, || {
        let answer = create(&enforce, "deployments", &deployment);
        match answer.status {
            201 => Err(answer.body.to_string()),
            _ => Ok(answer),
        }
    });
    assert_eq!(refused.status, 500, "{}", refused.body);
    let message = refused.body["message"].as_str().unwrap_or_default();
    assert!(
        message.contains("enforce.validate.warmgate.io"),
        "{message}"
    );

    let mut owned = deployment.clone();
    owned["metadata"]["ownerReferences"] = json!([{
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "name": ENGINE,
        "uid": made.body["metadata"]["uid"],
        "controller": true,
    }]);
    let mut other = deployment.clone();
    let template = &mut other["spec"]["template"];
    template["metadata"]["annotations"].take();
    template["spec"]["containers"][0]["resources"].take();
    for (namespace, resource, object) in [
        (&enforce, "deployments", &owned),
        (&enforce, "deployments", &other),
        (&enforce, "pods", &asks_for_an_accelerator("own")),
        (&fix, "deployments", &deployment),
    ] {
        let answer = create(namespace, resource, object);
        assert_eq!(answer.status, 201, "{object}: {}", answer.body);
    }
    // And what is there goes on: it is scaled, and its pods come.
    let scale = ["scale", "deployment/engine", "--replicas=1"];
    enforce.kubectl(&scale, None).must();
    the_pod(cluster, &enforce);
}

/// Brings the webhooks and the values back, also for the next suite when this one fails.
struct Back<'a>(&'a Cluster);

impl Drop for Back<'_> {
    fn drop(&mut self) {
        product::upgrade(self.0, &[]);
        scale(self.0, 2);
        WARMGATE.wait_until_mending(self.0);
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
