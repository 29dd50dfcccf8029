//! Random pods with random lives: whatever happens, the timeline makes sense.

use warmgate::facts::Version;
use warmgate::kubelet::{
    Container, Deletion, Endpoint, Event, Exit, Kind, Life, Loading, Micros, OnTerm, Phase, Pod,
    PodState, PreStop, RestartPolicy, Scenario, Stall, Timeline, What, simulate,
};
use warmgate::subject::{Handler, Port, Probe, Role};

use crate::conformance::Random;
use crate::kubelet::{exec, http};

const HORIZON: Micros = Micros::secs(900);

fn chance<T>(random: &mut Random, one_in: i64, value: impl FnOnce(&mut Random) -> T) -> Option<T> {
    (random.of(1, one_in) == 1).then(|| value(random))
}

fn within(random: &mut Random, seconds: i64) -> Micros {
    Micros(random.of(0, Micros::secs(seconds).0))
}

fn probe(random: &mut Random) -> Probe {
    let port = match random.of(0, 5) {
        0 => Port::Name("http".to_owned()),
        _ => Port::Number(8000),
    };
    let handler = match random.of(0, 3) {
        0 => Handler::Tcp { host: None, port },
        1 => Handler::Grpc {
            port: 9000,
            service: String::new(),
        },
        2 => exec(1, 1).handler,
        _ => http(1, 1, 0, 1).handler,
    };
    Probe {
        handler,
        initial_delay: chance(random, 3, |random| random.of(0, 40)).unwrap_or(0),
        period: random.of(1, 15),
        timeout: random.of(1, 20),
        failure_threshold: random.of(1, 6),
        success_threshold: 1,
        termination_grace: chance(random, 4, |random| random.of(1, 40)),
    }
}

fn container(random: &mut Random, number: usize, kind: Kind) -> Container {
    Container {
        kind,
        startup: chance(random, 2, probe),
        liveness: chance(random, 2, probe),
        readiness: chance(random, 2, |random| Probe {
            success_threshold: random.of(1, 3),
            termination_grace: None,
            ..probe(random)
        }),
        port_names: chance(random, 2, |_| "http".to_owned())
            .into_iter()
            .collect(),
        pre_stop: chance(random, 3, |random| match random.of(0, 3) {
            0 => PreStop::Unknown,
            _ => PreStop::Takes(within(random, 40)),
        }),
        pull: within(random, 20),
        pull_again: within(random, 2),
        post_start: chance(random, 4, |random| within(random, 10)).unwrap_or_default(),
        ..Container::named(&format!("c{number}"))
    }
}

fn endpoint(random: &mut Random) -> Endpoint {
    let loadings = [
        Loading::Refused,
        Loading::Status503,
        Loading::Status200,
        Loading::Hang,
        Loading::HeadersThenStall,
    ];
    let listens_at = within(random, 20);
    let stall = chance(random, 3, |random| {
        let from = within(random, 300);
        Stall {
            from,
            to: from + within(random, 120),
        }
    });
    Endpoint {
        listens_at,
        ready_at: listens_at + within(random, 90),
        while_loading: loadings[random.of(0, 4).unsigned_abs() as usize],
        answers_in: Micros(random.of(0, 2_000_000)),
        stalls: stall.into_iter().collect(),
    }
}

fn life(random: &mut Random) -> Life {
    Life {
        endpoint: endpoint(random),
        endpoints: chance(random, 4, |random| (Role::Liveness, endpoint(random)))
            .into_iter()
            .collect(),
        missing_commands: chance(random, 8, |_| "cat".to_owned())
            .into_iter()
            .collect(),
        exits: chance(random, 3, |random| Exit {
            at: within(random, 300),
            code: random.of(0, 2),
        }),
        on_term: match random.of(0, 2) {
            0 => OnTerm::Ignores,
            _ => OnTerm::Exits {
                after: within(random, 50),
                code: random.of(0, 1),
            },
        },
    }
}

fn pod(random: &mut Random) -> Pod {
    let sidecars = random.of(0, 2).unsigned_abs() as usize;
    let regular = random.of(1, 2).unsigned_abs() as usize;
    let containers = (0..sidecars + regular).map(|number| {
        let kind = if number < sidecars {
            Kind::Sidecar
        } else {
            Kind::Regular
        };
        container(random, number, kind)
    });
    let containers = containers.collect();
    Pod {
        restart_policy: match random.of(0, 3) {
            0 => RestartPolicy::Never,
            1 => RestartPolicy::OnFailure,
            _ => RestartPolicy::Always,
        },
        grace: random.of(0, 60),
        version: Version {
            minor: random.of(33, 37).unsigned_abs() as u32,
        },
        deletion: chance(random, 3, |random| Deletion {
            at: within(random, 900),
            grace: chance(random, 2, |random| random.of(0, 60)),
        }),
        ..Pod::of(containers)
    }
}

/// What must hold of every timeline.
fn check(pod: &Pod, timeline: &Timeline) {
    assert!(
        timeline.events.is_sorted_by_key(|event| event.at),
        "{timeline}"
    );
    assert!(
        timeline.events.iter().all(|event| event.at <= HORIZON),
        "{timeline}"
    );
    if timeline.pod_state() != PodState::Alive {
        // A probe under way comes to its end.
        let result = |what: &What| {
            matches!(
                what,
                What::ProbeErrored(_) | What::ProbeFailed { .. } | What::ProbePassed { .. }
            )
        };
        let last = timeline.events.iter().map(|event| event.what);
        let last = last.rev().find(|what| !result(what));
        let over = matches!(
            last,
            Some(What::Completed | What::PodFailed | What::Deleted)
        );
        assert!(over, "{timeline}");
    }
    for number in 0..pod.containers.len() {
        let events: Vec<&Event> = timeline.of(number).collect();
        check_lives(&events, timeline);
        check_kills(&events, timeline);
    }
}

/// A container lives once at a time, and does not start before its wait is over.
fn check_lives(events: &[&Event], timeline: &Timeline) {
    let (mut alive, mut lives, mut waits) = (false, 0, Micros::ZERO);
    for event in events {
        match event.what {
            What::Started => {
                assert!(!alive && lives == 0, "{timeline}");
                (alive, lives) = (true, 1);
            }
            What::Restarted(count) => {
                assert!(!alive && lives == count && event.at >= waits, "{timeline}");
                (alive, lives) = (true, count + 1);
            }
            What::Exited { .. } => {
                assert!(alive, "{timeline}");
                alive = false;
            }
            What::BackOff { until } => {
                assert!(!alive && until > event.at, "{timeline}");
                waits = until;
            }
            What::Sigterm | What::Loaded => assert!(alive, "{timeline}"),
            _ => {}
        }
    }
}

/// Only a probe that has just failed often enough decides, and SIGKILL follows SIGTERM by at least two seconds.
fn check_kills(events: &[&Event], timeline: &Timeline) {
    let mut sigterm = None;
    for (index, event) in events.iter().enumerate() {
        match event.what {
            What::KillDecided(role) => {
                let decides = events[..index].iter().rev().any(|failed| {
                    let enough = matches!(failed.what, What::ProbeFailed { role: of, run, threshold }
                        if of == role && run >= threshold);
                    enough && failed.at == event.at
                });
                assert!(decides && role != Role::Readiness, "{timeline}");
            }
            What::Sigterm => sigterm = Some(event.at),
            What::Sigkill => {
                let waited = sigterm.take().map(|at| event.at - at);
                assert!(
                    waited.is_some_and(|waited| waited >= Micros::secs(2)),
                    "{timeline}"
                );
            }
            _ => {}
        }
    }
}

/// The timeline of a pod with a life that are drawn, looked through.
pub(crate) fn drawn_timeline(random: &mut Random) -> Timeline {
    let pod = pod(random);
    let scenarios: Vec<Scenario> = pod
        .containers
        .iter()
        .map(|_| Scenario {
            lives: vec![life(random), life(random)],
        })
        .collect();
    let phase = Phase::of(within(random, 15), Micros(random.of(0, 999_999)));
    let timeline = simulate(&pod, &scenarios, &phase, HORIZON);
    check(&pod, &timeline);
    assert_eq!(timeline, simulate(&pod, &scenarios, &phase, HORIZON));
    timeline
}

#[test]
fn every_timeline_makes_sense() {
    let mut random = Random::new(11);
    let (mut killed, mut waited, mut completed, mut deleted) = (0, 0, 0, 0);
    for _ in 0..2_000 {
        let timeline = drawn_timeline(&mut random);
        killed += usize::from(timeline.first_kill(0).is_some());
        let waits = |event: &Event| matches!(event.what, What::BackOff { .. });
        waited += usize::from(timeline.events.iter().any(waits));
        completed += usize::from(timeline.pod_state() == PodState::Completed);
        deleted += usize::from(timeline.pod_state() == PodState::Deleted);
    }
    // The generator reaches all of it.
    assert!(killed > 200 && waited > 200 && completed > 10 && deleted > 200);
}
