//! When a container runs again.

use warmgate::kubelet::Micros;

use super::{BLINK, ENGINE};
use crate::conformance::{SHORT_BACK_OFF, Seen};
use crate::harness::versions;
use crate::kubelet::runs::{self, agreeing};

/// Point 3: a container that lives longer than the longest back-off never waits, however often it is killed. The node's longest
/// back-off is a few seconds here, which takes a cluster of its own.
pub(crate) fn long_lives_never_wait() {
    let kubernetes = versions::chosen().unwrap_or_else(|why| panic!("{why}"));
    let cluster = runs::cluster(kubernetes, "short-back-off", Some(SHORT_BACK_OFF));
    let cluster = cluster.unwrap_or_else(|fault| panic!("{fault}"));
    let namespace = cluster.namespace("long-lives", &[]);
    let [long, short] = agreeing(&cluster, &namespace, ["long-lives", "short-lives"]);
    drop(namespace);
    cluster.end().unwrap_or_else(|fault| panic!("{fault}"));

    let longest = Micros::secs(SHORT_BACK_OFF);
    let lives = long.lives(ENGINE);
    assert!(
        long.seen(ENGINE, Seen::LivenessKills).len() >= 5,
        "{lives:?}"
    );
    for life in lives.iter().filter(|life| life.ended.is_some()) {
        assert!(
            life.ended.expect("an instance that ended") - life.started > longest,
            "{life:?}"
        );
    }
    assert_eq!(long.events("BackOff"), Vec::<&str>::new());

    let lives = short.lives(ENGINE);
    let waits: Vec<Micros> = lives
        .windows(2)
        .map(|pair| pair[1].made - pair[0].ended.expect("an instance that ended"))
        .collect();
    assert!(waits.len() >= 3 && waits[0] < longest, "{waits:?}");
    assert!(
        waits[1..].iter().all(|wait| *wait + BLINK >= longest),
        "{waits:?}"
    );
}
