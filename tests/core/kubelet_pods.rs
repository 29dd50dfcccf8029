//! The simulated kubelet as the pod's worker: kills, restarts, back-off, sidecars, deletion.

use warmgate::facts::Version;
use warmgate::kubelet::{
    Container, ContainerState, Deletion, Endpoint, Exit, Kind, Life, Loading, Micros, OnTerm,
    Phase, Pod, PodState, PreStop, RestartPolicy, Scenario, Stall, Timeline, What, bounds,
    simulate, sweep,
};
use warmgate::subject::{Probe, Role};

use crate::kubelet::{exec, http, liveness, never, phase, run, startup};

/// A process that a shell hides SIGTERM from.
fn ignoring(life: Life) -> Life {
    Life {
        on_term: OnTerm::Ignores,
        ..life
    }
}

fn exiting(at: Micros, code: i64) -> Life {
    Life {
        exits: Some(Exit { at, code }),
        ..Life::AT_ONCE
    }
}

fn starts(timeline: &Timeline, container: usize) -> Vec<i64> {
    let starts = timeline.starts(container);
    starts.iter().map(|start| start.whole_seconds()).collect()
}

/// When `what` happens to a container, in whole seconds.
fn times(timeline: &Timeline, container: usize, what: What) -> Vec<i64> {
    timeline
        .of(container)
        .filter(|event| event.what == what)
        .map(|event| event.at.whole_seconds())
        .collect()
}

fn waits(timeline: &Timeline) -> Vec<(i64, i64)> {
    let waits = timeline.of(0).filter_map(|event| match event.what {
        What::BackOff { until } => Some((event.at.whole_seconds(), until.whole_seconds())),
        _ => None,
    });
    waits.collect()
}

/// A pod that is killed 40 s after each start and ends 30 s later.
fn life_of_seventy() -> (Pod, Life) {
    (
        Pod::of(vec![startup(http(4, 10, 5, 1))]),
        ignoring(never(Loading::Refused)),
    )
}

#[test]
fn a_life_of_seventy_seconds_restarts_at_once_five_times() {
    let (pod, life) = life_of_seventy();
    let timeline = run(&pod, life, &phase(Micros::ZERO), 790);
    assert_eq!(starts(&timeline, 0), [0, 70, 140, 210, 280, 350, 500, 730]);
    // The wait of 80 s counts from the exit at 420, the one of 160 s from the exit at 570.
    assert_eq!(waits(&timeline), [(420, 500), (570, 730)]);
    assert_eq!(timeline.restarts(0), 7);
}

/// The instance before had started. A kubelet from 1.35 on thinks so of the next one too, until the worker of its startup probe
/// has its next turn: while it loads the container is asked for its life, and without a readiness probe it stays ready.
#[test]
fn the_start_before_counts_until_the_startup_probe_has_its_turn() {
    let container = Container {
        startup: Some(http(6, 10, 0, 1)),
        ..liveness(http(2, 3, 0, 1))
    };
    let dies = Life {
        endpoint: Endpoint {
            stalls: vec![Stall {
                from: Micros::secs(12),
                to: Micros::NEVER,
            }],
            ..Life::loading(Micros::secs(5), Loading::Status503).endpoint
        },
        ..Life::AT_ONCE
    };
    let of = |minor: u32| {
        let pod = Pod {
            version: Version { minor },
            ..Pod::of(vec![container.clone()])
        };
        let timeline = run(&pod, dies.clone(), &phase(Micros::secs(1)), 29);
        // The second probe that finds nothing has begun at 16.
        assert_eq!(starts(&timeline, 0), [0, 17], "{timeline}");
        let probed = timeline.of(0).filter(|event| {
            let role = match event.what {
                What::ProbeFailed { role, .. } | What::ProbePassed { role, .. } => role,
                _ => return false,
            };
            role == Role::Liveness && event.at > Micros::secs(17)
        });
        let probed: Vec<i64> = probed.map(|event| event.at.whole_seconds()).collect();
        let [not_ready, not_yet] =
            [What::NotReady, What::StartedFalse].map(|what| times(&timeline, 0, what));
        (probed, not_ready, not_yet, timeline)
    };
    let (probed, not_ready, not_yet, timeline) = of(34);
    assert_eq!((not_ready, not_yet), (vec![17], vec![]), "{timeline}");
    assert_eq!(probed, Vec::<i64>::new(), "{timeline}");
    let (probed, not_ready, not_yet, timeline) = of(37);
    // The startup probe has its turn at 21, without a probe, and its next one at 31.
    assert_eq!((not_ready, not_yet), (vec![21], vec![21]), "{timeline}");
    assert_eq!(probed, [19], "{timeline}");
}

/// Workers that have their turn at the same moment see of each other what they happen to see.
#[test]
fn at_the_same_moment_the_start_before_counts_or_not() {
    let container = Container {
        startup: Some(http(6, 4, 0, 1)),
        ..liveness(http(1, 4, 0, 1))
    };
    let mut life = Life::loading(Micros::secs(3), Loading::Status503);
    life.endpoint.stalls.push(Stall {
        from: Micros::secs(6),
        to: Micros::NEVER,
    });
    let pod = Pod::of(vec![container]);
    let probed = |startup_first: bool| {
        let phase = Phase {
            startup_first,
            ..phase(Micros::secs(1))
        };
        // It passes at 5 and fails at 10; the next instance starts then, and both workers have their turn at 13.
        let timeline = run(&pod, life.clone(), &phase, 13);
        assert_eq!(starts(&timeline, 0), [0, 10], "{timeline}");
        let probed = timeline.of(0).filter(|event| {
            let passed = matches!(
                event.what,
                What::ProbePassed {
                    role: Role::Liveness,
                    ..
                }
            );
            passed && event.at > Micros::secs(10)
        });
        probed.count()
    };
    assert_eq!([probed(false), probed(true)], [1, 0]);
}

#[test]
fn an_older_kubelet_tries_again_every_ten_seconds() {
    let (pod, life) = life_of_seventy();
    let pod = Pod {
        version: Version { minor: 34 },
        ..pod
    };
    let mut phase = phase(Micros::ZERO);
    phase.latency.jitter = 50;
    let timeline = run(&pod, life.clone(), &phase, 570);
    // At 420, 435, ..., 495 it still waits.
    assert_eq!(starts(&timeline, 0).last(), Some(&510));
    let pod = Pod {
        version: Version { minor: 35 },
        ..pod
    };
    let timeline = run(&pod, life, &phase, 560);
    // At 420 it waits 60 s and half of it.
    assert_eq!(starts(&timeline, 0).last(), Some(&510));
}

#[test]
fn the_wait_starts_once_the_real_exit_is_known() {
    let (pod, life) = life_of_seventy();
    let mut phase = phase(Micros::ZERO);
    phase.latency.relist = Micros::secs(1);
    let timeline = run(&pod, life, &phase, 560);
    assert_eq!(waits(&timeline), [(420, 500)]);
    let state = timeline.state(0);
    assert!(matches!(state, ContainerState::Running { .. }), "{state:?}");
}

#[test]
fn a_life_of_five_minutes_never_backs_off() {
    let pod = Pod::of(vec![startup(http(28, 10, 0, 1))]);
    let life = ignoring(never(Loading::Refused));
    let timeline = run(&pod, life, &phase(Micros::ZERO), 1600);
    assert_eq!(starts(&timeline, 0), [0, 300, 600, 900, 1200, 1500]);
    assert_eq!(waits(&timeline), []);
}

#[test]
fn a_crash_backs_off_from_the_second_on() {
    let pod = Pod::of(vec![Container::named("engine")]);
    let timeline = run(
        &pod,
        exiting(Micros::secs(1), 1),
        &phase(Micros::ZERO),
        1000,
    );
    let expected = [0, 1, 12, 33, 74, 155, 316, 617, 918];
    assert_eq!(starts(&timeline, 0), expected);
    assert_eq!(
        timeline.state(0),
        ContainerState::BackOff {
            until: Micros::secs(1219)
        }
    );
}

#[test]
fn a_graceful_exit_in_back_off_completes_the_pod() {
    let pod = |restart_policy| Pod {
        restart_policy,
        ..Pod::of(vec![liveness(http(5, 1, 0, 1))])
    };
    let life = Life {
        on_term: OnTerm::Exits {
            after: Micros::ZERO,
            code: 0,
        },
        ..never(Loading::Refused)
    };
    let phase = phase(Micros::millis(500));
    let timeline = run(&pod(RestartPolicy::OnFailure), life.clone(), &phase, 100);
    // Killed at 4.5, 9.5 and 14.5: the third time the entry of 10 s holds it back, and the next sync sees a 0.
    assert_eq!(starts(&timeline, 0), [0, 4, 9]);
    assert_eq!(timeline.pod_state(), PodState::Completed);
    let timeline = run(&pod(RestartPolicy::Always), life, &phase, 100);
    assert_eq!(timeline.pod_state(), PodState::Alive);
    assert!(timeline.restarts(0) > 2);
}

#[test]
fn the_grace_period_of_the_probe_comes_first() {
    let probe = Probe {
        termination_grace: Some(5),
        ..http(1, 10, 0, 1)
    };
    let pod = Pod::of(vec![startup(probe)]);
    let timeline = run(
        &pod,
        ignoring(never(Loading::Refused)),
        &phase(Micros::secs(9)),
        15,
    );
    assert_eq!(times(&timeline, 0, What::Sigterm), [9]);
    assert_eq!(times(&timeline, 0, What::Sigkill), [14]);
    assert_eq!(times(&timeline, 0, What::Exited { code: 137 }), [14]);
    assert_eq!(times(&timeline, 0, What::Restarted(1)), [14]);
}

#[test]
fn the_last_container_of_a_pod_that_never_restarts_gets_the_pods_grace() {
    let probe = Probe {
        termination_grace: Some(2),
        ..http(1, 10, 0, 1)
    };
    let alone = Pod {
        restart_policy: RestartPolicy::Never,
        grace: 12,
        ..Pod::of(vec![startup(probe)])
    };
    let life = ignoring(never(Loading::Refused));
    let timeline = run(&alone, life.clone(), &phase(Micros::secs(9)), 60);
    assert_eq!(times(&timeline, 0, What::Sigkill), [21]);
    assert_eq!(timeline.pod_state(), PodState::Failed);
    assert_eq!(timeline.state(0), ContainerState::Terminated { code: 137 });

    let mut with_another = alone;
    with_another.containers.push(Container::named("proxy"));
    let timeline = run(&with_another, life, &phase(Micros::secs(9)), 60);
    assert_eq!(times(&timeline, 0, What::Sigkill), [11]);
    assert_eq!(timeline.pod_state(), PodState::Alive);
}

#[test]
fn a_drain_sleep_delays_every_crash_restart() {
    let container = Container {
        pre_stop: Some(PreStop::Takes(Micros::secs(15))),
        ..startup(http(1, 10, 0, 1))
    };
    let pod = Pod {
        grace: 60,
        ..Pod::of(vec![container])
    };
    let timeline = run(&pod, never(Loading::Refused), &phase(Micros::secs(9)), 28);
    assert_eq!(times(&timeline, 0, What::PreStopStarted), [9]);
    assert_eq!(
        times(&timeline, 0, What::PreStopEnded { cut_off: false }),
        [24]
    );
    assert_eq!(times(&timeline, 0, What::Sigterm), [24]);
    assert_eq!(starts(&timeline, 0), [0, 24]);
}

#[test]
fn containers_of_a_pod_are_killed_one_after_another() {
    let mut pod = Pod::of(vec![
        liveness(http(1, 10, 0, 1)),
        liveness(http(1, 10, 0, 1)),
    ]);
    pod.containers[1].name = "proxy".to_owned();
    let life = ignoring(never(Loading::Refused));
    let scenarios = [Scenario::always(life.clone()), Scenario::always(life)];
    let timeline = simulate(&pod, &scenarios, &phase(Micros::secs(5)), Micros::secs(64));
    // Both decide at 5. The first decision starts a sync that lasts until 35; the second waits for it.
    assert_eq!(timeline.first_kill(1).unwrap().at, Micros::secs(5));
    assert_eq!(times(&timeline, 0, What::Sigterm), [5]);
    assert_eq!(times(&timeline, 1, What::Sigterm), [35]);
    assert_eq!(starts(&timeline, 0), [0, 35]);
}

fn sidecar(name: &str, probe: Option<Probe>) -> Container {
    Container {
        kind: Kind::Sidecar,
        startup: probe,
        ..Container::named(name)
    }
}

#[test]
fn each_sidecar_waits_for_the_one_before() {
    let pod = Pod::of(vec![
        sidecar("first", Some(http(10, 5, 0, 1))),
        sidecar("second", None),
        Container::named("engine"),
    ]);
    let mut phase = phase(Micros::secs(2));
    phase.latency.publication = Micros::secs(1);
    let life = Life::loading(Micros::secs(20), Loading::Refused);
    let timeline = run(&pod, life, &phase, 100);
    assert_eq!(starts(&timeline, 0), [0]);
    assert_eq!(starts(&timeline, 1), [22]);
    assert_eq!(starts(&timeline, 2), [23]);
    assert_eq!(timeline.pod_ready_at(), Some(Micros::secs(24)));
}

#[test]
fn a_sidecar_restarts_whatever_the_pod_says() {
    let pod = Pod {
        restart_policy: RestartPolicy::Never,
        ..Pod::of(vec![
            sidecar("first", Some(http(2, 5, 0, 1))),
            Container::named("engine"),
        ])
    };
    let timeline = run(&pod, never(Loading::Refused), &phase(Micros::secs(2)), 60);
    assert!(timeline.restarts(0) >= 2);
    assert_eq!(timeline.state(1), ContainerState::Waiting);
    assert_eq!(timeline.pod_state(), PodState::Alive);
}

#[test]
fn sidecars_go_when_the_work_is_done() {
    let pod = Pod {
        restart_policy: RestartPolicy::OnFailure,
        ..Pod::of(vec![sidecar("first", None), Container::named("job")])
    };
    let scenarios = [
        Scenario::default(),
        Scenario {
            lives: vec![exiting(Micros::secs(10), 1), exiting(Micros::secs(20), 0)],
        },
    ];
    let timeline = simulate(&pod, &scenarios, &phase(Micros::ZERO), Micros::secs(100));
    assert_eq!(starts(&timeline, 1), [0, 10]);
    assert_eq!(times(&timeline, 0, What::Sigterm), [30]);
    assert_eq!(timeline.pod_state(), PodState::Completed);
}

#[test]
fn a_deleted_pod_ends_its_sidecars_last() {
    let hooked = |container: Container, seconds| Container {
        pre_stop: Some(PreStop::Takes(Micros::secs(seconds))),
        ..container
    };
    let engine = Container {
        readiness: Some(http(3, 1, 0, 1)),
        ..liveness(http(1, 5, 0, 1))
    };
    let pod = Pod {
        deletion: Some(Deletion {
            at: Micros::secs(100),
            grace: Some(40),
        }),
        ..Pod::of(vec![
            hooked(sidecar("first", None), 5),
            sidecar("second", None),
            hooked(engine, 15),
        ])
    };
    let drains = Life {
        on_term: OnTerm::Exits {
            after: Micros::secs(10),
            code: 0,
        },
        ..Life::AT_ONCE
    };
    let scenarios = [
        Scenario::default(),
        Scenario::always(ignoring(Life::AT_ONCE)),
        Scenario::always(drains),
    ];
    let timeline = simulate(&pod, &scenarios, &phase(Micros::ZERO), Micros::secs(200));
    assert_eq!(times(&timeline, 2, What::Sigterm), [115]);
    assert_eq!(times(&timeline, 2, What::Exited { code: 0 }), [125]);
    // The second waits 25 of its 40 s; the first until all are gone or its 35 s are over.
    assert_eq!(times(&timeline, 1, What::Sigterm), [125]);
    assert_eq!(times(&timeline, 1, What::Sigkill), [140]);
    assert_eq!(times(&timeline, 0, What::Sigterm), [140]);
    // Its failed liveness probes would have killed the engine; readiness goes on to the end.
    assert_eq!(timeline.kills(2), []);
    assert!(!times(&timeline, 2, What::NotReady).is_empty());
    assert_eq!(timeline.pod_state(), PodState::Deleted);
}

#[test]
fn a_deletion_waits_for_the_kill_under_way() {
    let pod = Pod {
        deletion: Some(Deletion {
            at: Micros::secs(10),
            grace: None,
        }),
        ..Pod::of(vec![liveness(http(1, 10, 0, 1))])
    };
    let timeline = run(
        &pod,
        ignoring(never(Loading::Refused)),
        &phase(Micros::secs(5)),
        200,
    );
    // Killed from 5 to 35, started again, and only then deleted.
    assert_eq!(starts(&timeline, 0), [0, 35]);
    assert_eq!(times(&timeline, 0, What::Sigkill), [35, 65]);
    assert_eq!(timeline.pod_state(), PodState::Deleted);
}

/// `sleep 60; touch /tmp/ready; sleep 3600` in a shell, asked with `cat /tmp/ready`, which takes its time also to fail.
fn slowboot(load: i64) -> Life {
    let mut life = Life::loading(Micros::secs(load), Loading::Status503);
    life.endpoint.answers_in = Micros::millis(40);
    ignoring(life)
}

#[test]
fn slowboot_is_killed_after_every_start_and_never_loads() {
    let pod = Pod::of(vec![liveness(exec(2, 5))]);
    for phase in Phase::grid(&pod, 100) {
        let timeline = run(&pod, slowboot(60), &phase, 1800);
        let kills = timeline.kills(0);
        assert!(kills.len() > 5, "{timeline}");
        let exec = Micros::millis(40);
        let least = Micros::secs(5);
        let most = Micros::secs(10) + exec + phase.latency.publication;
        for kill in &kills {
            assert_eq!(kill.role, Role::Liveness);
            assert!(least <= kill.after && kill.after <= most, "{timeline}");
        }
        // SIGKILL follows 30 s after each decision, unless the horizon comes first.
        let due: Vec<Micros> = kills
            .iter()
            .map(|kill| kill.at + Micros::secs(30))
            .collect();
        let killed: Vec<Micros> = timeline
            .of(0)
            .filter(|event| event.what == What::Sigkill)
            .map(|event| event.at)
            .collect();
        assert_eq!(killed[..], due[..killed.len()]);
        assert_eq!(timeline.loaded_at(0), None);
        // Two restarts at once, and again, until the doubled entry is longer than a life.
        assert!(!waits(&timeline).is_empty(), "{timeline}");
    }
}

#[test]
fn slowboot_depends_on_its_load() {
    let pod = Pod::of(vec![liveness(exec(2, 5))]);
    let phases = Phase::grid(&pod, 100);
    let killed = |load| {
        let scenarios = [Scenario::always(slowboot(load))];
        let spread = &sweep(&pod, &scenarios, &phases, Micros::secs(300))[0];
        (spread.killed, spread.phases)
    };
    assert_eq!(killed(4), (0, 300));
    assert_eq!(killed(60), (300, 300));
    let (some, all) = killed(7);
    assert!(0 < some && some < all);
}

#[test]
fn slowboot_with_a_startup_probe_is_ready_without_a_restart() {
    let startup = Probe {
        timeout: 3,
        ..exec(bounds::failure_threshold_for(75, 0, 5), 5)
    };
    assert_eq!(startup.failure_threshold, 16);
    let pod = Pod::of(vec![Container {
        startup: Some(startup),
        ..liveness(exec(2, 5))
    }]);
    let scenarios = [Scenario::always(slowboot(60))];
    let spread = &sweep(&pod, &scenarios, &Phase::grid(&pod, 100), Micros::secs(900))[0];
    assert_eq!((spread.ready, spread.killed), (spread.phases, 0));
    assert_eq!(spread.restarts, (0, 0));
    let (earliest, latest) = spread.ready_at.unwrap();
    assert!(Micros::secs(60) <= earliest && latest <= Micros::secs(66));
}

#[test]
fn a_deadline_ends_the_pod_for_good() {
    let engine = Container {
        pre_stop: Some(PreStop::Takes(Micros::secs(3))),
        ..startup(http(20, 2, 0, 1))
    };
    let pod = Pod {
        active_deadline: Some(Micros::secs(12)),
        grace: 10,
        ..Pod::of(vec![engine])
    };
    let timeline = run(&pod, never(Loading::Refused), &phase(Micros::ZERO), 100);
    assert_eq!(times(&timeline, 0, What::PreStopStarted), [12]);
    assert_eq!(times(&timeline, 0, What::Sigterm), [15]);
    assert_eq!(timeline.pod_state(), PodState::Failed);
    assert_eq!(timeline.restarts(0), 0);
    let said = timeline.to_string();
    assert!(
        said.contains("12 pod: is ended, activeDeadlineSeconds is over"),
        "{said}"
    );

    // Whichever comes first counts, with its grace period.
    let deleted = |at| Pod {
        deletion: Some(Deletion {
            at: Micros::secs(at),
            grace: Some(1),
        }),
        ..pod.clone()
    };
    for (at, state) in [(11, PodState::Deleted), (13, PodState::Failed)] {
        let timeline = run(
            &deleted(at),
            never(Loading::Refused),
            &phase(Micros::ZERO),
            100,
        );
        assert_eq!(timeline.pod_state(), state, "{timeline}");
    }
}
