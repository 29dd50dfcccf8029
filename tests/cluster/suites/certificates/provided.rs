//! A user's part: he fills a Secret.

use serde_json::Value;

use super::authority::Authority;
use super::{
    CONFIGURATIONS, GATE, MORE, RATE, SERVED, SERVICE, fill, helm, trust, trusted,
    wait_until_served, writers,
};
use crate::harness::cluster::Cluster;
use crate::product::{MODE, mends};
use crate::suites::creations::{self, assert_all_asked, assert_all_mended, assert_none_failed};

const SECRET: &str = "own";
const USER: &str = "user";

const VALUES: [&str; 4] = [
    "--set",
    "certificates.source=byo",
    "--set",
    "certificates.secretName=own",
];

/// The controller writes whom to trust where the Secret says so, and nobody else; where it does not, the user does.
pub(super) fn is_taken(cluster: &Cluster) {
    let put = |authority: &Authority, year, trusted: Option<&str>| {
        let leaf = authority.sign(&[SERVICE], year);
        fill(cluster, USER, SECRET, leaf.pair(), trusted);
        leaf
    };
    let one = Authority::make();
    let leaf = put(&one, 2051, Some(&one.certificate()));
    cluster.helm4(&helm("upgrade", &VALUES)).must();
    GATE.wait_until_mending(cluster);
    wait_until_served(cluster, &leaf);
    wait_until_written_by(cluster, "warmgate-controller");
    GATE.wait_until_mending(cluster);

    let leaf = put(&one, 2052, Some(&one.certificate()));
    wait_until_served(cluster, &leaf);

    // Another authority, step by step.
    let two = Authority::make();
    let both = one.certificate() + &two.certificate();
    let namespaces = [cluster.namespace("provided", &[(MODE, "fix")])];
    let created = creations::during(cluster, &namespaces, RATE, |creations| {
        fill(cluster, USER, SECRET, leaf.pair(), Some(&both));
        wait_until_trusted(cluster, 2);
        let leaf = put(&two, 2053, Some(&both));
        wait_until_served(cluster, &leaf);
        fill(cluster, USER, SECRET, leaf.pair(), Some(&two.certificate()));
        wait_until_trusted(cluster, 1);
        creations.wait_until(creations.begun() + MORE);
    });
    assert_none_failed(&created);
    assert_all_mended(cluster, &created);
    assert_all_asked(cluster, &namespaces);

    // Without a word of whom to trust.
    let three = Authority::make();
    let before = told(cluster);
    let leaf = put(&three, 2054, None);
    wait_until_told(cluster, &before);
    for path in CONFIGURATIONS {
        trust(cluster, USER, path, &three.certificate());
    }
    wait_until_served(cluster, &leaf);
    GATE.wait_until_mending(cluster);
    // And after the controller has looked again.
    let before = told(cluster);
    let leaf = put(&three, 2055, None);
    wait_until_told(cluster, &before);
    wait_until_served(cluster, &leaf);
    assert_eq!(writers(cluster), [USER.to_owned()].into());
    assert!(mends(cluster, &namespaces[0]));
}

#[track_caller]
fn wait_until_written_by(cluster: &Cluster, writer: &str) {
    let wanted = [writer.to_owned()].into();
    cluster.wait_for("caBundle", SERVED, || match writers(cluster) {
        found if found == wanted => Ok(()),
        found => Err(format!("{found:?}")),
    });
}

#[track_caller]
fn wait_until_trusted(cluster: &Cluster, authorities: usize) {
    let wanted = [authorities].into();
    cluster.wait_for("caBundle", SERVED, || match trusted(cluster) {
        found if found == wanted => Ok(()),
        found => Err(format!("{found:?}")),
    });
}

/// What the controller has told the webhook's pods of the certificate. It looks at the configurations before.
fn told(cluster: &Cluster) -> Vec<Value> {
    let key = "warmgate.io/content-hash-certificate";
    let pods = GATE.pods(cluster, "webhook").into_iter();
    pods.filter(|pod| pod["metadata"]["deletionTimestamp"].is_null())
        .map(|pod| pod["metadata"]["annotations"][key].clone())
        .collect()
}

#[track_caller]
fn wait_until_told(cluster: &Cluster, before: &[Value]) {
    cluster.wait_for("hash of the certificate", SERVED, || {
        let now = told(cluster);
        if now.iter().any(|hash| before.contains(hash)) {
            return Err(format!("{now:?}"));
        }
        Ok(())
    });
}
