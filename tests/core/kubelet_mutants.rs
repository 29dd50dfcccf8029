//! Broken kubelets, each by one rule: the vectors and the bounds must notice every one of them.

use warmgate::kubelet::{
    Container, Exit, Kubelet, Law, Life, Loading, Micros, OnTerm, Phase, Pod, RestartPolicy,
    Scenario, Stall, Timeline, What, simulate_under,
};
use warmgate::subject::Probe;

use crate::conformance::broken::{
    ExactDelay, FreshRun, MovedGrid, OneDial, OneLess, OneMore, OwnExit, PodGrace, ProbeGrace,
    Sleep,
};
use crate::kubelet::{grpc, http, never, phase, startup};
use crate::kubelet_bounds::{check_bounds, check_tightness};
use crate::kubelet_law::check_ticks;

#[test]
fn a_threshold_off_by_one_is_noticed() {
    check_bounds::<OneMore>(10_000).unwrap_err();
    check_bounds::<OneLess>(10_000).unwrap_err();
}

#[test]
fn a_delay_that_is_not_floored_is_noticed() {
    check_tightness::<ExactDelay>(100).unwrap_err();
}

#[test]
fn a_grid_that_a_slow_probe_moves_is_noticed() {
    check_ticks::<MovedGrid>().unwrap_err();
    check_ticks::<Sleep>().unwrap_err();
    check_bounds::<Sleep>(10_000).unwrap_err();
}

fn under<L: Law>(pod: &Pod, life: Life, tick: Micros, horizon: i64) -> Timeline {
    let scenarios = [Scenario::always(life)];
    simulate_under::<L>(pod, &scenarios, &phase(tick), Micros::secs(horizon))
}

/// In whole seconds.
fn times(timeline: &Timeline, holds: impl Fn(What) -> bool) -> Vec<i64> {
    timeline
        .of(0)
        .filter(|event| holds(event.what))
        .map(|event| event.at.whole_seconds())
        .collect()
}

/// What the worker does wrong its whole pod does wrong.
#[test]
fn a_broken_worker_breaks_its_pod() {
    /// The start lies 0.7 s past a whole second, so the delay is over at 4.3. The probes begin at 4.3 and 19.3, where the stall
    /// holds the first for its whole timeout and the second until 21, and at 24.3.
    fn kill<L: Law>() -> Micros {
        let pod = Pod::of(vec![startup(http(3, 10, 5, 15))]);
        let mut life = never(Loading::Status503);
        life.endpoint.stalls.push(Stall {
            from: Micros::ZERO,
            to: Micros::secs(21),
        });
        let phase = Phase {
            fraction: Micros::millis(700),
            ..phase(Micros::millis(4300))
        };
        let scenarios = [Scenario::always(life)];
        let timeline = simulate_under::<L>(&pod, &scenarios, &phase, Micros::secs(60));
        timeline.first_kill(0).unwrap().at
    }
    assert_eq!(kill::<Kubelet>(), Micros::millis(24_300));
    assert_eq!(kill::<OneMore>(), Micros::millis(34_300));
    assert_eq!(kill::<OneLess>(), Micros::secs(21));
    assert_eq!(kill::<ExactDelay>(), Micros::millis(34_300));
    assert_eq!(kill::<MovedGrid>(), Micros::millis(29_300));
    assert_eq!(kill::<Sleep>(), Micros::millis(34_300));
}

#[test]
fn a_run_that_a_crash_ends_is_noticed() {
    fn kill<L: Law>() -> Micros {
        let pod = Pod::of(vec![startup(http(30, 10, 0, 1))]);
        let crash = Life {
            exits: Some(Exit {
                at: Micros::secs(200),
                code: 137,
            }),
            ..never(Loading::Refused)
        };
        let scenarios = [Scenario {
            lives: vec![crash, never(Loading::Refused)],
        }];
        let phase = phase(Micros::millis(6800));
        let timeline = simulate_under::<L>(&pod, &scenarios, &phase, Micros::secs(600));
        timeline.first_kill(0).unwrap().after
    }
    assert_eq!(kill::<Kubelet>(), Micros::millis(96_800));
    assert_eq!(kill::<FreshRun>(), Micros::millis(296_800));
}

#[test]
fn a_refusal_that_grpc_takes_at_once_is_noticed() {
    fn fails<L: Law>(life: Life) -> Vec<i64> {
        let pod = Pod::of(vec![startup(grpc(3, 2, 6))]);
        let timeline = under::<L>(&pod, life, Micros::secs(1), 20);
        times(&timeline, |what| matches!(what, What::ProbeFailed { .. }))
    }
    assert_eq!(fails::<Kubelet>(never(Loading::Refused)), [7, 13, 19]);
    assert_eq!(fails::<OneDial>(never(Loading::Refused))[..3], [1, 3, 5]);
    // A server that listens is asked all the same.
    assert!(fails::<OneDial>(Life::AT_ONCE).is_empty());
}

#[test]
fn another_grace_period_is_noticed() {
    fn sigkill<L: Law>(others: &[&str]) -> Vec<i64> {
        let probe = Probe {
            termination_grace: Some(5),
            ..http(1, 10, 0, 1)
        };
        let mut containers = vec![startup(probe)];
        containers.extend(others.iter().map(|name| Container::named(name)));
        let pod = Pod {
            restart_policy: RestartPolicy::Never,
            grace: 12,
            ..Pod::of(containers)
        };
        let life = Life {
            on_term: OnTerm::Ignores,
            ..never(Loading::Refused)
        };
        let timeline = under::<L>(&pod, life, Micros::secs(9), 60);
        times(&timeline, |what| what == What::Sigkill)
    }
    assert_eq!(sigkill::<Kubelet>(&[]), [21]);
    assert_eq!(sigkill::<ProbeGrace>(&[]), [14]);
    assert_eq!(sigkill::<Kubelet>(&["proxy"]), [14]);
    assert_eq!(sigkill::<PodGrace>(&["proxy"]), [21]);
}

#[test]
fn a_back_off_from_the_newest_exit_is_noticed() {
    fn starts<L: Law>() -> Vec<i64> {
        let pod = Pod::of(vec![startup(http(4, 10, 5, 1))]);
        let life = Life {
            on_term: OnTerm::Ignores,
            ..never(Loading::Refused)
        };
        let timeline = under::<L>(&pod, life, Micros::ZERO, 300);
        times(&timeline, |what| {
            matches!(what, What::Started | What::Restarted(_))
        })
    }
    assert_eq!(starts::<Kubelet>(), [0, 70, 140, 210, 280]);
    assert_eq!(starts::<OwnExit>(), [0, 70, 150, 240]);
}
