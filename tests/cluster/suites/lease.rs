//! The controller that leads dies without a word: who leads then, and that the work goes on.

use std::time::{Duration, Instant};

use k8s_openapi::jiff::Timestamp;
use serde_json::Value;

use super::trust::{bundles, set};
use crate::harness::cluster::Cluster;
use crate::harness::namespace::{Namespace, is_ready};
use crate::product::{self, MODE, NAMESPACE, WARMGATE};

/// After this there is no hope: a lease lasts for ten seconds, and is looked at every two.
const HOPELESS: Duration = Duration::from_secs(180);

/// Where the API has the lease.
const LEASE: &str = "/apis/coordination.k8s.io/v1/namespaces/warmgate/leases/warmgate-controller";

/// Nobody brings the leader back, as on a node that hangs: the other takes the lease once it is over and does the work, and the old one
/// leaves it to that one. The next one that is killed the kubelet brings back at once.
pub(super) fn outlives_its_leader(cluster: &Cluster, _unlabelled: &Namespace<'_>) {
    let own = cluster.own().expect("it is a cluster of our own");
    let namespace = cluster.namespace("lease", &[(MODE, "fix")]);
    let trusted = bundles(cluster);
    assert!(trusted.iter().all(Value::is_string), "{trusted:?}");
    let works = |what: &str| {
        cluster.wait_for(what, HOPELESS, || {
            let found = bundles(cluster);
            (found == trusted)
                .then_some(())
                .ok_or_else(|| format!("{found:?}"))
        });
    };

    let first = leader(cluster);
    let kubelet = own.pause("kubelet").unwrap_or_else(|why| panic!("{why}"));
    kill(cluster, &first);
    let before = lease(cluster);
    let start = Instant::now();
    set(cluster, "");
    works("authority that another leader wrote");
    let took = start.elapsed().as_secs_f64();
    let after = lease(cluster);
    let second = leader(cluster);
    assert_ne!(second, first);
    let transitions = [&before, &after].map(|spec| spec["leaseTransitions"].as_i64());
    assert_eq!(transitions[1], transitions[0].map(|count| count + 1));
    // It was over.
    let silent = time(&after["acquireTime"]).duration_since(time(&before["renewTime"]));
    let holds = before["leaseDurationSeconds"].as_i64().unwrap_or(i64::MAX);
    assert!(silent.as_secs() >= holds, "{before} {after}");
    println!(
        "lease: taken after {:.1} s without a renewal; mended {took:.1} s after the end",
        silent.as_secs_f64()
    );
    drop(kubelet);
    comes_back(cluster, &first);
    assert_eq!(leader(cluster), second);

    kill(cluster, &second);
    set(cluster, "");
    works("authority that is written again");
    comes_back(cluster, &second);
    WARMGATE.wait_until_rolled_out(cluster, "controller");
    assert!(product::mends(cluster, &namespace));
}

/// What the lease says.
fn lease(cluster: &Cluster) -> Value {
    let lease = cluster.get(LEASE);
    lease.unwrap_or_else(|| panic!("there is no lease"))["spec"].take()
}

/// The pod that holds the lease.
fn leader(cluster: &Cluster) -> String {
    let spec = lease(cluster);
    let holder = spec["holderIdentity"].as_str();
    holder
        .unwrap_or_else(|| panic!("nobody leads: {spec}"))
        .to_owned()
}

fn pod(cluster: &Cluster, name: &str) -> Value {
    let path = format!("/api/v1/namespaces/{NAMESPACE}/pods/{name}");
    let pod = cluster.get(&path);
    pod.unwrap_or_else(|| panic!("there is no {name}"))
}

/// Kills the program of a pod, which can say nothing any more.
fn kill(cluster: &Cluster, name: &str) {
    let own = cluster.own().expect("it is a cluster of our own");
    let pod = pod(cluster, name);
    let id = pod["status"]["containerStatuses"][0]["containerID"].as_str();
    let id = id.unwrap_or_else(|| panic!("{name} does not run: {pod}"));
    own.kill(id).unwrap_or_else(|why| panic!("{why}"));
}

/// Waits until a pod that was killed is ready again: it has looked at the lease.
fn comes_back(cluster: &Cluster, name: &str) {
    cluster.wait_for("pod that is back", HOPELESS, || {
        let pod = pod(cluster, name);
        let ended = &pod["status"]["containerStatuses"][0]["lastState"]["terminated"];
        if ended["exitCode"] == 137 && is_ready(&pod) {
            Ok(())
        } else {
            Err(pod["status"].to_string())
        }
    });
}

#[track_caller]
fn time(value: &Value) -> Timestamp {
    let text = value.as_str().unwrap_or_default();
    text.parse()
        .unwrap_or_else(|error| panic!("{error}: {value}"))
}
