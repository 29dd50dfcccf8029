//! When a container runs again.

use warmgate::kubelet::Micros;

use super::{BLINK, ENGINE};
use crate::conformance::{SHORT_BACK_OFF, Seen};
use crate::harness::cluster::Cluster;
use crate::harness::namespace::Namespace;
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

/// Point 10: with restartPolicy OnFailure a container that a probe kills and that ends with 0 runs again while it need not wait.
/// When it must, its 0 is seen, and its pod is done.
pub(crate) fn clean_end_in_back_off_is_the_last(cluster: &Cluster, namespace: &Namespace<'_>) {
    let [run] = agreeing(cluster, namespace, ["clean-end-in-back-off"]);
    let (lives, kills) = (run.lives(ENGINE), run.seen(ENGINE, Seen::LivenessKills));
    assert!(lives.len() >= 2, "{lives:?}");
    assert_eq!(kills.len(), lives.len());
    assert!(run.codes(ENGINE).iter().all(|code| *code == 0));
    let waits = run.seen(ENGINE, Seen::BackOff);
    assert_eq!(waits.len(), 1, "{waits:?}");
    let last = lives[lives.len() - 1]
        .ended
        .expect("an instance that ended");
    assert!(last <= waits[0], "{lives:?} {waits:?}");
    // It is taken down long before the wait would be over, and nobody has deleted it.
    assert_eq!(run.telling.case.removal, None);
    let done = run.observed.deleted.expect("a pod that is done");
    assert!(done <= waits[0] + Micros::secs(5), "{done} {waits:?}");
}
