//! The simulator, and broken ones that every comparison must be able to tell from it.

use warmgate::kubelet::{
    Kubelet, Law, Micros, Phase, Pod, Scenario, Timeline, simulate, simulate_under,
};

/// What says what happens to a pod.
pub(crate) type Simulator = fn(&Pod, &[Scenario], &Phase, Micros) -> Timeline;

/// The one that warmgate judges with.
pub(crate) const REAL: Simulator = simulate;

/// Simulators that have one rule of the kubelet wrong, each with what it does.
pub(crate) const BROKEN: [(&str, Simulator); 10] = [
    ("waits for one failure more", simulate_under::<OneMore>),
    (
        "is content with one failure less",
        simulate_under::<OneLess>,
    ),
    (
        "counts the initial delay from the real start",
        simulate_under::<ExactDelay>,
    ),
    (
        "moves the grid with a late probe",
        simulate_under::<MovedGrid>,
    ),
    ("sleeps a period after each probe", simulate_under::<Sleep>),
    ("counts anew for each container", simulate_under::<FreshRun>),
    (
        "takes a refused gRPC connection for a failure at once",
        simulate_under::<OneDial>,
    ),
    (
        "gives a probe's grace period to the last container of a pod",
        simulate_under::<ProbeGrace>,
    ),
    (
        "knows the pod's grace period only",
        simulate_under::<PodGrace>,
    ),
    (
        "backs off from the exit that the kill brought about",
        simulate_under::<OwnExit>,
    ),
];

/// Waits for one failure more than the threshold.
pub(crate) struct OneMore;

impl Law for OneMore {
    fn reached(run: i64, threshold: i64) -> bool {
        run > threshold
    }
}

/// Is content with one failure less than the threshold.
pub(crate) struct OneLess;

impl Law for OneLess {
    fn reached(run: i64, threshold: i64) -> bool {
        run >= threshold - 1
    }
}

/// Counts the initial delay from the real start.
pub(crate) struct ExactDelay;

impl Law for ExactDelay {
    fn uptime(started: Micros, now: Micros) -> i64 {
        (now - started).whole_seconds()
    }
}

/// Goes on from a late turn as if the grid had moved with it.
pub(crate) struct MovedGrid;

impl Law for MovedGrid {
    fn next_turn(_: Micros, period: Micros, began: Micros, ended: Micros) -> Micros {
        ended.max(began + period)
    }
}

/// Sleeps a period after each probe.
pub(crate) struct Sleep;

impl Law for Sleep {
    fn next_turn(tick: Micros, period: Micros, began: Micros, ended: Micros) -> Micros {
        if began == ended {
            return Kubelet::next_turn(tick, period, began, ended);
        }
        ended + period
    }
}

/// Counts anew for each container.
pub(crate) struct FreshRun;

impl Law for FreshRun {
    fn carried(_: i64) -> i64 {
        0
    }
}

/// Takes a refused gRPC connection for a failure at once.
pub(crate) struct OneDial;

impl Law for OneDial {
    fn dials_for(_: Micros) -> Micros {
        Micros::ZERO
    }
}

/// Gives a probe's own grace period to the last container of a pod too.
pub(crate) struct ProbeGrace;

impl Law for ProbeGrace {
    fn grace(probe: Option<i64>, pod: i64, _: bool) -> i64 {
        probe.unwrap_or(pod)
    }
}

/// Knows the pod's grace period only.
pub(crate) struct PodGrace;

impl Law for PodGrace {
    fn grace(_: Option<i64>, pod: i64, _: bool) -> i64 {
        pod
    }
}

/// Backs off from the exit that the kill has just brought about.
pub(crate) struct OwnExit;

impl Law for OwnExit {
    fn backs_off_from(_: Option<Micros>, newest: Option<Micros>) -> Option<Micros> {
        newest
    }
}
