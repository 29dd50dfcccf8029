//! What is found of one run when everything that was said of it is held against what was seen.

use warmgate::facts::Version;
use warmgate::kubelet::bounds::Verdict;

use super::broken::Simulator;
use super::case::Case;
use super::compare::{Match, Miss, compare};
use super::observed::Observed;
use super::prediction::{Outcome, contradiction, outside, predict, race};

/// One run and all that was said of it.
#[derive(Debug)]
pub(crate) struct Judgement {
    /// The replay in the observed phase.
    pub(crate) replay: Result<Match, Box<Miss>>,
    /// A verdict of the closed form that did not come true.
    pub(crate) contradiction: Option<String>,
    /// Moments outside of the interval that had been said.
    pub(crate) outside: Vec<String>,
    /// How many moments lay inside or outside of theirs.
    pub(crate) intervals: usize,
    /// Each race of a load against a probe: what was said, how it came out, and whether the band was as narrow as it may be.
    pub(crate) races: Vec<(Verdict, Outcome, bool)>,
}

impl Judgement {
    /// Whether all that was said is what happened.
    pub(crate) fn agrees(&self) -> bool {
        self.replay.is_ok() && self.contradiction.is_none() && self.outside.is_empty()
    }
}

/// Judges one run.
pub(crate) fn judge(
    simulator: Simulator,
    case: &Case,
    observed: &Observed,
    version: Version,
) -> Judgement {
    // What is said before it runs is said of the pod as it is deleted when it was.
    let pod = case.pod(version);
    let names: Vec<String> = pod.containers.iter().map(|one| one.name.clone()).collect();
    let predictions = predict(simulator, case, observed, version);
    let races = predictions.iter().enumerate();
    let races = races.filter_map(|(number, prediction)| {
        let (verdict, outcome) = race(prediction, observed, number)?;
        let guard = prediction.guard.as_ref()?;
        Some((verdict, outcome, guard.band() <= guard.widest()))
    });
    Judgement {
        replay: compare(simulator, case, observed, version),
        contradiction: contradiction(&predictions, observed, &names),
        outside: outside(&predictions, observed, &names),
        intervals: predictions
            .iter()
            .flat_map(|one| &one.firsts)
            .filter(|(_, range)| range.when.is_some())
            .count(),
        races: races.collect(),
    }
}
