//! One pod as a kubelet ran it.

use serde::{Deserialize, Serialize};
use warmgate::facts::Version;
use warmgate::kubelet::{Latency, Micros, Phase, Pod, Scenario};

use super::case::{Case, handlers};
use super::seen::Sight;

/// One pod as a kubelet ran it. All moments count from when the kubelet began to make the pod's first container.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Observed {
    /// When the pod's probe workers were made; before 0.
    pub(crate) grid: Micros,
    /// The fraction of the wall clock's second at 0.
    pub(crate) fraction: Micros,
    /// When the kubelet began to end the pod: it was deleted, or it was done.
    pub(crate) deleted: Option<Micros>,
    /// When the kubelet began to sync the pod, from 0 on.
    pub(crate) syncs: Vec<Micros>,
    /// Every instance of every container, in the order of their starts.
    pub(crate) lives: Vec<Life>,
    /// What happened, the earliest first.
    pub(crate) sights: Vec<Sight>,
    /// When the watching ended.
    pub(crate) until: Micros,
}

/// One instance of a container, as far as it was seen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Life {
    /// The number of the container.
    pub(crate) container: usize,
    /// How many instances there were before.
    pub(crate) instance: u32,
    /// When the kubelet began to make it.
    pub(crate) made: Micros,
    /// When it started.
    pub(crate) started: Micros,
    /// When its program began to count.
    pub(crate) program: Option<Micros>,
    /// When the kubelet first synced the pod knowing that it runs.
    pub(crate) published: Option<Micros>,
    /// When it ended.
    pub(crate) ended: Option<Micros>,
    /// When the kubelet that had killed it went on.
    pub(crate) stopped: Option<Micros>,
    /// When the kubelet first synced the pod knowing of its end.
    pub(crate) noticed: Option<Micros>,
}

impl Life {
    /// How long the parts of the kubelet took with this instance; what was not seen is as usual.
    fn latency(&self, usual: Latency, syncs: &[Micros]) -> Latency {
        let between =
            |from: Option<Micros>, to: Option<Micros>| Some((to? - from?).max(Micros::ZERO));
        let started = Some(self.started);
        // Who had ended before it was killed takes no time to end.
        let sync = syncs
            .iter()
            .rfind(|sync| self.stopped.is_some_and(|stopped| **sync <= stopped));
        let ended = self.ended.map(|ended| ended.max(*sync.unwrap_or(&ended)));
        Latency {
            start: self.started - self.made,
            publication: between(started, self.published).unwrap_or(usual.publication),
            relist: between(self.ended, self.noticed).unwrap_or(usual.relist),
            stop: between(ended, self.stopped).unwrap_or(usual.stop),
            ..usual
        }
    }
}

impl Observed {
    /// The phase in which the kubelet's clocks lay, and how long its parts took.
    pub(crate) fn phase(&self, version: Version) -> Phase {
        let usual = Latency::of(version);
        Phase {
            latencies: self
                .lives
                .iter()
                .map(|life| {
                    (
                        life.container,
                        life.instance,
                        life.latency(usual, &self.syncs),
                    )
                })
                .collect(),
            latency: usual,
            syncs: self.syncs.clone(),
            ..Phase::of(self.grid, self.fraction)
        }
    }

    /// The pod as it was told to the kubelet: it was deleted when it was.
    pub(crate) fn pod(&self, case: &Case, version: Version) -> Pod {
        let mut pod = case.pod(version);
        if let (Some(deletion), Some(at)) = (&mut pod.deletion, self.deleted) {
            deletion.at = at;
        }
        if self.deleted.is_none() {
            pod.deletion = None;
        }
        pod
    }

    /// What the servers did: each instance counted from when its program began to.
    pub(crate) fn scenarios(&self, case: &Case, pod: &Pod) -> Vec<Scenario> {
        let containers = pod.containers.iter().enumerate();
        let scenario = |(number, container)| {
            let server = case.server(container);
            let handlers = handlers(container);
            let lives = self.lives.iter().filter(|life| life.container == number);
            let late = |life: &Life| life.program.map(|program| program - life.started);
            let mut lates: Vec<Micros> = lives
                .map(|life| late(life).unwrap_or(USUALLY_LATE))
                .collect();
            lates.push(USUALLY_LATE);
            Scenario {
                lives: lates
                    .into_iter()
                    .map(|late| server.life(late, &handlers))
                    .collect(),
            }
        };
        containers.map(scenario).collect()
    }
}

/// How long a program usually takes from its container's start until it counts.
pub(crate) const USUALLY_LATE: Micros = Micros::millis(20);

/// Moments are written as seconds, for whoever reads the recordings.
pub(crate) fn to_seconds(at: Micros) -> f64 {
    at.0 as f64 / 1e6
}

/// The moment that `seconds` name.
pub(crate) fn from_seconds(seconds: f64) -> Micros {
    Micros((seconds * 1e6).round() as i64)
}

/// How a life is written down.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WrittenLife {
    container: String,
    instance: u32,
    made: f64,
    started: f64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    program: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    published: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    ended: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    stopped: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    noticed: Option<f64>,
}

impl WrittenLife {
    pub(super) fn of(life: &Life, names: &[String]) -> Self {
        Self {
            container: names[life.container].clone(),
            instance: life.instance,
            made: to_seconds(life.made),
            started: to_seconds(life.started),
            program: life.program.map(to_seconds),
            published: life.published.map(to_seconds),
            ended: life.ended.map(to_seconds),
            stopped: life.stopped.map(to_seconds),
            noticed: life.noticed.map(to_seconds),
        }
    }

    pub(super) fn read(&self, names: &[String]) -> Option<Life> {
        Some(Life {
            container: names.iter().position(|name| *name == self.container)?,
            instance: self.instance,
            made: from_seconds(self.made),
            started: from_seconds(self.started),
            program: self.program.map(from_seconds),
            published: self.published.map(from_seconds),
            ended: self.ended.map(from_seconds),
            stopped: self.stopped.map(from_seconds),
            noticed: self.noticed.map(from_seconds),
        })
    }
}
