//! The replay: a simulation in the phase that was observed says what was seen, in the same order and at the same times.

use std::fmt;

use warmgate::facts::Version;
use warmgate::kubelet::{Container, Micros, Phase, Pod, Scenario};
use warmgate::subject::Handler;

use super::broken::Simulator;
use super::case::{Case, handlers};
use super::observed::Observed;
use super::seen::{Seen, Sight, Thread, sights};

/// How far a simulated moment may lie from the observed one. A kubelet that is busy does everything a little later, and the
/// parts of the runtime take their time.
pub(crate) const TOLERANCE: Micros = Micros::millis(1_500);

/// A run that the simulator reproduces.
#[derive(Clone, Debug, Default)]
pub(crate) struct Match {
    /// Of everything seen, how much later than simulated it was.
    pub(crate) late: Vec<(Seen, Micros)>,
    /// Whether the load was moved by [`RAZOR`] to get there: it ended so close to a probe that the microseconds on the
    /// server's way decide.
    pub(crate) razor: bool,
}

/// A run that it does not.
#[derive(Clone, Debug)]
pub(crate) struct Miss {
    /// What differs first in each container's threads that differ.
    pub(crate) what: Vec<String>,
    /// Of everything seen before that, how much later than simulated it was.
    pub(crate) late: Vec<(Seen, Micros)>,
    /// What was simulated.
    pub(crate) simulated: Vec<Sight>,
    /// What was seen.
    pub(crate) observed: Vec<Sight>,
    names: Vec<String>,
}

/// So long before a pod is told to end its probes are not compared any more.
const EVE: Micros = Micros::millis(100);

/// By how many milliseconds a server may have been slower or faster than it says of itself, and a container later or earlier
/// in the wall clock's second.
const RAZOR: [(i64, i64); 8] = [
    (15, 0),
    (-15, 0),
    (120, 0),
    (-120, 0),
    (0, 15),
    (0, -15),
    (0, 90),
    (0, -90),
];

/// Holds a simulator against what was observed.
///
/// # Errors
///
/// The first difference, with both timelines.
pub(crate) fn compare(
    simulator: Simulator,
    case: &Case,
    observed: &Observed,
    version: Version,
) -> Result<Match, Box<Miss>> {
    let pod = observed.pod(case, version);
    let scenarios = observed.scenarios(case, &pod);
    let exact = chances(simulator, &pod, &scenarios, observed, version);
    if exact.is_ok() {
        return exact;
    }
    for (load, fraction) in RAZOR {
        let scenarios: Vec<_> = scenarios
            .iter()
            .map(|one| shifted(one, Micros::millis(load)))
            .collect();
        let mut observed = observed.clone();
        observed.fraction = observed.fraction + Micros::millis(fraction);
        if let Ok(found) = chances(simulator, &pod, &scenarios, &observed, version) {
            return Ok(Match {
                razor: true,
                ..found
            });
        }
    }
    exact
}

/// The same with all that is chance and was not observed: how long a request of a probe is on its way and the runtime takes to start its
/// command, which of two workers has its turn first at the same moment, and whether a sync under way still kills. The error is the
/// nearest.
fn chances(
    simulator: Simulator,
    pod: &Pod,
    scenarios: &[Scenario],
    observed: &Observed,
    version: Version,
) -> Result<Match, Box<Miss>> {
    let asks = |container: &Container| {
        let mut handlers = handlers(container).into_iter();
        handlers.any(|(_, handler)| matches!(handler, Handler::Exec { .. }))
    };
    let execs = if pod.containers.iter().any(asks) {
        &EXECS[..]
    } else {
        &EXECS[..1]
    };
    let mut nearest: Option<Box<Miss>> = None;
    let latencies = execs
        .iter()
        .flat_map(|exec| REQUESTS.map(|request| (*exec, request)));
    for (exec, request) in latencies {
        let either = [(false, false), (false, true), (true, false), (true, true)];
        for (startup_first, kills_in_passing) in either {
            let mut phase = Phase {
                startup_first,
                kills_in_passing,
                ..observed.phase(version)
            };
            for (.., latency) in &mut phase.latencies {
                latency.exec = exec;
                latency.probe = request;
            }
            let miss = match attempt(simulator, pod, scenarios, observed, &phase) {
                Ok(found) => return Ok(found),
                Err(miss) => miss,
            };
            let nearer = |other: &Miss| {
                let of = |one: &Miss| (one.what.len(), usize::MAX - one.late.len());
                of(&miss) < of(other)
            };
            if nearest.as_deref().is_none_or(nearer) {
                nearest = Some(miss);
            }
        }
    }
    Err(nearest.expect("something was tried"))
}

/// How long a request of a probe is on its way: usually, when nothing else is to be done, and when much is.
const REQUESTS: [Micros; 3] = [Micros::millis(4), Micros::millis(1), Micros::millis(12)];

/// How long the runtime takes to start the command of a probe: on a machine that has something else to do, and on one that has not.
const EXECS: [Micros; 2] = [Micros::millis(70), Micros::millis(35)];

/// The same server, a little later.
fn shifted(scenario: &Scenario, by: Micros) -> Scenario {
    let mut scenario = scenario.clone();
    for life in &mut scenario.lives {
        let own = life.endpoints.iter_mut().map(|(_, endpoint)| endpoint);
        if let Some(exits) = &mut life.exits {
            exits.at = exits.at + by;
        }
        for endpoint in own.chain([&mut life.endpoint]) {
            endpoint.ready_at = endpoint.ready_at + by;
            endpoint.listens_at = (endpoint.listens_at + by).max(Micros::ZERO);
            for stall in &mut endpoint.stalls {
                stall.from = stall.from + by;
                stall.to = stall.to + by;
            }
        }
    }
    scenario
}

fn attempt(
    simulator: Simulator,
    pod: &Pod,
    scenarios: &[Scenario],
    observed: &Observed,
    phase: &Phase,
) -> Result<Match, Box<Miss>> {
    let timeline = simulator(pod, scenarios, phase, observed.until);
    let simulated = sights(pod, &timeline);
    let (mut late, mut what) = (Vec::new(), Vec::new());
    // A worker that is told to stop and has a tick waiting takes the one or the other, by chance, and a probe under way is cut off or
    // answered just before.
    let eve = observed.deleted.map_or(Micros::NEVER, |at| at - EVE);
    for (number, container) in pod.containers.iter().enumerate() {
        for thread in Thread::ALL {
            let of = |sights: &[Sight]| -> Vec<Sight> {
                let its =
                    |sight: &&Sight| sight.container == number && sight.seen.thread() == thread;
                sights.iter().filter(its).copied().collect()
            };
            let eve = match thread {
                Thread::Startup | Thread::Liveness => eve,
                Thread::Life | Thread::Readiness => Micros::NEVER,
            };
            let difference = follow(
                &of(&observed.sights),
                &of(&simulated),
                (eve, observed.until),
                &mut late,
            );
            what.extend(difference.map(|it| format!("{}: {it}", container.name)));
        }
    }
    if what.is_empty() {
        return Ok(Match { late, razor: false });
    }
    Err(Box::new(Miss {
        what,
        late,
        names: pod.containers.iter().map(|one| one.name.clone()).collect(),
        observed: observed.sights.clone(),
        simulated,
    }))
}

/// Goes along two threads side by side until both are at `eve`, and says where they part. At the end of the watching one of them may be
/// ahead.
fn follow(
    seen: &[Sight],
    told: &[Sight],
    (eve, until): (Micros, Micros),
    late: &mut Vec<(Seen, Micros)>,
) -> Option<String> {
    let at_the_end =
        |sight: Option<&Sight>| sight.is_none_or(|sight| sight.at + TOLERANCE >= until);
    for place in 0..seen.len().max(told.len()) {
        let (seen, told) = (seen.get(place), told.get(place));
        if [seen, told].iter().flatten().all(|sight| sight.at >= eve) {
            return None;
        }
        match (seen, told) {
            (Some(seen), Some(told)) if seen.seen == told.seen => {
                let by = seen.at - told.at;
                if by.0.abs() > TOLERANCE.0 {
                    return Some(format!("{seen} was to be at {}", told.at));
                }
                late.push((seen.seen, by));
            }
            _ if at_the_end(seen) && at_the_end(told) => return None,
            (Some(seen), Some(told)) => return Some(format!("{seen} was to be {told}")),
            (Some(seen), None) => return Some(format!("{seen} was not to be")),
            (None, Some(told)) => return Some(format!("{told} was to be, and is not")),
            (None, None) => {}
        }
    }
    None
}

impl fmt::Display for Sight {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}\" at {:.3}", self.seen, self.at.0 as f64 / 1e6)
    }
}

impl fmt::Display for Miss {
    /// What differs, and the two timelines side by side.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for what in &self.what {
            writeln!(f, "{what}")?;
        }
        writeln!(f, "{:<54} simulated", "observed")?;
        let line = |sight: &Sight| {
            let (at, name) = (sight.at.0 as f64 / 1e6, &self.names[sight.container]);
            format!("{at:>9.3} {name}: {}", sight.seen)
        };
        let mut both: Vec<(Micros, bool, String)> = Vec::new();
        both.extend(self.observed.iter().map(|one| (one.at, true, line(one))));
        both.extend(self.simulated.iter().map(|one| (one.at, false, line(one))));
        both.sort_by_key(|(at, ..)| *at);
        for (_, seen, line) in both {
            let indent = if seen { 0 } else { 54 };
            writeln!(f, "{:indent$}{line}", "")?;
        }
        Ok(())
    }
}
