//! How containers end.

use serde_json::json;
use warmgate::kubelet::Micros;

use super::{BLINK, ENGINE, took};
use crate::conformance::{Case, Seen};
use crate::harness::cluster::Cluster;
use crate::harness::namespace::Namespace;
use crate::kubelet::runs::{Run, agreeing};
use crate::suites::said;

/// How the first instance of a container ends that is told to at 0.
struct End {
    name: &'static str,
    hook: Hook,
    /// When SIGTERM comes, in seconds.
    term: i64,
    /// When it ends, in seconds.
    end: i64,
    code: i64,
}

/// What becomes of the preStop hook.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Hook {
    None,
    Ends,
    IsCutOff,
}

const fn end(name: &'static str, hook: Hook, term: i64, end: i64, code: i64) -> End {
    End {
        name,
        hook,
        term,
        end,
        code,
    }
}

const KILLED: [End; 10] = [
    end("killed", Hook::None, 0, 0, 143),
    end("killed-and-drains", Hook::None, 0, 3, 0),
    end("killed-and-deaf", Hook::None, 0, 4, 137),
    end("killed-with-a-sleep", Hook::Ends, 3, 3, 143),
    end("killed-with-a-command-and-drains", Hook::Ends, 2, 4, 0),
    end("killed-with-a-command-too-long", Hook::IsCutOff, 3, 5, 137),
    end("grace-of-the-probe-is-shorter", Hook::None, 0, 2, 137),
    end("grace-of-the-probe-is-longer", Hook::None, 0, 6, 137),
    end(
        "grace-of-the-probe-cuts-the-hook",
        Hook::IsCutOff,
        3,
        5,
        137,
    ),
    end("grace-of-a-startup-probe", Hook::None, 0, 2, 137),
];

const DELETED: [End; 16] = [
    end("deleted", Hook::None, 0, 0, 143),
    end("deleted-and-drains", Hook::None, 0, 3, 0),
    end("deleted-and-deaf", Hook::None, 0, 4, 137),
    end("deleted-with-a-sleep", Hook::Ends, 3, 3, 143),
    end("deleted-with-a-sleep-and-deaf", Hook::Ends, 3, 6, 137),
    end("deleted-with-a-sleep-nearly-as-long", Hook::Ends, 3, 5, 137),
    end("deleted-with-a-command-and-drains", Hook::Ends, 3, 5, 0),
    end("deleted-with-a-command-too-long", Hook::IsCutOff, 4, 6, 137),
    end(
        "deleted-with-a-command-too-long-and-drains",
        Hook::IsCutOff,
        4,
        5,
        0,
    ),
    end(
        "deleted-with-a-command-too-long-and-aborts",
        Hook::IsCutOff,
        4,
        4,
        143,
    ),
    end(TOO_LONG, Hook::IsCutOff, 4, 6, 137),
    end(AS_TOLD, Hook::Ends, 6, 7, 0),
    end("deleted-with-one-second", Hook::None, 0, 2, 137),
    end("deleted-without-grace", Hook::None, 0, 2, 137),
    end("deleted-sooner", Hook::None, 0, 3, 137),
    end("deleted-later", Hook::None, 0, 6, 137),
];

/// A hook that takes longer than the grace period, and the same with the grace period that a rule asks for.
const TOO_LONG: &str = "deleted-with-a-hook-above-the-grace";
const AS_TOLD: &str = "deleted-with-the-grace-that-is-told";

/// A deletion: first the hook, then SIGTERM, and SIGKILL when the grace period is over, but no sooner than two seconds after
/// SIGTERM. What a rule says of grace periods is what happens.
pub(crate) fn of_deleted_pods(cluster: &Cluster, namespace: &Namespace<'_>) {
    let runs = agreeing(cluster, namespace, DELETED.map(|end| end.name));
    for (run, end) in runs.iter().zip(DELETED) {
        assert_eq!(run.events("Killing"), ["Stopping container engine"]);
        assert_eq!(run.lives(ENGINE).len(), 1, "{}", end.name);
        ends(run, &end);
        let said = judged(&run.telling.case);
        let said: Vec<&str> = said.iter().map(String::as_str).collect();
        match end.name {
            TOO_LONG => {
                let told = "takes 6 s of a grace period of 4 s, SIGKILL follows SIGTERM after 2 s: set terminationGracePeriodSeconds to 66";
                assert!(said.iter().any(|one| one.contains(told)), "{said:?}");
            }
            "deleted-with-one-second" => {
                let told = "terminationGracePeriodSeconds cuts requests off 2 s after SIGTERM";
                assert!(said.iter().any(|one| one.contains(told)), "{said:?}");
            }
            "deleted-and-deaf" => {
                let told = "terminationGracePeriodSeconds cuts requests off 4 s after SIGTERM";
                assert!(said.iter().any(|one| one.contains(told)), "{said:?}");
            }
            AS_TOLD => {
                assert_eq!(
                    run.telling.case.pod["spec"]["terminationGracePeriodSeconds"],
                    66
                );
                let grace = |one: &&&str| one.contains("terminationGracePeriodSeconds");
                assert_eq!(said.iter().find(grace), None);
            }
            _ => {}
        }
    }
}

/// What the rules say of the pod of a case that asks to be judged.
fn judged(case: &Case) -> Vec<String> {
    let mut pod = case.manifest("judged");
    pod["metadata"]["annotations"] = json!({
        "warmgate.io/accelerator": "true",
        "warmgate.io/containers": ENGINE,
    });
    said::findings(&pod)
}

/// A probe kill: the same, with the probe's own grace period if it has one, and then the container runs again.
pub(crate) fn of_killed_containers(cluster: &Cluster, namespace: &Namespace<'_>) {
    let runs = agreeing(cluster, namespace, KILLED.map(|end| end.name));
    for (run, end) in runs.iter().zip(KILLED) {
        let probe = if end.name == "grace-of-a-startup-probe" {
            "startup"
        } else {
            "liveness"
        };
        let killing = format!("Container engine failed {probe} probe, will be restarted");
        assert_eq!(run.events("Killing")[0], killing);
        let lives = run.lives(ENGINE);
        assert!(lives.len() > 1, "{}", end.name);
        // It has never run beside its successor.
        assert!(lives[0].ended.expect("an instance that ended") <= lives[1].started);
        ends(run, &end);
    }
}

#[track_caller]
fn ends(run: &Run, end: &End) {
    let name = end.name;
    let life = run.lives(ENGINE)[0];
    let killed = run.killed(ENGINE)[0];
    let ended = life.ended.unwrap_or_else(|| panic!("{name} does not end"));
    let term = run
        .term(ENGINE, 0)
        .unwrap_or_else(|| panic!("{name} gets no SIGTERM"));
    took(&format!("{name}: SIGTERM"), killed, term, end.term);
    took(&format!("{name}: the end"), killed, ended, end.end);
    assert_eq!(run.codes(ENGINE)[0], end.code, "{name}");
    let first = |seen: Seen| {
        run.seen(ENGINE, seen)
            .first()
            .copied()
            .filter(|at| *at <= ended)
    };
    let (begins, done, cut_off) = (
        first(Seen::PreStop),
        first(Seen::PreStopEnded),
        first(Seen::PreStopCutOff),
    );
    let seen = match (begins, done, cut_off) {
        (None, None, None) => Hook::None,
        (Some(_), Some(_), None) => Hook::Ends,
        (Some(_), None, Some(_)) => Hook::IsCutOff,
        other => panic!("{name}: {other:?}"),
    };
    assert!(seen == end.hook, "{name}: {begins:?} {done:?} {cut_off:?}");
    for over in [done, cut_off].into_iter().flatten() {
        assert!(
            over <= term + BLINK,
            "{name}: SIGTERM at {term}, the hook ends at {over}"
        );
    }
}

/// Point 2: a pod of which no container stays is killed as a whole, and that kill knows nothing of a probe's grace period.
pub(crate) fn of_the_last_container(cluster: &Cluster, namespace: &Namespace<'_>) {
    let names = ["last-container-of-a-pod", "one-of-two-containers"];
    let [last, one] = agreeing(cluster, namespace, names);
    assert_eq!(last.events("Killing"), ["Stopping container engine"]);
    ends(&last, &end(names[0], Hook::None, 0, 8, 137));
    // Nothing is said of a restart, for there is none.
    assert_eq!(
        one.events("Killing"),
        ["Container engine failed liveness probe"]
    );
    ends(&one, &end(names[1], Hook::None, 0, 2, 137));
    for run in [&last, &one] {
        assert_eq!(run.lives(ENGINE).len(), 1);
    }
    assert_eq!(one.codes("neighbour"), Vec::<i64>::new());
}

/// Sidecars end after the others, one after the other, and all in the one grace period.
pub(crate) fn of_sidecars(cluster: &Cluster, namespace: &Namespace<'_>) {
    let names = [
        "sidecars-end-last",
        "sidecar-with-a-hook",
        "sidecars-out-of-grace",
    ];
    let [order, hook, late] = agreeing(cluster, namespace, names);
    let ended = |run: &Run, name: &str| run.lives(name)[0].ended.expect("an instance that ended");
    let term = |run: &Run, name: &str| run.term(name, 0).expect("a server that got SIGTERM");
    let killed = |run: &Run, name: &str| run.killed(name)[0];
    for run in [&order, &hook] {
        // All are told at once, and each waits for its turn.
        took(
            "the second kill",
            killed(run, ENGINE),
            killed(run, "first"),
            0,
        );
        assert!(ended(run, ENGINE) <= term(run, "second") + BLINK);
        assert!(ended(run, "second") <= term(run, "first") + BLINK);
    }
    let at = order.seen("first", Seen::PreStop);
    assert_eq!(at, []);
    let at = hook.seen("second", Seen::PreStop)[0];
    took("the wait for the hook", killed(&hook, "second"), at, 0);
    took(
        "the hook",
        at,
        hook.seen("second", Seen::PreStopEnded)[0],
        4,
    );
    took("SIGTERM after the hook", at, term(&hook, "second"), 4);
    let begins = killed(&late, ENGINE);
    took("SIGKILL of the engine", begins, ended(&late, ENGINE), 4);
    for sidecar in ["first", "second"] {
        took("SIGTERM out of turn", begins, term(&late, sidecar), 4);
        took("SIGKILL of a sidecar", begins, ended(&late, sidecar), 6);
        assert_eq!(late.codes(sidecar), [137]);
    }
}

/// A deletion waits until a kill under way is done, and even for the restart.
pub(crate) fn of_a_pod_while_a_probe_kills(cluster: &Cluster, namespace: &Namespace<'_>) {
    let [run] = agreeing(cluster, namespace, ["deleted-while-a-probe-kills"]);
    let lives = run.lives(ENGINE);
    let deleted = run.said("SyncLoop DELETE")[0].at - run.zero;
    let (killed, ended) = (
        run.killed(ENGINE),
        lives[0].ended.expect("an instance that ended"),
    );
    assert!(
        killed[0] < deleted && deleted < ended,
        "{killed:?} {deleted} {ended}"
    );
    took("the first kill", killed[0], ended, 8);
    assert_eq!(lives.len(), 2);
    assert!(
        ended < lives[1].started && lives[1].started < killed[1],
        "{killed:?} {lives:?}"
    );
    took(
        "the second kill",
        killed[1],
        lives[1].ended.expect("an instance that ended"),
        8,
    );
    let said = [
        "Container engine failed liveness probe, will be restarted",
        "Stopping container engine",
    ];
    assert_eq!(run.events("Killing"), said);
    let never: Vec<Micros> = run.seen(ENGINE, Seen::BackOff);
    assert_eq!(never, []);
}
