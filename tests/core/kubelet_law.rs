//! The event simulation against the closed forms: a million random starts, and three broken workers that must not pass.

use warmgate::kubelet::{
    Answer, Container, Decision, Kubelet, Latency, Law, Life, Loading, Micros, Outcome, Phase, Pod,
    Scenario, Start, bounds, simulate, watch,
};
use warmgate::subject::Probe;

use crate::kubelet::http;

/// The steps of a sweep: so many ticks over a period, so many starts over a second.
const TICKS: i64 = 40;
const FRACTIONS: i64 = 10;

/// SplitMix64.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// One of `from..=to`.
    pub(crate) fn of(&mut self, from: i64, to: i64) -> i64 {
        let span = (to - from).unsigned_abs() + 1;
        from + (self.next() % span).cast_signed()
    }

    fn probe(&mut self) -> Probe {
        let period = self.of(1, 30);
        let timeout = match self.of(0, 2) {
            0 => 1,
            1 => self.of(1, period),
            _ => self.of(1, 40),
        };
        let delay = match self.of(0, 1) {
            0 => self.of(0, 2),
            _ => self.of(0, 60),
        };
        http(self.of(1, 40), period, delay, timeout)
    }

    fn start(&mut self, probe: &Probe) -> Start {
        Start {
            fraction: Micros(self.of(0, 999_999)),
            tick: Micros(self.of(0, probe.period * 1_000_000 - 1)),
            publication: Micros(self.of(0, 3_000_000)),
        }
    }
}

/// How a server fails while it loads.
#[derive(Clone, Copy, Debug)]
enum Failing {
    AtOnce,
    Sometime,
    Never,
}

fn failure(took: Micros) -> Answer {
    Answer {
        outcome: Outcome::Failure,
        took,
    }
}

fn require(holds: bool, what: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(what()) }
}

/// The tick rule, a tenth as fast as it was measured with Go's ticker.
fn check_ticks<L: Law>() -> Result<(), String> {
    let vectors: [([i64; 4], [i64; 4]); 4] = [
        ([1200, 1200, 1200, 1200], [0, 1200, 2400, 3600]),
        ([1200, 100, 100, 100], [0, 1200, 2000, 3000]),
        ([3500, 100, 100, 100], [0, 3500, 4000, 5000]),
        ([600, 600, 600, 600], [0, 1000, 2000, 3000]),
    ];
    for (took, expected) in vectors {
        let probe = http(4, 1, 0, 4);
        let mut began = Vec::new();
        watch::<L>(&probe, &Start::default(), Micros::secs(60), |at| {
            began.push(at.0 / 1000);
            failure(Micros::millis(took[began.len() - 1]))
        });
        require(began == expected, || {
            format!("probes that take {took:?} begin at {began:?}")
        })?;
    }
    Ok(())
}

/// No kill and no pass lies outside the bounds, in so many random cases.
fn check_bounds<L: Law>(cases: u64) -> Result<(), String> {
    let mut random = Random(3);
    for case in 0..cases {
        let probe = random.probe();
        let start = random.start(&probe);
        let late = (start.publication - Micros::secs(probe.initial_delay)).max(Micros::ZERO);
        let guaranteed = Micros::secs(bounds::guaranteed_window(&probe));
        let latest = Micros::secs(bounds::latest_kill(&probe)) + late;
        let latest_fast = Micros::secs(bounds::latest_fast_kill(&probe)) + late;
        let load = match random.of(0, 2) {
            0 => Micros::NEVER,
            1 => Micros(random.of(0, latest.0 + 1_000_000)),
            _ => Micros(random.of(0, guaranteed.0)),
        };
        let failing = match random.of(0, 2) {
            0 => Failing::AtOnce,
            1 => Failing::Sometime,
            _ => Failing::Never,
        };
        let decision = decide::<L>(&mut random, &probe, &start, load, failing);
        let say =
            || format!("case {case}: {decision:?} with {probe:?}, {start:?}, {load}, {failing:?}");
        match decision {
            Some(Decision::Kill(at)) => {
                require(at >= guaranteed && at >= start.publication, say)?;
                require(at <= latest, say)?;
                require(load > guaranteed, say)?;
                require(
                    at <= latest_fast || !matches!(failing, Failing::AtOnce),
                    say,
                )?;
            }
            Some(Decision::Pass(at)) => {
                let whole = load.whole_seconds() + 1;
                let latest_pass = Micros::secs(bounds::latest_pass(&probe, whole)) + late;
                require(at >= load && at <= latest_pass, say)?;
                require(load <= latest, say)?;
            }
            None => return Err(say()),
        }
    }
    Ok(())
}

fn decide<L: Law>(
    random: &mut Random,
    probe: &Probe,
    start: &Start,
    load: Micros,
    failing: Failing,
) -> Option<Decision> {
    let timeout = Micros::secs(probe.timeout);
    let horizon = Micros::secs(2 * bounds::latest_kill(probe) + 100);
    watch::<L>(probe, start, horizon, |at| {
        let some = Micros(random.of(0, timeout.0));
        match failing {
            _ if at >= load => Answer {
                outcome: Outcome::Success,
                took: some,
            },
            Failing::AtOnce => failure(Micros::ZERO),
            Failing::Sometime => failure(some),
            // A probe under way passes if the load is done in time.
            Failing::Never if load - at <= timeout => Answer {
                outcome: Outcome::Success,
                took: load - at,
            },
            Failing::Never => failure(timeout),
        }
    })
}

/// The bounds are reached: over all phases and start fractions the earliest and the latest kill come within one step.
fn check_tightness<L: Law>(probes: u64) -> Result<(), String> {
    let mut random = Random(5);
    for _ in 0..probes {
        let probe = random.probe();
        let step = Micros(probe.period * 1_000_000 / TICKS + 1_000_000 / FRACTIONS);
        let (earliest, latest_fast) = extremes::<L>(&probe, Micros::ZERO)?;
        let (_, latest) = extremes::<L>(&probe, Micros::secs(probe.timeout))?;
        let guaranteed = Micros::secs(bounds::guaranteed_window(&probe));
        require(earliest - guaranteed <= step, || {
            format!("{probe:?} is first killed at {earliest}")
        })?;
        let bound = Micros::secs(bounds::latest_fast_kill(&probe));
        require(bound - latest_fast <= step, || {
            format!("{probe:?} is last killed at {latest_fast} by a refusal")
        })?;
        let bound = Micros::secs(bounds::latest_kill(&probe));
        require(bound - latest <= step, || {
            format!("{probe:?} is last killed at {latest} by a hang")
        })?;
    }
    Ok(())
}

/// The earliest and the latest kill of a server whose probes fail after `took`.
fn extremes<L: Law>(probe: &Probe, took: Micros) -> Result<(Micros, Micros), String> {
    let mut extremes = (Micros::NEVER, Micros::ZERO);
    for tick in 0..TICKS {
        for fraction in 0..FRACTIONS {
            let start = Start {
                tick: Micros(probe.period * 1_000_000 / TICKS * tick),
                fraction: Micros(1_000_000 / FRACTIONS * fraction),
                publication: Micros::ZERO,
            };
            let decision = watch::<L>(probe, &start, Micros::NEVER, |_| failure(took));
            let Some(Decision::Kill(at)) = decision else {
                return Err(format!("{probe:?}: {decision:?}"));
            };
            extremes = (extremes.0.min(at), extremes.1.max(at));
        }
    }
    Ok(extremes)
}

#[test]
fn the_worker_keeps_the_tick_rule() {
    check_ticks::<Kubelet>().unwrap();
}

#[test]
fn a_million_starts_stay_within_the_bounds() {
    check_bounds::<Kubelet>(1_000_000).unwrap();
}

#[test]
fn the_bounds_are_tight() {
    check_tightness::<Kubelet>(2_000).unwrap();
}

/// Waits for one failure more than the threshold.
struct OneMore;

impl Law for OneMore {
    fn reached(run: i64, threshold: i64) -> bool {
        run > threshold
    }
}

/// Is content with one failure less than the threshold.
struct OneLess;

impl Law for OneLess {
    fn reached(run: i64, threshold: i64) -> bool {
        run >= threshold - 1
    }
}

/// Counts the initial delay from the real start.
struct ExactDelay;

impl Law for ExactDelay {
    fn uptime(started: Micros, now: Micros) -> i64 {
        (now - started).whole_seconds()
    }
}

/// Goes on from a late turn as if the grid had moved with it.
struct MovedGrid;

impl Law for MovedGrid {
    fn next_turn(_: Micros, period: Micros, began: Micros, ended: Micros) -> Micros {
        ended.max(began + period)
    }
}

/// Sleeps a period after each probe.
struct Sleep;

impl Law for Sleep {
    fn next_turn(tick: Micros, period: Micros, began: Micros, ended: Micros) -> Micros {
        if began == ended {
            return Kubelet::next_turn(tick, period, began, ended);
        }
        ended + period
    }
}

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

/// The pod as a whole decides as the lone worker does.
#[test]
fn the_pod_agrees_with_the_worker() {
    let mut random = Random(7);
    for _ in 0..3_000 {
        let probe = random.probe();
        let start = random.start(&probe);
        let load = Micros(random.of(0, Micros::secs(bounds::latest_kill(&probe)).0));
        let took = Micros(random.of(0, 2_000_000));
        let container = Container {
            startup: Some(probe.clone()),
            ..Container::named("engine")
        };
        let pod = Pod::of(vec![container]);
        let mut life = Life::loading(load, Loading::Status503);
        life.endpoint.answers_in = took;
        let latency = Latency {
            publication: start.publication,
            ..Latency::NONE
        };
        let phase = Phase {
            latency,
            ..Phase::of(start.tick, start.fraction)
        };
        let horizon = Micros::secs(bounds::latest_kill(&probe) + 200);
        let timeline = simulate(&pod, &[Scenario::always(life)], &phase, horizon);
        let alone = watch::<Kubelet>(&probe, &start, horizon, |at| {
            let timeout = Micros::secs(probe.timeout);
            let passes = at >= load && took <= timeout;
            Answer {
                outcome: if passes {
                    Outcome::Success
                } else {
                    Outcome::Failure
                },
                took: took.min(timeout),
            }
        });
        match alone {
            Some(Decision::Kill(at)) => assert_eq!(timeline.first_kill(0).unwrap().at, at),
            Some(Decision::Pass(at)) => {
                assert_eq!(timeline.first_kill(0), None);
                assert!(
                    timeline.ready_at(0).is_some_and(|ready| ready >= at),
                    "{timeline}"
                );
            }
            None => panic!("no decision"),
        }
    }
}

/// The event simulation knows none of the closed forms, and the other way round.
#[test]
fn the_halves_do_not_import_each_other() {
    let room = concat!(env!("CARGO_MANIFEST_DIR"), "/src/kubelet");
    let mut files = 0;
    for entry in std::fs::read_dir(room).unwrap() {
        let path = entry.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        let code = text.split("#[cfg(test)]").next().unwrap();
        match path.file_name().and_then(|name| name.to_str()) {
            Some("mod.rs") => continue,
            Some("bounds.rs") => {
                assert!(!code.contains("super") && !code.contains("crate::kubelet"))
            }
            _ => assert!(!code.contains("bounds"), "{}", path.display()),
        }
        files += 1;
    }
    assert!(files > 10);
}
