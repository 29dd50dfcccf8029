//! A picture of what the kubelet does: before the fix and after it, one under the other on the same time scale.
//!
//! The drawing is made once, in moments ([`Picture`]); the terminal and SVG each cut its time into columns and draw those.

mod axis;
mod columns;
mod lane;
mod sheet;
mod svg;
mod terminal;

use super::outlook::Outlook;
use super::timeline::{Simulated, one_phase};
use crate::kubelet::{Micros, Outcome};
use crate::words::clip;
use lane::Lane;

pub use svg::svg;
pub(super) use terminal::terminal;

/// The longest title, in characters.
const TITLE: usize = 80;

/// What the kubelet does to the pods of one template, as a drawing that still knows its moments.
#[derive(Clone, Debug)]
pub struct Picture {
    /// The object.
    title: String,
    /// Which of its pods, where it has several templates.
    part: Option<&'static str>,
    /// What part of what was simulated is shown.
    phases: String,
    /// What is taken for granted of its containers, one sentence a container.
    assumed: Vec<String>,
    panels: Vec<Panel>,
    /// Where the time axis ends; it begins at 0.
    end: Micros,
}

/// One simulated run.
#[derive(Clone, Debug)]
struct Panel {
    /// Before or after the fix; empty where nothing is fixed.
    heading: &'static str,
    /// What holds over all phases, one sentence a container.
    outlooks: Vec<Outlook>,
    lanes: Vec<Lane>,
}

/// How a container stands between two moments. Those further down say more where several share a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum State {
    /// It is ready and has loaded.
    Ready,
    /// It runs and loads.
    Loads,
    /// It waits in CrashLoopBackOff.
    BackOff,
    /// It has loaded and is not ready.
    Loaded,
    /// It counts as ready and has not loaded.
    Early,
    /// It is being ended.
    Ends,
}

/// Everything that is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sign {
    State(State),
    /// A probe, or the pod's deadline, has it killed.
    Killed,
    Probe(Outcome),
}

impl Sign {
    /// All of them, in the order of the legend.
    const ALL: [Self; 10] = [
        Self::State(State::Loads),
        Self::State(State::Early),
        Self::State(State::Loaded),
        Self::State(State::Ready),
        Self::State(State::Ends),
        Self::State(State::BackOff),
        Self::Killed,
        Self::Probe(Outcome::Success),
        Self::Probe(Outcome::Failure),
        Self::Probe(Outcome::Error),
    ];

    /// Its meaning, as the legend says it.
    fn word(self) -> &'static str {
        match self {
            Self::State(State::Loads) => "loads",
            Self::State(State::Early) => "counts as ready, not loaded",
            Self::State(State::Loaded) => "loaded, not ready",
            Self::State(State::Ready) => "ready",
            Self::State(State::Ends) => "ends",
            Self::State(State::BackOff) => "CrashLoopBackOff",
            Self::Killed => "killed",
            Self::Probe(Outcome::Success) => "probe passes",
            Self::Probe(Outcome::Failure) => "probe fails",
            Self::Probe(Outcome::Error) => "probe errs",
        }
    }
}

/// Draws the pods of each template. `before` and `after` hold the same templates in the same order; `after` is `None` where
/// nothing is fixed. A template whose containers neither load nor have probes makes no picture.
pub(super) fn draw(title: &str, before: &[Simulated], after: Option<&[Simulated]>) -> Vec<Picture> {
    let pairs = before.iter().enumerate().map(|(number, before)| {
        let after = after.and_then(|after| after.get(number));
        of_template(title, before, after)
    });
    pairs
        .filter(|picture| picture.panels.iter().any(|panel| !panel.lanes.is_empty()))
        .collect()
}

fn of_template(title: &str, before: &Simulated, after: Option<&Simulated>) -> Picture {
    let panels = match after {
        None => vec![Panel::of("", before)],
        Some(after) => both_panels(before, after),
    };
    let both = || [Some(before), after].into_iter().flatten();
    let told = both().map(Simulated::told_until).max();
    let horizon = both().map(|one| one.timeline.horizon).min();
    Picture {
        title: clip(title, TITLE),
        part: before.part,
        phases: one_phase(both()),
        assumed: before.assumed.clone(),
        panels,
        end: axis::end(told.unwrap_or_default(), horizon.unwrap_or(Micros::NEVER)),
    }
}

/// Before and after; one panel for both where they look the same.
fn both_panels(before: &Simulated, after: &Simulated) -> Vec<Panel> {
    let before = Panel::of("before the fix", before);
    let after = Panel::of("after the fix", after);
    if before.looks_like(&after) {
        return vec![Panel {
            heading: "before and after the fix",
            ..after
        }];
    }
    vec![before, after]
}

impl Panel {
    fn looks_like(&self, other: &Self) -> bool {
        let sentences = |panel: &Self| -> Vec<String> {
            let outlooks = panel.outlooks.iter();
            outlooks.map(Outlook::sentence).collect()
        };
        self.lanes == other.lanes && sentences(self) == sentences(other)
    }

    fn of(heading: &'static str, simulated: &Simulated) -> Self {
        let timeline = &simulated.timeline;
        let outlooks = simulated.outlooks.clone();
        let loads = |number| outlooks.iter().any(|outlook| outlook.number == number);
        let lanes = (0..timeline.containers.len()).filter_map(|number| {
            let lane = Lane::of(timeline, number);
            (loads(number) || !lane.probes.is_empty()).then_some(lane)
        });
        Self {
            heading,
            lanes: lanes.collect(),
            outlooks,
        }
    }
}

impl Picture {
    /// The object, and which of its pods.
    fn full_title(&self) -> String {
        match self.part {
            Some(part) => format!("{}, {part} pods", self.title),
            None => self.title.clone(),
        }
    }
}
