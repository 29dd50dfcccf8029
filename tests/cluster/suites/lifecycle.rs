//! Installing, upgrading and removing warmgate, by both Helms and without: nothing fails meanwhile, and nothing stays.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::creations::{self, Creation, Fate, assert_all_mended, assert_none_failed};
use crate::harness::cluster::Cluster;
use crate::harness::command::Done;
use crate::harness::inventory::inventory;
use crate::harness::namespace::Namespace;
use crate::product::{
    self, CHART, CONFIGURATIONS, INSTALLED, MODE, NAMESPACE, VALUES, WARMGATE,
    asks_for_an_accelerator, release,
};

/// How long what is deleted may take to go: webhooks drain for up to two minutes, and the garbage collector comes after them.
const GONE: Duration = Duration::from_secs(240);

/// Creations a second.
const RATE: u32 = 10;

/// Where the API has the namespace.
const NAMESPACE_PATH: &str = "/api/v1/namespaces/warmgate";

type Helm = fn(&Cluster, &[&str]) -> Done;

/// On a cluster of its own, because it takes away what others need.
pub(super) fn leaves_nothing() {
    let cluster = product::cluster("lifecycle");
    let labelled = |mode| cluster.namespace(mode, &[(MODE, mode)]);
    let namespaces = [
        labelled("fix"),
        labelled("enforce"),
        cluster.namespace("unlabelled", &[]),
    ];
    make_namespace(&cluster);
    let before = inventory(&cluster);

    goes_with_its_namespace(&cluster, &before);
    let mut upgraded = None;
    let created = creations::during(&cluster, &namespaces, RATE, |_| {
        let uninstalled = |helm: Helm| {
            helm(&cluster, &[&["uninstall"], &release()[..]].concat()).must();
            assert_nothing_left(&cluster, &namespaces, &before);
        };
        installed(&cluster, Cluster::helm4);
        upgraded = Some(upgrade(&cluster));
        uninstalled(Cluster::helm4);
        installed(&cluster, Cluster::helm3);
        emergency(&cluster, Cluster::helm3);
        uninstalled(Cluster::helm3);
        installed(&cluster, Cluster::helm4);
        emergency(&cluster, Cluster::helm4);
        delete_namespace(&cluster);
        // The leader did it: the garbage collector waits for the end of the owner, in which webhooks drain.
        assert!(cluster.get(NAMESPACE_PATH).is_some());
    });
    assert_none_failed(&created);
    let (asked, unlabelled): (Vec<_>, Vec<_>) =
        created.iter().partition(|creation| creation.namespace < 2);
    assert!(unlabelled.iter().all(|one| one.fate == Fate::Unmended));
    let [start, end] = upgraded.expect("it was upgraded");
    let meanwhile = |one: &&Creation| one.at > start && one.at < end;
    assert_all_mended(&cluster, asked.into_iter().filter(meanwhile));
    println!("lifecycle: {} created, 0 failed", created.len());
}

/// Without Helm and with nobody left: the configurations belong to the Namespace.
fn goes_with_its_namespace(cluster: &Cluster, before: &BTreeSet<String>) {
    // Nobody asks here, so that no connection keeps the webhooks.
    install(cluster, Cluster::helm4);
    for component in ["webhook", "controller"] {
        WARMGATE.wait_until_rolled_out(cluster, component);
    }
    cluster.wait_for("owner of the configurations", GONE, || {
        let owned = |path| {
            let found: Value = cluster.get(path).unwrap_or_default();
            found["metadata"]["ownerReferences"][0]["kind"] == "Namespace"
        };
        let all = CONFIGURATIONS.into_iter().all(owned);
        all.then_some(()).ok_or_else(|| "none".to_owned())
    });
    let deployments = [
        "deployment/warmgate-controller",
        "deployment/warmgate-webhook",
    ];
    let scale = [
        &["scale", "--replicas=0", "--namespace", NAMESPACE],
        &deployments[..],
    ]
    .concat();
    cluster.kubectl(&scale, None).must();
    for component in ["controller", "webhook"] {
        cluster.wait_for("end of the pods", GONE, || {
            match WARMGATE.pods(cluster, component).len() {
                0 => Ok(()),
                left => Err(format!("{left} of {component}")),
            }
        });
    }
    delete_namespace(cluster);
    cluster.wait_for("end of the namespace", GONE, || {
        match cluster.get(NAMESPACE_PATH) {
            None => Ok(()),
            Some(left) => Err(left["status"].to_string()),
        }
    });
    let left: Vec<_> = inventory(cluster).difference(before).cloned().collect();
    let rbac = "/apis/rbac.authorization.k8s.io/v1";
    assert_eq!(
        left,
        [
            format!("{rbac}/clusterrolebindings /warmgate-controller"),
            format!("{rbac}/clusterroles /warmgate-controller"),
        ]
    );
    make_namespace(cluster);
}

/// Makes the namespace, with what Kubernetes puts into each.
fn make_namespace(cluster: &Cluster) {
    cluster
        .kubectl(&["create", "namespace", NAMESPACE], None)
        .must();
    for object in ["serviceaccounts/default", "configmaps/kube-root-ca.crt"] {
        let path = format!("{NAMESPACE_PATH}/{object}");
        cluster.wait_for(object, GONE, || {
            cluster.get(&path).ok_or_else(|| "nothing".to_owned())
        });
    }
}

/// Deletes the namespace as a user does, and waits until the API server asks nobody any more.
fn delete_namespace(cluster: &Cluster) {
    let delete = ["delete", "namespace", NAMESPACE, "--wait=false"];
    cluster.kubectl(&delete, None).must();
    cluster.wait_for("end of the configurations", GONE, || {
        let left = CONFIGURATIONS
            .into_iter()
            .filter_map(|path| cluster.get(path));
        let left: Vec<_> = left
            .map(|found| found["metadata"]["name"].clone())
            .collect();
        if left.is_empty() {
            Ok(())
        } else {
            Err(format!("{left:?}"))
        }
    });
}

fn install(cluster: &Cluster, helm: Helm) {
    let command = [&["install"], &release()[..], &[CHART], &VALUES].concat();
    helm(cluster, &command).must();
}

/// Installs it, and waits until it works.
fn installed(cluster: &Cluster, helm: Helm) {
    install(cluster, helm);
    WARMGATE.wait_until_mending(cluster);
}

/// Changes what a startup window is where nobody says, and gives when that began and when it held.
fn upgrade(cluster: &Cluster) -> [Instant; 2] {
    let values = [
        "--set",
        "defaults.startupWindow=1200",
        "--set",
        "mutating.timeoutSeconds=3",
    ];
    let start = Instant::now();
    let command = [&["upgrade"], &release()[..], &[CHART], &VALUES, &values].concat();
    cluster.helm4(&command).must();
    WARMGATE.wait_until_mending(cluster);
    let end = Instant::now();
    let namespace = cluster.namespace("upgraded", &[(MODE, "fix")]);
    let mut pod = asks_for_an_accelerator("pod");
    pod["metadata"]["annotations"] = json!({});
    let path = format!("{}?dryRun=All", namespace.path("pods", ""));
    // A webhook that leaves answers once more on each connection that it has.
    cluster.wait_for("pod with the window of the values", INSTALLED, || {
        let answer = cluster.api("POST", &path, "application/json", &pod.to_string());
        let probe = &answer.body["spec"]["containers"][0]["startupProbe"];
        // 1 + 1200 / 10.
        if probe["failureThreshold"] == 121 {
            Ok(())
        } else {
            Err(answer.body.to_string())
        }
    });
    [start, end]
}

/// Deletes both configurations, as somebody does who wants warmgate out of the way now, and has Helm bring them back.
fn emergency(cluster: &Cluster, helm: Helm) {
    for (kind, name) in [("mutating", "00-warmgate"), ("validating", "warmgate")] {
        let kind = format!("{kind}webhookconfiguration");
        cluster.kubectl(&["delete", &kind, name], None).must();
    }
    let command = [&["upgrade"], &release()[..], &[CHART], &VALUES].concat();
    helm(cluster, &command).must();
    WARMGATE.wait_until_mending(cluster);
}

/// Waits until nothing is there that was not `before`, but in the namespaces of the suite.
#[track_caller]
fn assert_nothing_left(cluster: &Cluster, own: &[Namespace<'_>], before: &BTreeSet<String>) {
    let ours = |object: &str| {
        own.iter()
            .any(|one| object.contains(&format!(" {}/", one.name())))
    };
    cluster.wait_for("end of what was installed", GONE, || {
        let now = inventory(cluster);
        let left: Vec<_> = now
            .difference(before)
            .filter(|object| !ours(object))
            .collect();
        if left.is_empty() {
            Ok(())
        } else {
            Err(format!("{left:#?}"))
        }
    });
}
