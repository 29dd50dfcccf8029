//! What is said of a pod before it runs, when nobody knows the phase: the verdict, and between which moments what happens.

use warmgate::facts::Version;
use warmgate::kubelet::bounds::Verdict;
use warmgate::kubelet::{Latency, Micros, Phase, Pod, Scenario, Timeline};
use warmgate::subject::Role;

use super::broken::Simulator;
use super::case::{Case, handlers};
use super::compare::TOLERANCE;
use super::guard::Guard;
use super::observed::{Observed, USUALLY_LATE};
use super::seen::{Seen, Sight, sights};

/// What is said of one container.
#[derive(Clone, Debug)]
pub(crate) struct Prediction {
    /// The race between its load and a probe, where the closed form speaks of it.
    pub(crate) guard: Option<Guard>,
    /// When it is first killed by a probe, first starts again, and first is ready.
    pub(crate) firsts: Vec<(First, Range)>,
}

/// What happens for the first time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum First {
    /// A probe decides to kill it.
    Kill,
    /// It starts again.
    Restart,
    /// Its readiness probe has passed.
    Ready,
}

/// Over all phases, the earliest and the latest moment of something, and in which of the phases it happens at all.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Range {
    /// The earliest and the latest.
    pub(crate) when: Option<(Micros, Micros)>,
    /// Whether it happens in every phase.
    pub(crate) always: bool,
}

/// A kubelet all of whose parts take as long as they may: relists come every second, and a wait lasts up to half as long again.
const SLOW: Latency = Latency {
    probe: Micros::millis(10),
    exec: Micros::millis(200),
    start: Micros::millis(300),
    stop: Micros::millis(100),
    publication: Micros::secs(1),
    relist: Micros::secs(1),
    sync: Micros::secs(1),
    jitter: 50,
};

/// So many ticks over the longest period.
const TICKS: i64 = 24;

impl First {
    const ALL: [Self; 3] = [Self::Kill, Self::Restart, Self::Ready];

    /// When it happens among what is to be seen of one container.
    pub(crate) fn among(self, sights: &[Sight], container: usize) -> Option<Micros> {
        let its = sights.iter().filter(|sight| sight.container == container);
        let mut times = its.filter(|sight| match self {
            Self::Kill => matches!(sight.seen, Seen::StartupKills | Seen::LivenessKills),
            Self::Restart => sight.seen == Seen::Started,
            Self::Ready => sight.seen == Seen::Ready,
        });
        let skipped = usize::from(self == Self::Restart);
        times.nth(skipped).map(|sight| sight.at)
    }
}

impl Prediction {
    /// What the closed form says of a server whose program began to count `late` after its container's start.
    pub(crate) fn verdict(&self, late: Micros) -> Option<Verdict> {
        let guard = self.guard.as_ref()?;
        let load = Micros::millis(guard.passes_from) + late;
        let whole = load.whole_seconds();
        let rounded_up = whole + i64::from(Micros::secs(whole) < load);
        let (shorter, longer) = (guard.verdict(whole), guard.verdict(rounded_up));
        // What lies between two whole seconds is sure only where both are.
        Some(if shorter == longer {
            shorter
        } else {
            Verdict::Depends
        })
    }
}

/// What is said of every container of a pod before it runs, but for when somebody will delete it.
pub(crate) fn predict(
    simulator: Simulator,
    case: &Case,
    observed: &Observed,
    version: Version,
) -> Vec<Prediction> {
    let pod = observed.pod(case, version);
    let horizon = Micros::secs(case.watched + 60);
    let scenario = |container| {
        let life = case
            .server(container)
            .life(USUALLY_LATE, &handlers(container));
        Scenario::always(life)
    };
    let scenarios: Vec<_> = pod.containers.iter().map(scenario).collect();
    let phases = Phase::grid(&pod, TICKS).into_iter().flat_map(|phase| {
        let usual = Phase {
            latency: Latency::of(version),
            ..phase.clone()
        };
        // Every sync has the readiness of what is not ready looked at: many make it ready early.
        let restless = Phase {
            syncs: (0..4 * horizon.whole_seconds())
                .map(|quarter| Micros::millis(250 * quarter))
                .collect(),
            ..usual.clone()
        };
        let slow = Phase {
            latency: SLOW,
            ..phase
        };
        [usual, restless, slow]
    });
    let phases: Vec<Phase> = phases.collect();
    let timelines: Vec<Timeline> = phases
        .iter()
        .map(|phase| simulator(&pod, &scenarios, phase, horizon))
        .collect();
    let runs: Vec<Vec<Sight>> = timelines
        .iter()
        .map(|timeline| sights(&pod, timeline))
        .collect();
    let of = |number: usize| Prediction {
        guard: guard(&pod, number, case),
        firsts: First::ALL
            .into_iter()
            .map(|first| (first, range(first, &runs, number)))
            .collect(),
    };
    (0..pod.containers.len()).map(of).collect()
}

fn guard(pod: &Pod, number: usize, case: &Case) -> Option<Guard> {
    let container = &pod.containers[number];
    let mut roles = [Role::Startup, Role::Liveness].into_iter();
    let (role, probe) = roles.find_map(|role| Some((role, container.probe(role)?)))?;
    Guard::closely(role, probe, &case.server(container))
}

fn range(first: First, runs: &[Vec<Sight>], number: usize) -> Range {
    let mut range = Range {
        when: None,
        always: true,
    };
    for run in runs {
        match first.among(run, number) {
            None => range.always = false,
            Some(at) => {
                let (earliest, latest) = range.when.unwrap_or((at, at));
                range.when = Some((earliest.min(at), latest.max(at)));
            }
        }
    }
    range
}

/// How what was seen contradicts what had been said; nothing if it does not.
pub(crate) fn contradiction(
    predictions: &[Prediction],
    observed: &Observed,
    names: &[String],
) -> Option<String> {
    let verdicts = predictions.iter().enumerate();
    let contradicted = verdicts.filter_map(|(number, prediction)| {
        let (verdict, outcome) = race(prediction, observed, number)?;
        let wrong = match verdict {
            Verdict::Survives => outcome == Outcome::Killed,
            Verdict::Dies => outcome == Outcome::Passed,
            Verdict::Depends => false,
        };
        wrong.then(|| {
            format!(
                "{}: {verdict:?} was said, and it is {outcome:?}",
                names[number]
            )
        })
    });
    contradicted.into_iter().next()
}

/// How the first race of a container ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// The probe passed first.
    Passed,
    /// The probe killed first.
    Killed,
}

/// The verdict on a container and how it came out, where there was a race and it was seen to its end.
pub(crate) fn race(
    prediction: &Prediction,
    observed: &Observed,
    number: usize,
) -> Option<(Verdict, Outcome)> {
    let guard = prediction.guard.as_ref()?;
    let mut lives = observed
        .lives
        .iter()
        .filter(|life| life.container == number);
    let first = lives.next()?;
    let late = first.program? - first.started;
    let (passes, kills) = (Seen::passed(guard.role)?, Seen::kills(guard.role)?);
    let mut its = observed
        .sights
        .iter()
        .filter(|sight| sight.container == number);
    let outcome = its.find_map(|sight| match sight.seen {
        seen if seen == passes => Some(Outcome::Passed),
        seen if seen == kills => Some(Outcome::Killed),
        // It ended for another reason.
        Seen::Exited(_) => None,
        _ => None,
    })?;
    Some((prediction.verdict(late)?, outcome))
}

/// The first moments that lie outside of what had been said, each with how far.
pub(crate) fn outside(
    predictions: &[Prediction],
    observed: &Observed,
    names: &[String],
) -> Vec<String> {
    let mut outside = Vec::new();
    for (number, prediction) in predictions.iter().enumerate() {
        for (first, range) in &prediction.firsts {
            let seen = first.among(&observed.sights, number);
            let name = &names[number];
            match (seen, range.when) {
                (Some(at), None) => outside.push(format!("{name}: {first:?} at {at}, in no phase")),
                (Some(at), Some((earliest, latest))) => {
                    if at < earliest - TOLERANCE || at > latest + TOLERANCE {
                        outside.push(format!(
                            "{name}: {first:?} at {at}, said was {earliest} to {latest}"
                        ));
                    }
                }
                (None, Some((_, latest))) => {
                    if range.always && latest + TOLERANCE < observed.until {
                        outside.push(format!(
                            "{name}: no {first:?} by {}, said was by {latest}",
                            observed.until
                        ));
                    }
                }
                (None, None) => {}
            }
        }
    }
    outside
}
