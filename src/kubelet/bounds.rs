//! What holds in every phase of the tick grid, in closed form.
//!
//! The kubelet probes on a grid of ticks that is older than the container, so where the first probe falls is chance. These
//! are the bounds over all phases. They are about failures that count: a probe whose errors the kubelet throws away
//! (an unresolvable port, a missing binary) neither passes nor kills, and has no bounds.
//!
//! All arguments and results are whole seconds. The time until the kubelet's own cache shows the container as running (V-S,
//! about a second) is taken as 0; where it exceeds the initial delay it takes its place in the upper bounds. A container
//! that died by itself leaves its run of failures to the next one: then count with so many fewer.

use crate::subject::{Handler, Probe};

/// What becomes of a container that needs a given time to pass its probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// It passes before it can be killed, in every phase.
    Survives,
    /// It lives or dies by the phase.
    Depends,
    /// It is killed in every phase.
    Dies,
}

/// How a server fails its probe until it has loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Failing {
    /// It answers at once that it is not there yet: 503, NOT_SERVING, an exit code.
    AtOnce,
    /// It refuses connections. That is a failure at once too, but not for a gRPC probe: its dialer waits a second, then ever
    /// longer, and dials again until the timeout.
    Refuses,
    /// It takes every request, from its start on, and answers when it has loaded. So a probe under way passes if that is
    /// within its timeout.
    Hangs,
    /// Nobody knows; perhaps now so, now so.
    Unknown,
}

/// The startup window that holds in every phase: a server that passes so many seconds after its start is not killed before.
///
/// `max(0, D-1) + (F-1) P`. The delay counts from the start cut to the whole second, so it may be up to a second shorter;
/// and a first tick may fall on its very end, so only F-1 whole periods are sure. The usual `F x P` is one period too much.
pub fn guaranteed_window(probe: &Probe) -> i64 {
    sure_delay(probe.initial_delay).saturating_add(outage_survived(probe))
}

/// The latest moment after the start at which a server that never answers is told to be killed: the slowest failure in the
/// worst phase.
///
/// `D + F P + timeout`, and `D + P + F timeout` where the timeout is longer than the period, since a probe that outlasts
/// its period delays the next one.
pub fn latest_kill(probe: &Probe) -> i64 {
    probe.initial_delay.max(0).saturating_add(hang_fatal(probe))
}

/// The latest moment after the start at which a server that refuses at once is told to be killed: `D + F P`.
pub fn latest_fast_kill(probe: &Probe) -> i64 {
    probe
        .initial_delay
        .max(0)
        .saturating_add(outage_fatal(probe))
}

/// The latest moment after the start at which a server passes that can pass `load` seconds after its start and is not killed
/// before. With a success threshold above 1 only the first success.
pub fn latest_pass(probe: &Probe, load: i64) -> i64 {
    load.max(probe.initial_delay)
        .max(0)
        .saturating_add(step(probe))
        .saturating_add(probe.timeout)
}

/// The smallest failureThreshold whose guaranteed window is at least `window`: `1 + ceil((window - max(0, D-1)) / P)`, at
/// least 1 and at most what the API's 32 bits hold.
pub fn failure_threshold_for(window: i64, initial_delay: i64, period: i64) -> i64 {
    let period = period.max(1);
    let rest = window.saturating_sub(sure_delay(initial_delay)).max(0);
    let periods = rest / period + i64::from(rest % period != 0);
    periods.saturating_add(1).min(i64::from(i32::MAX))
}

/// What becomes of a server that can pass `load` seconds after its start, however it fails until then. It dies only if it
/// does so with the slowest failure too.
pub fn verdict(probe: &Probe, load: i64) -> Verdict {
    verdict_when(probe, load, Failing::Unknown)
}

/// The same of a server of which it is known how it fails until then. It depends for no more than one period, and one second
/// for the start that is cut to the whole second if there is a delay; only by the chance of a gRPC dialer for longer.
///
/// It passes if the last probe that counts, the F-th, starts after the load or can wait for it. So it survives up to the
/// earliest start of that probe and the shortest such wait, and dies beyond the latest start and the longest wait:
///
/// | fails | F-th start, after the first | waits |
/// | --- | --- | --- |
/// | at once | `(F-1) P` | 0 |
/// | hangs | `(F-1) max(P, timeout)` | timeout |
/// | refuses gRPC | `(F-1) max(P, timeout)` | 0 with a timeout of 1, 1 with 2, else 1 to timeout |
/// | unknown | `(F-1) P` to `(F-1) max(P, timeout)` | 0 to timeout |
///
/// The first starts between `max(0, D-1)` and `D + P`.
pub fn verdict_when(probe: &Probe, load: i64, failing: Failing) -> Verdict {
    let (earliest, latest) = last_start(probe, failing);
    let (shortest, longest) = waits(probe, failing);
    if load <= earliest.saturating_add(shortest) {
        Verdict::Survives
    } else if load > latest.saturating_add(longest) {
        Verdict::Dies
    } else {
        Verdict::Depends
    }
}

/// The earliest and the latest moment after the start at which a server that never passes is told to be killed: the F-th
/// start of [`verdict_when`], and what that failure takes.
pub fn kill_range(probe: &Probe, failing: Failing) -> (i64, i64) {
    let (earliest, latest) = last_start(probe, failing);
    let (shortest, longest) = match failing {
        Failing::Unknown => (0, probe.timeout),
        _ if takes_its_timeout(probe, failing) => (probe.timeout, probe.timeout),
        _ => (0, 0),
    };
    (
        earliest.saturating_add(shortest),
        latest.saturating_add(longest),
    )
}

/// The longest outage of a serving container that no phase turns into a kill, if failures are fast: `(F-1) P`.
pub fn outage_survived(probe: &Probe) -> i64 {
    probe
        .failure_threshold
        .saturating_sub(1)
        .max(0)
        .saturating_mul(probe.period.max(1))
}

/// How soon after the startup probe has passed the liveness probe may kill, at the earliest: `(F-1) P`.
pub fn earliest_kill_after_pass(liveness: &Probe) -> i64 {
    outage_survived(liveness)
}

/// The longest hang of a serving container that no phase turns into a kill: `(F-1) max(P, timeout)`.
pub fn hang_survived(probe: &Probe) -> i64 {
    probe
        .failure_threshold
        .saturating_sub(1)
        .max(0)
        .saturating_mul(step(probe))
}

/// An outage with fast failures that is longer kills in every phase: `F P`.
pub fn outage_fatal(probe: &Probe) -> i64 {
    probe
        .failure_threshold
        .max(1)
        .saturating_mul(probe.period.max(1))
}

/// A hang that is longer kills in every phase: `F P + timeout`, or `P + F timeout` where the timeout is longer than the
/// period.
pub fn hang_fatal(probe: &Probe) -> i64 {
    hang_survived(probe)
        .saturating_add(probe.period.max(1))
        .saturating_add(probe.timeout)
}

/// The earliest and the latest start of the F-th probe in a row that fails.
fn last_start(probe: &Probe, failing: Failing) -> (i64, i64) {
    let (fast, slow) = (outage_survived(probe), hang_survived(probe));
    let (earliest, latest) = match failing {
        Failing::Unknown => (fast, slow),
        _ if takes_its_timeout(probe, failing) => (slow, slow),
        _ => (fast, fast),
    };
    let first = probe
        .initial_delay
        .max(0)
        .saturating_add(probe.period.max(1));
    (
        sure_delay(probe.initial_delay).saturating_add(earliest),
        first.saturating_add(latest),
    )
}

/// Whether each failure takes the whole timeout.
fn takes_its_timeout(probe: &Probe, failing: Failing) -> bool {
    match failing {
        Failing::Hangs => true,
        Failing::Refuses => matches!(probe.handler, Handler::Grpc { .. }),
        Failing::AtOnce | Failing::Unknown => false,
    }
}

/// For how long a probe surely waits for the load and passes, and for how long at most.
///
/// A gRPC dialer that is refused waits exactly 1 s before it dials again, then 1.6 s give or take a fifth, and so on
/// (grpc-go's `internal/backoff`).
fn waits(probe: &Probe, failing: Failing) -> (i64, i64) {
    let timeout = probe.timeout;
    match failing {
        Failing::Unknown => (0, timeout),
        Failing::Hangs => (timeout, timeout),
        Failing::Refuses if takes_its_timeout(probe, failing) => {
            let redialed = (timeout - 1).clamp(0, 1);
            (redialed, if timeout > 2 { timeout } else { redialed })
        }
        Failing::Refuses | Failing::AtOnce => (0, 0),
    }
}

/// What is left of an initial delay that counts from the start cut to the whole second.
fn sure_delay(initial_delay: i64) -> i64 {
    initial_delay.saturating_sub(1).max(0)
}

/// The time between the starts of two probes that both take the whole timeout.
fn step(probe: &Probe) -> i64 {
    probe.period.max(1).max(probe.timeout)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::subject::{Handler, Port};

    fn probe(failure_threshold: i64, period: i64, initial_delay: i64, timeout: i64) -> Probe {
        Probe {
            handler: Handler::Tcp {
                host: None,
                port: Port::Number(80),
            },
            initial_delay,
            period,
            timeout,
            failure_threshold,
            success_threshold: 1,
            termination_grace: None,
        }
    }

    #[test]
    fn the_defaults_of_the_api_give_twenty_seconds() {
        let defaults = probe(3, 10, 0, 1);
        assert_eq!(guaranteed_window(&defaults), 20);
        assert_eq!(latest_fast_kill(&defaults), 30);
        assert_eq!(latest_kill(&defaults), 31);
        assert_eq!(verdict(&defaults, 20), Verdict::Survives);
        assert_eq!(verdict(&defaults, 21), Verdict::Depends);
        assert_eq!(verdict(&defaults, 31), Verdict::Depends);
        assert_eq!(verdict(&defaults, 32), Verdict::Dies);
    }

    #[test]
    fn a_delay_is_a_second_shorter() {
        assert_eq!(guaranteed_window(&probe(1, 10, 30, 1)), 29);
        assert_eq!(guaranteed_window(&probe(1, 10, 1, 1)), 0);
    }

    #[test]
    fn a_timeout_above_the_period_stretches_the_steps() {
        let hang = probe(3, 10, 0, 15);
        assert_eq!(latest_kill(&hang), 55);
        assert_eq!(latest_pass(&hang, 100), 130);
        assert_eq!(hang_survived(&hang), 30);
        assert_eq!(hang_fatal(&hang), 55);
        assert_eq!(outage_survived(&hang), 20);
        assert_eq!(earliest_kill_after_pass(&hang), 20);
        assert_eq!(outage_fatal(&hang), 30);
    }

    #[test]
    fn who_knows_how_a_server_fails_knows_more() {
        let band = |probe: &Probe, failing| {
            let survives = |load: &i64| verdict_when(probe, *load, failing) == Verdict::Survives;
            let lives = |load: &i64| verdict_when(probe, *load, failing) != Verdict::Dies;
            let last = |holds: &dyn Fn(&i64) -> bool| (0..1000).rev().find(holds);
            (last(&survives).unwrap(), last(&lives).unwrap())
        };
        let all = [
            Failing::AtOnce,
            Failing::Refuses,
            Failing::Hangs,
            Failing::Unknown,
        ];
        let bands = |probe: Probe| all.map(|failing| band(&probe, failing));
        let expected = [(20, 30), (20, 30), (25, 35), (20, 35)];
        assert_eq!(bands(probe(3, 10, 0, 5)), expected);
        let expected = [(49, 60), (49, 60), (74, 85), (49, 85)];
        assert_eq!(bands(probe(3, 10, 30, 15)), expected);
        let grpc = |timeout| Probe {
            handler: Handler::Grpc {
                port: 9000,
                service: String::new(),
            },
            ..probe(3, 10, 0, timeout)
        };
        assert_eq!(band(&grpc(1), Failing::Refuses), (20, 30));
        assert_eq!(band(&grpc(2), Failing::Refuses), (21, 31));
        assert_eq!(band(&grpc(5), Failing::Refuses), (21, 35));
        assert_eq!(band(&grpc(15), Failing::Refuses), (31, 55));
        assert_eq!(band(&grpc(15), Failing::AtOnce), (20, 30));
    }

    #[test]
    fn who_knows_how_a_server_fails_knows_when_it_is_killed() {
        let hang = probe(3, 10, 30, 15);
        assert_eq!(kill_range(&hang, Failing::AtOnce), (49, 60));
        assert_eq!(kill_range(&hang, Failing::Refuses), (49, 60));
        assert_eq!(kill_range(&hang, Failing::Hangs), (74, 85));
        assert_eq!(kill_range(&hang, Failing::Unknown), (49, 85));
        assert_eq!(guaranteed_window(&hang), 49);
        assert_eq!(latest_kill(&hang), 85);
        assert_eq!(latest_fast_kill(&hang), 60);
        let grpc = Probe {
            handler: Handler::Grpc {
                port: 9000,
                service: String::new(),
            },
            ..hang
        };
        assert_eq!(kill_range(&grpc, Failing::Refuses), (74, 85));
    }

    #[test]
    fn the_threshold_is_the_smallest_that_guarantees_the_window() {
        assert_eq!(failure_threshold_for(75, 0, 5), 16);
        assert_eq!(failure_threshold_for(1125, 0, 10), 114);
        assert_eq!(failure_threshold_for(0, 0, 10), 1);
        assert_eq!(failure_threshold_for(29, 30, 10), 1);
        for window in 0..200 {
            for delay in [0, 1, 2, 30] {
                for period in [1, 5, 7, 10] {
                    let threshold = failure_threshold_for(window, delay, period);
                    assert!(guaranteed_window(&probe(threshold, period, delay, 1)) >= window);
                    let less = guaranteed_window(&probe(threshold - 1, period, delay, 1));
                    assert!(threshold == 1 || less < window);
                }
            }
        }
    }

    #[test]
    fn the_largest_numbers_do_not_overflow() {
        let most = i64::from(i32::MAX);
        let largest = probe(most, most, most, most);
        assert_eq!(guaranteed_window(&largest), most - 1 + (most - 1) * most);
        assert_eq!(latest_kill(&largest), most + most * most + most);
        assert_eq!(verdict(&largest, i64::MAX), Verdict::Dies);
        assert_eq!(failure_threshold_for(i64::MAX, 0, 1), most);
        assert_eq!(
            latest_kill(&probe(i64::MAX, i64::MAX, i64::MAX, i64::MAX)),
            i64::MAX
        );
    }
}
