//! The event simulation against the closed forms: a million random starts, and whether the bounds are reached.

use warmgate::kubelet::bounds::{self, Failing, Verdict};
use warmgate::kubelet::{Answer, Decision, Kubelet, Law, Micros, Outcome, Start, watch};
use warmgate::subject::{Handler, Probe};

use crate::conformance::Random;
use crate::kubelet::grpc;
use crate::kubelet_law::{failure, require};

/// The steps of a sweep: so many ticks over a period, so many starts over a second.
const TICKS: i64 = 40;
const FRACTIONS: i64 = 10;

const FAILING: [Failing; 4] = [
    Failing::AtOnce,
    Failing::Refuses,
    Failing::Hangs,
    Failing::Unknown,
];

/// One random start of a server that can pass after `load`.
#[derive(Debug)]
struct Case {
    probe: Probe,
    start: Start,
    load: Micros,
    failing: Failing,
}

impl Case {
    fn draw(random: &mut Random) -> Self {
        let mut probe = random.probe();
        if random.of(0, 3) == 0 {
            probe.handler = grpc(1, 1, 1).handler;
        }
        let start = random.start(&probe);
        let failing = FAILING[random.of(0, 3).unsigned_abs() as usize];
        let (earliest, latest) = bounds::kill_range(&probe, failing);
        let load = match random.of(0, 3) {
            0 => Micros::NEVER,
            1 => Micros(random.of(0, Micros::secs(latest + 4).0)),
            2 => Micros::secs(random.of(earliest - 3, earliest + 3).max(0)),
            _ => Micros::secs(random.of(latest - 3, latest + 6).max(0)),
        };
        Self {
            probe,
            start,
            load,
            failing,
        }
    }

    /// By how much the publication comes after the initial delay.
    fn late(&self) -> Micros {
        (self.start.publication - Micros::secs(self.probe.initial_delay)).max(Micros::ZERO)
    }

    /// What the server says to a probe that begins at `at`.
    fn answer(&self, random: &mut Random, at: Micros) -> Answer {
        let timeout = Micros::secs(self.probe.timeout);
        let some = Micros(random.of(0, timeout.0));
        let success = |took| Answer {
            outcome: Outcome::Success,
            took,
        };
        let load = self.load;
        if at >= load {
            return success(some);
        }
        let grpc = matches!(self.probe.handler, Handler::Grpc { .. });
        let hangs = match random.of(0, 1) {
            0 => failure(some),
            _ if load - at <= timeout => success(load - at),
            _ => failure(timeout),
        };
        match self.failing {
            Failing::AtOnce => failure(Micros::ZERO),
            Failing::Refuses if grpc => match redialed(random, load - at) {
                took if took < timeout => success(took),
                _ => failure(timeout),
            },
            Failing::Refuses => failure(Micros::ZERO),
            Failing::Hangs if load - at <= timeout => success(load - at),
            Failing::Hangs => failure(timeout),
            Failing::Unknown => hangs,
        }
    }

    fn decide<L: Law>(&self, random: &mut Random) -> Option<Decision> {
        let horizon = Micros::secs(2 * bounds::latest_kill(&self.probe) + 100);
        watch::<L>(&self.probe, &self.start, horizon, |at| {
            self.answer(random, at)
        })
    }
}

/// When a gRPC dialer first dials after `load`: after 1 s, and then after 1.6 times as long each time, give or take a fifth.
fn redialed(random: &mut Random, load: Micros) -> Micros {
    let (mut at, mut wait) = (1_000_000, 1_000_000);
    while at < load.0.min(Micros::secs(100).0) {
        wait = wait * 8 / 5;
        at += wait * random.of(80, 120) / 100;
    }
    Micros(at)
}

/// No kill and no pass lies outside the bounds, and no verdict is contradicted, in so many random cases.
pub(crate) fn check_bounds<L: Law>(cases: u64) -> Result<(), String> {
    let mut random = Random::new(3);
    (0..cases).try_for_each(|_| check_case::<L>(&mut random))
}

/// The same in one case.
pub(crate) fn check_case<L: Law>(random: &mut Random) -> Result<(), String> {
    let case = Case::draw(random);
    let decision = case.decide::<L>(random);
    let within = |holds| require(holds, || format!("{decision:?} of {case:?}"));
    let (probe, load, late) = (&case.probe, case.load, case.late());
    let guaranteed = Micros::secs(bounds::guaranteed_window(probe));
    let latest = Micros::secs(bounds::latest_kill(probe)) + late;
    match decision {
        Some(Decision::Kill(at)) => {
            let (from, to) = bounds::kill_range(probe, case.failing);
            within(at >= Micros::secs(from) && at <= Micros::secs(to) + late)?;
            within(at >= guaranteed && at >= case.start.publication && at <= latest)?;
            within(load > guaranteed)?;
            for failing in [case.failing, Failing::Unknown] {
                let verdict = bounds::verdict_when(probe, rounded_up(load), failing);
                within(verdict != Verdict::Survives)?;
            }
            Ok(())
        }
        Some(Decision::Pass(at)) => {
            let latest_pass = Micros::secs(bounds::latest_pass(probe, rounded_up(load))) + late;
            within(at >= load && at <= latest_pass && load <= latest)?;
            for failing in [case.failing, Failing::Unknown] {
                let load = (load - late).whole_seconds();
                within(bounds::verdict_when(probe, load, failing) != Verdict::Dies)?;
            }
            Ok(())
        }
        None => within(false),
    }
}

fn rounded_up(load: Micros) -> i64 {
    (load + Micros(999_999)).whole_seconds()
}

/// The bounds are reached: over all phases and start fractions the earliest and the latest kill come within one step, and
/// what depends does so for a period and, with a delay, a second.
pub(crate) fn check_tightness<L: Law>(probes: u64) -> Result<(), String> {
    let mut random = Random::new(5);
    for _ in 0..probes {
        let probe = random.probe();
        let step = Micros(probe.period * 1_000_000 / TICKS + 1_000_000 / FRACTIONS);
        for (failing, took) in [
            (Failing::AtOnce, Micros::ZERO),
            (Failing::Hangs, Micros::secs(probe.timeout)),
        ] {
            let say = |what: &str, at| format!("{probe:?} that {failing:?}: {what} at {at}");
            let (from, to) = bounds::kill_range(&probe, failing);
            require(
                to - from == probe.period + probe.initial_delay.min(1),
                || say("the band is too wide", Micros::secs(to - from)),
            )?;
            let (earliest, latest) = extremes::<L>(&probe, took)?;
            require(earliest - Micros::secs(from) <= step, || {
                say("first killed", earliest)
            })?;
            require(Micros::secs(to) - latest <= step, || {
                say("last killed", latest)
            })?;
            let verdict = |load| bounds::verdict_when(&probe, load, failing);
            let edges = [from, from + 1, to, to + 1].map(verdict);
            let as_kills = [
                Verdict::Survives,
                Verdict::Depends,
                Verdict::Depends,
                Verdict::Dies,
            ];
            require(edges == as_kills, || say("another verdict", latest))?;
        }
        let widest = (
            bounds::guaranteed_window(&probe),
            bounds::latest_kill(&probe),
        );
        require(
            widest == bounds::kill_range(&probe, Failing::Unknown),
            || format!("{probe:?} is not killed from {widest:?}"),
        )?;
    }
    Ok(())
}

/// Every phase of a sweep.
fn starts(probe: &Probe) -> impl Iterator<Item = Start> {
    let period = probe.period;
    (0..TICKS).flat_map(move |tick| {
        (0..FRACTIONS).map(move |fraction| Start {
            tick: Micros(period * 1_000_000 / TICKS * tick),
            fraction: Micros(1_000_000 / FRACTIONS * fraction),
            publication: Micros::ZERO,
        })
    })
}

/// The earliest and the latest kill of a server whose probes fail after `took`.
fn extremes<L: Law>(probe: &Probe, took: Micros) -> Result<(Micros, Micros), String> {
    let mut extremes = (Micros::NEVER, Micros::ZERO);
    for start in starts(probe) {
        let decision = watch::<L>(probe, &start, Micros::NEVER, |_| failure(took));
        let Some(Decision::Kill(at)) = decision else {
            return Err(format!("{probe:?}: {decision:?}"));
        };
        extremes = (extremes.0.min(at), extremes.1.max(at));
    }
    Ok(extremes)
}

#[test]
fn a_million_starts_stay_within_the_bounds() {
    check_bounds::<Kubelet>(1_000_000).unwrap();
}

#[test]
fn the_bounds_are_tight() {
    check_tightness::<Kubelet>(2_000).unwrap();
}

/// A second beyond what every phase survives some phase kills, and a second before what none does some phase lets pass.
#[test]
fn the_verdicts_are_tight() {
    let mut random = Random::new(13);
    for _ in 0..1_000 {
        let mut probe = random.probe();
        let failing = FAILING[random.of(0, 2).unsigned_abs() as usize];
        if failing == Failing::Refuses {
            // The dialer's first wait is no chance, its others are.
            probe.handler = grpc(1, 1, 1).handler;
            probe.timeout = random.of(1, 2);
        }
        let verdict = |load| bounds::verdict_when(&probe, load, failing);
        let (from, to) = bounds::kill_range(&probe, failing);
        let all = (from - 3).max(0)..to + 3;
        let survives = all
            .clone()
            .take_while(|load| verdict(*load) == Verdict::Survives);
        let dies = all.clone().find(|load| verdict(*load) == Verdict::Dies);
        let (survives, dies) = (survives.last().unwrap(), dies.unwrap());
        let decides = |load| {
            let case = |start| Case {
                probe: probe.clone(),
                start,
                load: Micros::secs(load),
                failing,
            };
            let decide = |start| case(start).decide::<Kubelet>(&mut Random::new(1)).unwrap();
            starts(&probe).map(decide).collect::<Vec<_>>()
        };
        let killed = |decision: &Decision| matches!(decision, Decision::Kill(_));
        assert!(
            decides(survives + 1).iter().any(killed),
            "{probe:?} {failing:?}"
        );
        assert!(
            !decides(dies - 2).iter().all(killed),
            "{probe:?} {failing:?}"
        );
    }
}
