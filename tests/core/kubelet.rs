//! The simulated kubelet against the vectors that were read off the kubelet's source.

use warmgate::facts::Version;
use warmgate::kubelet::{
    Container, Endpoint, Exit, Latency, Life, Loading, Micros, Phase, Pod, Scenario, Stall,
    Timeline, What, bounds, simulate, sweep,
};
use warmgate::subject::{Handler, Port, Probe, Role};

/// A failure threshold, a period, an initial delay and a timeout on an HTTP handler.
pub(crate) fn http(failure_threshold: i64, period: i64, initial_delay: i64, timeout: i64) -> Probe {
    let handler = Handler::Http {
        host: None,
        path: "/health".to_owned(),
        port: Port::Number(8000),
        https: false,
        headers: Vec::new(),
    };
    Probe {
        handler,
        initial_delay,
        period,
        timeout,
        failure_threshold,
        success_threshold: 1,
        termination_grace: None,
    }
}

pub(crate) fn exec(failure_threshold: i64, period: i64) -> Probe {
    Probe {
        handler: Handler::Exec {
            command: vec!["cat".to_owned(), "/tmp/ready".to_owned()],
        },
        ..http(failure_threshold, period, 0, 1)
    }
}

fn tcp(failure_threshold: i64, period: i64) -> Probe {
    Probe {
        handler: Handler::Tcp {
            host: None,
            port: Port::Number(8000),
        },
        ..http(failure_threshold, period, 0, 1)
    }
}

pub(crate) fn grpc(failure_threshold: i64, period: i64, timeout: i64) -> Probe {
    Probe {
        handler: Handler::Grpc {
            port: 8000,
            service: String::new(),
        },
        ..http(failure_threshold, period, 0, timeout)
    }
}

pub(crate) fn startup(probe: Probe) -> Container {
    Container {
        startup: Some(probe),
        ..Container::named("engine")
    }
}

pub(crate) fn liveness(probe: Probe) -> Container {
    Container {
        liveness: Some(probe),
        ..Container::named("engine")
    }
}

/// A phase in which the kubelet's own parts take no time.
pub(crate) fn phase(tick: Micros) -> Phase {
    Phase {
        latency: Latency::NONE,
        ..Phase::of(tick, Micros::ZERO)
    }
}

pub(crate) fn run(pod: &Pod, life: Life, phase: &Phase, horizon: i64) -> Timeline {
    simulate(pod, &[Scenario::always(life)], phase, Micros::secs(horizon))
}

pub(crate) fn never(while_loading: Loading) -> Life {
    Life::loading(Micros::NEVER, while_loading)
}

fn first_kill(timeline: &Timeline) -> Option<Micros> {
    timeline.first_kill(0).map(|kill| kill.at)
}

#[test]
fn a_refusal_kills_after_whole_periods() {
    let pod = Pod::of(vec![startup(http(30, 10, 0, 1))]);
    let timeline = run(
        &pod,
        never(Loading::Refused),
        &phase(Micros::millis(6800)),
        400,
    );
    assert_eq!(first_kill(&timeline), Some(Micros::millis(296_800)));
}

#[test]
fn a_hang_adds_its_timeout() {
    let pod = Pod::of(vec![startup(http(3, 10, 0, 5))]);
    let timeline = run(
        &pod,
        never(Loading::Hang),
        &phase(Micros::millis(6800)),
        100,
    );
    assert_eq!(first_kill(&timeline), Some(Micros::millis(31_800)));
}

#[test]
fn a_timeout_above_the_period_sets_the_pace() {
    let pod = Pod::of(vec![startup(http(3, 10, 0, 15))]);
    let timeline = run(
        &pod,
        never(Loading::Hang),
        &phase(Micros::millis(6800)),
        100,
    );
    let fails: Vec<Micros> = timeline
        .of(0)
        .filter(|event| matches!(event.what, What::ProbeFailed { .. }))
        .map(|event| event.at)
        .take(3)
        .collect();
    let at = [21_800, 36_800, 51_800].map(Micros::millis);
    assert_eq!(fails, at);
    assert_eq!(first_kill(&timeline), Some(Micros::millis(51_800)));
}

#[test]
fn the_delay_counts_from_the_second_before_the_start() {
    // The container starts at 100.7 on the wall clock, so what is 29.3 s later is 130.0.
    let pod = Pod::of(vec![startup(http(1, 1, 30, 1))]);
    for (fraction, first) in [(700, 29_300), (0, 30_300)] {
        let phase = Phase {
            fraction: Micros::millis(fraction),
            ..phase(Micros::millis(300))
        };
        let timeline = run(&pod, never(Loading::Refused), &phase, 100);
        assert_eq!(first_kill(&timeline), Some(Micros::millis(first)));
    }
}

#[test]
fn the_publication_delays_the_first_probe() {
    let pod = Pod::of(vec![startup(http(3, 10, 0, 1))]);
    let mut phase = phase(Micros::secs(2));
    phase.latency.publication = Micros::secs(3);
    let timeline = run(&pod, never(Loading::Refused), &phase, 100);
    assert_eq!(first_kill(&timeline), Some(Micros::secs(32)));
}

/// A kubelet that takes no time for anything but showing an instance.
fn published_after(seconds: i64) -> Latency {
    Latency {
        publication: Micros::secs(seconds),
        ..Latency::NONE
    }
}

#[test]
fn each_instance_may_be_published_in_its_own_time() {
    let pod = Pod::of(vec![startup(http(3, 10, 0, 1))]);
    let mut phase = phase(Micros::secs(2));
    phase.latencies = vec![
        (0, 0, published_after(3)),
        (0, 1, published_after(11)),
        (1, 2, published_after(9)),
    ];
    let timeline = run(&pod, never(Loading::Refused), &phase, 110);
    let kills = timeline.kills(0);
    let at: Vec<Micros> = kills.iter().map(|kill| kill.at).collect();
    // Shown at 3, at 32 + 11, and of the third instance nothing is said.
    assert_eq!(at, [32, 72, 102].map(Micros::secs));
}

#[test]
fn each_instance_has_its_own_latencies() {
    let pod = Pod::of(vec![startup(http(3, 10, 0, 1))]);
    let mut phase = phase(Micros::secs(2));
    let slow = Latency {
        start: Micros::secs(1),
        sync: Micros::secs(4),
        ..Latency::NONE
    };
    phase.latencies = vec![(0, 0, slow)];
    let timeline = run(&pod, never(Loading::Refused), &phase, 100);
    // Failures at 2, 12 and 22, and the sync that kills it comes 4 s later.
    assert_eq!(first_kill(&timeline), Some(Micros::secs(22)));
    assert_eq!(timeline.starts(0)[..2], [1, 26].map(Micros::secs));
}

#[test]
fn no_other_sync_publishes_an_instance_before_its_time() {
    let flapping = Container {
        readiness: Some(http(1, 1, 0, 1)),
        ..Container::named("proxy")
    };
    let pod = Pod::of(vec![startup(http(3, 10, 0, 1)), flapping]);
    let mut phase = phase(Micros::secs(2));
    phase.latencies = vec![(0, 0, published_after(15))];
    let timeline = run(&pod, never(Loading::Refused), &phase, 100);
    // The proxy is shown at once, and its readiness brings a sync about at 0.
    assert!(
        timeline
            .of(1)
            .any(|event| event.what == What::StartedTrue && event.at == Micros::ZERO)
    );
    assert_eq!(first_kill(&timeline), Some(Micros::secs(42)));
}

#[test]
fn a_container_that_dies_by_itself_leaves_its_failures_behind() {
    let pod = Pod::of(vec![startup(http(30, 10, 0, 1))]);
    let crash = Life {
        exits: Some(Exit {
            at: Micros::secs(200),
            code: 137,
        }),
        ..never(Loading::Refused)
    };
    // Twenty failures at 6.8, ..., 196.8; the next container starts at 200 and has ten left.
    let timeline = run(&pod, crash, &phase(Micros::millis(6800)), 400);
    let kill = timeline.first_kill(0).unwrap();
    assert_eq!(kill.at, Micros::millis(206_800) + Micros::secs(90));
    assert_eq!(kill.after, Micros::millis(96_800));
}

#[test]
fn a_kill_clears_the_failures() {
    let pod = Pod::of(vec![startup(http(3, 10, 0, 1))]);
    let timeline = run(&pod, never(Loading::Refused), &phase(Micros::secs(5)), 100);
    let kills = timeline.kills(0);
    let after: Vec<Micros> = kills.iter().map(|kill| kill.after).take(2).collect();
    assert_eq!(after, [Micros::secs(25), Micros::secs(30)]);
}

#[test]
fn nothing_is_probed_while_the_pod_worker_is_busy() {
    let proxy = Container {
        pull: Micros::secs(60),
        ..Container::named("proxy")
    };
    let pod = Pod::of(vec![startup(http(3, 10, 0, 1)), proxy]);
    let timeline = run(&pod, never(Loading::Refused), &phase(Micros::secs(5)), 200);
    assert_eq!(timeline.starts(0)[0], Micros::ZERO);
    assert_eq!(timeline.starts(1)[0], Micros::secs(60));
    assert_eq!(first_kill(&timeline), Some(Micros::secs(85)));

    let hooked = Container {
        post_start: Micros::secs(40),
        ..startup(http(3, 10, 0, 1))
    };
    let timeline = run(
        &Pod::of(vec![hooked]),
        never(Loading::Refused),
        &phase(Micros::secs(5)),
        200,
    );
    assert_eq!(first_kill(&timeline), Some(Micros::secs(65)));
}

#[test]
fn liveness_and_readiness_wait_for_the_startup_probe() {
    let pod = Pod::of(vec![Container {
        liveness: Some(http(3, 10, 0, 1)),
        readiness: Some(http(3, 30, 0, 1)),
        ..startup(http(60, 10, 0, 1))
    }]);
    let life = Life::loading(Micros::secs(300), Loading::Refused);
    let timeline = run(&pod, life, &phase(Micros::secs(7)), 400);
    let first = |role| {
        let probes = timeline.of(0).find(|event| match event.what {
            What::ProbePassed { role: of, .. } | What::ProbeFailed { role: of, .. } => of == role,
            _ => false,
        });
        probes.unwrap().at
    };
    assert_eq!(first(Role::Startup), Micros::secs(7));
    // The probe at 307 passes, and the liveness worker's turn at 307 is over by then: its own grid goes on at 317. Readiness is
    // asked at once and from there on every 30 s.
    assert_eq!(timeline.ready_at(0), Some(Micros::secs(307)));
    assert_eq!(first(Role::Liveness), Micros::secs(317));
    let readiness: Vec<i64> = timeline
        .of(0)
        .filter(|event| {
            matches!(
                event.what,
                What::ProbePassed {
                    role: Role::Readiness,
                    ..
                }
            )
        })
        .map(|event| event.at.whole_seconds())
        .collect();
    assert_eq!(readiness, [307, 337, 367, 397]);
    assert_eq!(timeline.kills(0), []);
}

#[test]
fn a_refused_grpc_probe_takes_its_whole_timeout() {
    let pod = Pod::of(vec![startup(grpc(3, 2, 6))]);
    let timeline = run(&pod, never(Loading::Refused), &phase(Micros::secs(1)), 60);
    let fails: Vec<Micros> = timeline
        .of(0)
        .filter(|event| matches!(event.what, What::ProbeFailed { .. }))
        .map(|event| event.at)
        .take(3)
        .collect();
    assert_eq!(fails, [7, 13, 19].map(Micros::secs));
    assert_eq!(first_kill(&timeline), Some(Micros::secs(19)));
}

#[test]
fn a_connection_is_all_that_tcp_asks_for() {
    let pod = Pod::of(vec![startup(tcp(3, 10))]);
    let mut life = never(Loading::Hang);
    life.endpoint.listens_at = Micros::secs(12);
    let timeline = run(&pod, life, &phase(Micros::secs(5)), 60);
    assert_eq!(timeline.ready_at(0), Some(Micros::secs(15)));
    assert_eq!(timeline.loaded_at(0), None);
}

#[test]
fn a_path_that_does_not_wait_for_the_load_passes_early() {
    let pod = Pod::of(vec![startup(http(3, 10, 0, 1))]);
    let life = Life::loading(Micros::secs(600), Loading::Status200);
    let timeline = run(&pod, life, &phase(Micros::secs(5)), 700);
    assert_eq!(timeline.ready_at(0), Some(Micros::secs(5)));
    assert_eq!(timeline.loaded_at(0), Some(Micros::secs(600)));
}

#[test]
fn a_probe_under_way_passes_when_the_load_is_done_in_time() {
    let pod = Pod::of(vec![startup(http(3, 10, 0, 8))]);
    let life = Life::loading(Micros::secs(10), Loading::Hang);
    let timeline = run(&pod, life, &phase(Micros::secs(5)), 60);
    assert_eq!(timeline.ready_at(0), Some(Micros::secs(10)));
}

#[test]
fn a_body_that_stalls_neither_passes_nor_kills() {
    let pod = Pod::of(vec![startup(http(2, 10, 0, 3))]);
    let timeline = run(
        &pod,
        never(Loading::HeadersThenStall),
        &phase(Micros::secs(5)),
        900,
    );
    assert_eq!(timeline.kills(0), []);
    assert_eq!(timeline.ready_at(0), None);
    // Three tries of 3 s each.
    let errs: Vec<i64> = timeline
        .of(0)
        .filter(|event| matches!(event.what, What::ProbeErrored(Role::Startup)))
        .map(|event| event.at.whole_seconds())
        .take(3)
        .collect();
    assert_eq!(errs, [14, 24, 34]);
}

#[test]
fn a_probe_that_cannot_be_made_neither_passes_nor_kills() {
    let without_cat = Life {
        missing_commands: vec!["cat".to_owned()],
        ..Life::AT_ONCE
    };
    let timeline = run(
        &Pod::of(vec![startup(exec(1, 5))]),
        without_cat,
        &phase(Micros::ZERO),
        900,
    );
    assert_eq!((timeline.kills(0), timeline.ready_at(0)), (vec![], None));

    let named = |name: &str| Probe {
        handler: Handler::Tcp {
            host: None,
            port: Port::Name(name.to_owned()),
        },
        ..tcp(1, 5)
    };
    let ready = |name: &str, declared: &[&str], minor| {
        let container = Container {
            port_names: declared.iter().map(|name| (*name).to_owned()).collect(),
            ..startup(named(name))
        };
        let pod = Pod {
            version: Version { minor },
            ..Pod::of(vec![container])
        };
        let timeline = run(&pod, Life::AT_ONCE, &phase(Micros::ZERO), 900);
        assert_eq!(timeline.kills(0), []);
        timeline.ready_at(0).is_some()
    };
    assert!(ready("http", &["http"], 37));
    assert!(!ready("http", &[], 37));
    assert!(!ready("8000", &[], 37));
    assert!(ready("8000", &[], 36));
}

#[test]
fn readiness_takes_out_of_service_and_never_kills() {
    let pod = Pod::of(vec![Container {
        readiness: Some(http(3, 10, 0, 1)),
        ..Container::named("engine")
    }]);
    let mut life = Life::AT_ONCE;
    life.endpoint.stalls.push(Stall {
        from: Micros::secs(95),
        to: Micros::secs(200),
    });
    let timeline = run(&pod, life, &phase(Micros::ZERO), 400);
    let flips: Vec<(i64, What)> = timeline
        .of(0)
        .filter(|event| matches!(event.what, What::Ready | What::NotReady))
        .map(|event| (event.at.whole_seconds(), event.what))
        .collect();
    // The probes at 100, 110 and 120 run into their timeout. The syncs at 121 and 181 ask again at once.
    assert_eq!(
        flips,
        [(0, What::Ready), (121, What::NotReady), (201, What::Ready)]
    );
    assert_eq!(timeline.kills(0), []);
}

#[test]
fn outages_within_the_bounds_are_survived_in_every_phase() {
    for probe in [
        http(3, 10, 0, 1),
        http(3, 10, 0, 15),
        http(1, 5, 0, 2),
        http(4, 7, 30, 7),
    ] {
        let pod = Pod::of(vec![liveness(probe.clone())]);
        let phases = Phase::grid(&pod, 100);
        let killed = |length: i64| {
            let mut life = Life::AT_ONCE;
            life.endpoint.stalls.push(Stall {
                from: Micros::secs(100),
                to: Micros::secs(100 + length),
            });
            let scenarios = [Scenario::always(life)];
            let spread = &sweep(&pod, &scenarios, &phases, Micros::secs(300))[0];
            (spread.killed, spread.phases)
        };
        let (some, all) = killed(bounds::hang_survived(&probe));
        assert_eq!((some, all), (0, 300), "{probe:?}");
        let (some, all) = killed(bounds::hang_fatal(&probe) + 1);
        assert_eq!(some, all, "{probe:?}");
    }
}

#[test]
fn each_role_may_meet_something_else() {
    let pod = Pod::of(vec![Container {
        readiness: Some(http(3, 10, 0, 1)),
        ..liveness(http(3, 10, 0, 1))
    }]);
    let life = Life {
        endpoints: vec![(Role::Liveness, Endpoint::CLOSED)],
        ..Life::AT_ONCE
    };
    let timeline = run(&pod, life, &phase(Micros::secs(5)), 40);
    assert_eq!(timeline.ready_at(0), Some(Micros::ZERO));
    assert_eq!(first_kill(&timeline), Some(Micros::secs(25)));
}

#[test]
fn a_load_that_ends_on_a_tick_is_done_before_the_probe_passes() {
    let pod = Pod::of(vec![startup(http(30, 10, 0, 1))]);
    let order = |load| {
        let life = Life::loading(Micros::secs(load), Loading::Refused);
        let timeline = run(&pod, life, &phase(Micros::ZERO), 60);
        let said: Vec<String> = timeline.of(0).map(|event| event.what.to_string()).collect();
        let place = |what: &str| said.iter().position(|said| said.starts_with(what)).unwrap();
        (
            place("starts"),
            place("has loaded"),
            place("startup probe passes"),
        )
    };
    for load in [0, 20] {
        let (starts, loaded, passes) = order(load);
        assert!(starts < loaded && loaded < passes, "{load}");
    }
}
