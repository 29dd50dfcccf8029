//! When probes come.

use std::time::Duration;

use serde_json::json;
use warmgate::kubelet::Micros;

use super::{BLINK, ENGINE, gaps, took};
use crate::conformance::Seen;
use crate::harness::cluster::Cluster;
use crate::harness::namespace::Namespace;
use crate::kubelet::runs::agreeing;

const DEADLINE: Duration = Duration::from_secs(120);

/// Point 6: a gRPC probe that is refused dials again until its timeout.
pub(crate) fn refused_grpc_takes_its_timeout(cluster: &Cluster, namespace: &Namespace<'_>) {
    let [run] = agreeing(cluster, namespace, ["refused-grpc"]);
    let failures = run.seen(ENGINE, Seen::StartupFailed);
    let kill = run.seen(ENGINE, Seen::StartupKills)[0];
    let first: Vec<Micros> = failures.into_iter().filter(|at| *at <= kill).collect();
    assert_eq!(first.len(), 3);
    for pair in first.windows(2) {
        took("a probe with a period of 2 s", pair[0], pair[1], 6);
    }
}

/// Point 7: a probe that outlasts its period is followed by the next one at once, one that ticks have been missed for by one
/// alone, and the grid stays where it was.
pub(crate) fn slow_probes_keep_the_grid(cluster: &Cluster, namespace: &Namespace<'_>) {
    let names = ["timeout-above-the-period", "one-slow-answer"];
    let [hangs, stalls] = agreeing(cluster, namespace, names);
    let kill = hangs.seen(ENGINE, Seen::LivenessKills)[0];
    let failures = hangs.seen(ENGINE, Seen::LivenessFailed);
    let first: Vec<Micros> = failures.into_iter().filter(|at| *at <= kill).collect();
    assert_eq!(first.len(), 3);
    for pair in first.windows(2) {
        took("a hang with a period of 2 s", pair[0], pair[1], 5);
    }

    let period = Micros::secs(5);
    let passes = stalls.seen(ENGINE, Seen::LivenessPassed);
    let pauses = gaps(&passes);
    let at_once: Vec<usize> = (0..pauses.len())
        .filter(|at| pauses[*at] <= BLINK)
        .collect();
    assert_eq!(at_once.len(), 1, "{passes:?}");
    // Before it is the probe that took so long; two ticks and more fell into it.
    let slow = at_once[0];
    assert!(slow > 0 && pauses[slow - 1] > period + period, "{passes:?}");
    let others: Vec<Micros> = passes[..slow]
        .iter()
        .chain(&passes[slow + 2..])
        .copied()
        .collect();
    assert!(others.len() >= 4, "{passes:?}");
    for at in &others {
        let beside = (*at - passes[0]).0.rem_euclid(period.0);
        let beside = beside.min(period.0 - beside);
        assert!(beside <= 2 * BLINK.0, "{at} of {passes:?}");
    }
}

/// Point 8: the initial delay counts from the start cut to the whole second.
pub(crate) fn delay_counts_from_the_whole_second(cluster: &Cluster, namespace: &Namespace<'_>) {
    // It is chance whether a probe falls between the two, so there are many of them.
    let runs = agreeing(cluster, namespace, ["delay-from-the-whole-second"; 6]);
    let mut sooner = 0;
    for run in &runs {
        for (container, delay) in [(ENGINE, 3), ("second", 4), ("third", 3), ("fourth", 4)] {
            let wall = run.observed.fraction;
            let first = run.seen(container, Seen::LivenessPassed)[0] + wall;
            let started = run.lives(container)[0].started + wall;
            let delay = Micros::secs(delay);
            // The kubelet goes by the runtime's word, which is a little older than its event.
            let sure = (started - BLINK).floor() + delay;
            assert!(first >= sure, "started at {started}, probed at {first}");
            sooner += usize::from(first + BLINK < started + delay);
        }
    }
    assert!(sooner > 0, "no probe came before its delay was over");
}

/// Point 9: while a container of a pod pulls its image or runs its postStart hook, no other is probed for the first time.
pub(crate) fn first_probe_waits_for_others(cluster: &Cluster, namespace: &Namespace<'_>) {
    pull(cluster, namespace);
    let [run] = agreeing(cluster, namespace, ["hook-of-a-neighbour"]);
    let (engine, neighbour) = (run.lives(ENGINE)[0], run.lives("neighbour")[0]);
    let first = run.seen(ENGINE, Seen::LivenessPassed)[0];
    assert!(engine.started < neighbour.started);
    let hook_ends = neighbour.started + Micros::secs(8);
    assert!(
        first + BLINK >= hook_ends,
        "probed at {first}, the hook ends at {hook_ends}"
    );
}

/// A registry that takes its time, and a pod of which one container is there and the other asks it for its image.
fn pull(cluster: &Cluster, namespace: &Namespace<'_>) {
    const REGISTRY: &str = "5099";
    let registry = json!({
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "registry"},
        "spec": {
            "hostNetwork": true,
            "containers": [{
                "name": "registry",
                "image": "slowserver:local",
                "args": ["--http", REGISTRY, "--answers-in", "6", "--on-term", "abort"],
                "readinessProbe": {"tcpSocket": {"port": 5099}, "periodSeconds": 1},
            }],
        },
    });
    let pod = json!({
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "pulls"},
        "spec": {
            "terminationGracePeriodSeconds": 1,
            "containers": [
                {
                    "name": ENGINE,
                    "image": "slowserver:local",
                    "args": ["--http", "8000", "--on-term", "abort"],
                    "readinessProbe": {"httpGet": {"port": 8000}, "periodSeconds": 1},
                },
                {"name": "waits", "image": format!("localhost:{REGISTRY}/waits:local")},
            ],
        },
    });
    for (name, object) in [("registry", &registry), ("pulls", &pod)] {
        let made = namespace.create("pods", object);
        assert_eq!(made.status, 201, "{}", made.body);
        if name == "registry" {
            namespace.ready(name, DEADLINE);
        }
    }
    // The first look of the API at the container that runs is after the other one's pull has failed.
    let status = |container: &str| {
        let pod = namespace.get("pods", "pulls").unwrap_or_default();
        let list = pod["status"]["containerStatuses"].as_array().cloned();
        let mut list = list.unwrap_or_default().into_iter();
        list.find(|one| one["name"] == container)
            .unwrap_or_default()
    };
    cluster.wait_for("ready container", DEADLINE, || {
        let (engine, waits) = (status(ENGINE), status("waits"));
        let reason = &waits["state"]["waiting"]["reason"];
        let failed = *reason == "ErrImagePull" || *reason == "ImagePullBackOff";
        if engine["ready"] != true {
            return Err(format!("{engine} {waits}"));
        }
        assert!(failed, "probed while the image is pulled: {engine} {waits}");
        Ok(())
    });
    let events = namespace.events("pulls");
    let at = |reason: &str, container: &str| {
        let field = format!("spec.containers{{{container}}}");
        let found = events.iter().find(|event| {
            event["reason"] == reason && event["involvedObject"]["fieldPath"] == *field
        });
        let found = found.unwrap_or_else(|| panic!("no {reason} of {container}: {events:?}"));
        found["firstTimestamp"]
            .as_str()
            .unwrap_or_default()
            .to_owned()
    };
    // The container was there all the while.
    assert!(at("Started", ENGINE) < at("Failed", "waits"), "{events:?}");
}
