//! Which results count, and for whom.

use warmgate::kubelet::Micros;

use super::{ENGINE, gaps};
use crate::conformance::Seen;
use crate::harness::cluster::Cluster;
use crate::harness::namespace::Namespace;
use crate::kubelet::runs::{Run, agreeing};

/// Point 1: a container that ends by itself leaves its run of failures to the next one.
pub(crate) fn runs_survive_a_crash(cluster: &Cluster, namespace: &Namespace<'_>) {
    let [run] = agreeing(cluster, namespace, ["crash-leaves-its-failures"]);
    let lives = run.lives(ENGINE);
    let (crash, kill) = (
        lives[0].ended.expect("an instance that ended"),
        run.seen(ENGINE, Seen::StartupKills)[0],
    );
    assert!(crash < kill && run.codes(ENGINE)[0] == 1, "{crash} {kill}");
    let failures = run.seen(ENGINE, Seen::StartupFailed);
    let before = failures.iter().filter(|at| **at <= crash).count();
    let after = failures
        .iter()
        .filter(|at| **at > crash && **at <= kill)
        .count();
    assert!(before >= 5 && after >= 1, "{failures:?}");
    // Ten in a row kill.
    assert_eq!(before + after, 10, "{failures:?}");
    let killed = "Container engine failed startup probe, will be restarted";
    assert_eq!(run.events("Killing")[0], killed);
}

/// Point 4: the head of a 200 and then nothing is an error after three tries, and errors are thrown away.
pub(crate) fn stalled_body_never_counts(cluster: &Cluster, namespace: &Namespace<'_>) {
    let [startup, liveness, between] = agreeing(
        cluster,
        namespace,
        [
            "stalled-body-of-a-startup-probe",
            "stalled-body-of-a-liveness-probe",
            "errors-between-failures",
        ],
    );
    let errors = startup.seen(ENGINE, Seen::StartupErrored);
    // Three tries of a second each, one probe after the other although the period is 2 s.
    let three = |gap: &Micros| *gap >= Micros::millis(2_900);
    assert!(
        errors.len() >= 5 && gaps(&errors).iter().all(three),
        "{errors:?}"
    );
    goes_on(&startup, Seen::StartupPassed, Seen::StartupFailed, false);
    let errors = liveness.seen(ENGINE, Seen::LivenessErrored);
    assert!(errors.len() >= 4, "{errors:?}");
    goes_on(&liveness, Seen::LivenessPassed, Seen::LivenessFailed, true);
    // Failures, errors, and failures again: together they are enough.
    let kill = between.seen(ENGINE, Seen::StartupKills)[0];
    let failures = between.seen(ENGINE, Seen::StartupFailed);
    assert_eq!(failures.iter().filter(|at| **at <= kill).count(), 6);
    let errors = between.seen(ENGINE, Seen::StartupErrored);
    assert!(
        failures[1] < errors[0] && errors[0] < failures[5],
        "{errors:?} {failures:?}"
    );
}

/// Point 5: a probe that cannot be made never kills, and a startup probe that cannot be made never passes.
pub(crate) fn missing_things_never_kill(cluster: &Cluster, namespace: &Namespace<'_>) {
    let [command, port] = agreeing(cluster, namespace, ["missing-command", "missing-port"]);
    let errors = command.seen(ENGINE, Seen::LivenessErrored);
    assert!(errors.len() >= 5, "{errors:?}");
    goes_on(&command, Seen::LivenessPassed, Seen::LivenessFailed, false);
    let errors = port.seen(ENGINE, Seen::StartupErrored);
    assert!(errors.len() >= 5, "{errors:?}");
    goes_on(&port, Seen::StartupPassed, Seen::StartupFailed, false);
    let said = port.events("Unhealthy");
    assert!(said[0].contains("unknown state"), "{said:?}");
}

/// Nothing has failed and nobody was killed.
#[track_caller]
fn goes_on(run: &Run, passes: Seen, fails: Seen, passed: bool) {
    assert_eq!(run.seen(ENGINE, fails), []);
    assert_eq!(!run.seen(ENGINE, passes).is_empty(), passed);
    assert_eq!(run.lives(ENGINE).len(), 1);
    assert_eq!(run.events("Killing"), Vec::<&str>::new());
}
