//! warmgate as a user gets it: the image of this source tree, installed by its chart.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use serde_json::{Value, json};

use crate::harness::cluster::{Cluster, Options};
use crate::harness::command::Done;
use crate::harness::fault::{Fault, Outcome};
use crate::harness::namespace::Namespace;
use crate::harness::steps::Steps;
use crate::harness::versions;
use crate::image;

/// The name of the release, and of everything in it that has no longer one.
pub(crate) const RELEASE: &str = "warmgate";

/// The namespace it is installed in.
pub(crate) const NAMESPACE: &str = "warmgate";

/// Where the API has both webhook configurations.
pub(crate) const CONFIGURATIONS: [&str; 2] = [
    "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/00-warmgate",
    "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/warmgate",
];

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
/// What cargo, containerd or Helm says; or that somebody else's cluster has warmgate already.
pub(crate) fn install(cluster: &Cluster) -> Outcome<()> {
    if cluster.own().is_none() && cluster.get(&namespace()).is_some() {
        return Err(Fault::new(format!(
            "there is a namespace {NAMESPACE}: the suites install and remove their own, so remove yours first"
        )));
    }
    let steps = Steps::new(RELEASE);
    let image = steps.take("image built", image::product)?;
    cluster.load_image(&image);
    let installed = steps.take("installed", || {
        let command = ["upgrade", "--install", "--create-namespace"];
        cluster
            .helm4(&[&command[..], &release(), &[CHART], &VALUES].concat())
            .checked()?;
        // Whoever waits panics, as a suite does.
        let mends = || WARMGATE.wait_until_mending(cluster);
        catch_unwind(AssertUnwindSafe(mends)).map_err(|_| Fault::new("no pod is mended"))
    });
    if installed.is_err() && cluster.own().is_none() {
        uninstall(cluster)?;
    }
    installed
}

/// Starts a cluster for one suite, with the image and nothing installed.
///
/// # Panics
///
/// When it does not start.
#[track_caller]
pub(crate) fn cluster(name: &str) -> Cluster {
    let start = || {
        let image = image::product()?;
        let kubernetes = versions::chosen().map_err(Fault::new)?;
        let cluster = Cluster::start(&Options {
            kubernetes,
            name,
            kubelet: "",
        })?;
        cluster.load_image(&image);
        Ok(cluster)
    };
    start().unwrap_or_else(|fault: Fault| panic!("{fault}"))
}

/// Upgrades what [`install`] has installed to the same chart with these values besides, or back to none.
pub(crate) fn upgrade(cluster: &Cluster, values: &[&str]) -> Done {
    cluster.helm4(&[&["upgrade"], &release()[..], &[CHART], &VALUES, values].concat())
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
    let answer = cluster.api("DELETE", &namespace(), "application/json", "");
    if answer.status == 200 {
        return Ok(());
    }
    Err(Fault::new(answer.body))
}

/// Where the API has the namespace of the installation.
fn namespace() -> String {
    format!("/api/v1/namespaces/{NAMESPACE}")
}

/// The words that name the release in a command line of Helm.
pub(crate) fn release() -> [&'static str; 3] {
    [RELEASE, "--namespace", NAMESPACE]
}

/// An installation of the chart.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Release {
    /// Where it is installed.
    pub(crate) namespace: &'static str,
    /// What its objects are named after.
    pub(crate) fullname: &'static str,
}

/// The one that every suite finds installed.
pub(crate) const WARMGATE: Release = Release {
    namespace: NAMESPACE,
    fullname: RELEASE,
};

impl Release {
    /// The pods of a `component`, those that leave among them.
    ///
    /// # Panics
    ///
    /// When the API server refuses.
    #[track_caller]
    pub(crate) fn pods(&self, cluster: &Cluster, component: &str) -> Vec<Value> {
        let selector = format!("app.kubernetes.io/component%3D{component}");
        let path = format!(
            "/api/v1/namespaces/{}/pods?labelSelector={selector}",
            self.namespace
        );
        match cluster.get(&path).unwrap_or_default()["items"].take() {
            Value::Array(pods) => pods,
            _ => Vec::new(),
        }
    }

    /// What each pod of a `component` that is not about to leave tells Prometheus, by the pod's name.
    ///
    /// # Panics
    ///
    /// When the API server refuses.
    #[track_caller]
    pub(crate) fn metrics(&self, cluster: &Cluster, component: &str) -> BTreeMap<String, Done> {
        let stays = |pod: &Value| pod["metadata"]["deletionTimestamp"].is_null();
        let pods = self.pods(cluster, component).into_iter().filter(stays);
        let names = pods.filter_map(|pod| pod["metadata"]["name"].as_str().map(str::to_owned));
        names
            .map(|name| {
                let pod = format!("/api/v1/namespaces/{}/pods/{name}", self.namespace);
                let path = format!("{pod}:8080/proxy/metrics");
                let metrics = cluster.kubectl(&["get", "--raw", &path], None);
                (name, metrics)
            })
            .collect()
    }

    /// Waits until every pod of a `component`'s Deployment is available, and no other is left.
    ///
    /// # Panics
    ///
    /// When that takes too long.
    #[track_caller]
    pub(crate) fn wait_until_rolled_out(&self, cluster: &Cluster, component: &str) {
        let (namespace, fullname) = (self.namespace, self.fullname);
        let path =
            format!("/apis/apps/v1/namespaces/{namespace}/deployments/{fullname}-{component}");
        cluster.wait_for(&format!("rollout of {component}"), INSTALLED, || {
            let found = cluster.get(&path).ok_or("no such deployment")?;
            let status = &found["status"];
            let wanted = &found["spec"]["replicas"];
            let done = status["observedGeneration"] == found["metadata"]["generation"]
                && ["replicas", "updatedReplicas", "availableReplicas"]
                    .iter()
                    .all(|count| {
                        status[count].as_u64().unwrap_or(0) == wanted.as_u64().unwrap_or(1)
                    });
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
    pub(crate) fn wait_until_mending(&self, cluster: &Cluster) {
        for component in ["webhook", "controller"] {
            self.wait_until_rolled_out(cluster, component);
        }
        let namespace = cluster.namespace("mends", &[(MODE, "fix")]);
        cluster.wait_for("mended pod", INSTALLED, || {
            let mended = mends(cluster, &namespace);
            mended
                .then_some(())
                .ok_or_else(|| "an unmended one".to_owned())
        });
    }
}

/// Whether a pod that is created in `namespace`, as a dry run, is mended.
///
/// # Panics
///
/// When it is refused.
#[track_caller]
pub(crate) fn mends(cluster: &Cluster, namespace: &Namespace<'_>) -> bool {
    let path = format!("{}?dryRun=All", namespace.path("pods", ""));
    let pod = asks_for_an_accelerator("dry").to_string();
    let answer = cluster.api("POST", &path, "application/json", &pod);
    assert_eq!(answer.status, 201, "{}", answer.body);
    changes(&answer.body).is_some()
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
