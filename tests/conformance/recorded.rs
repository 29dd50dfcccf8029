//! A run written down: what was asked of a kubelet, and what it did.

use serde::{Deserialize, Serialize};
use warmgate::facts::Version;

use super::case::Case;
use super::observed::{Observed, WrittenLife, from_seconds, to_seconds};
use super::seen::{Seen, Sight};

/// One run of one pod, as it stands in a file.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Recorded {
    /// What it shows, a sentence.
    pub(crate) shows: String,
    /// The release of Kubernetes that ran it.
    pub(crate) kubernetes: String,
    /// The pod and its servers.
    pub(crate) case: Case,
    /// When the probe workers were made; before 0, as all moments in seconds from when the first container was made.
    grid: f64,
    /// The fraction of the wall clock's second at 0.
    fraction: f64,
    /// When the delete request came.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    deleted: Option<f64>,
    /// How long it was watched.
    until: f64,
    /// When the pod was synced.
    syncs: Vec<f64>,
    lives: Vec<WrittenLife>,
    sights: Vec<WrittenSight>,
}

/// One line of what was seen.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenSight {
    at: f64,
    container: String,
    seen: Seen,
}

impl Recorded {
    /// Writes a run down.
    pub(crate) fn of(shows: &str, kubernetes: &str, case: &Case, observed: &Observed) -> Self {
        let names = names(case, kubernetes);
        let sight = |sight: &Sight| WrittenSight {
            at: to_seconds(sight.at),
            container: names[sight.container].clone(),
            seen: sight.seen,
        };
        Self {
            shows: shows.to_owned(),
            kubernetes: kubernetes.to_owned(),
            case: case.clone(),
            grid: to_seconds(observed.grid),
            fraction: to_seconds(observed.fraction),
            deleted: observed.deleted.map(to_seconds),
            until: to_seconds(observed.until),
            syncs: observed.syncs.iter().copied().map(to_seconds).collect(),
            lives: observed
                .lives
                .iter()
                .map(|life| WrittenLife::of(life, &names))
                .collect(),
            sights: observed.sights.iter().map(sight).collect(),
        }
    }

    /// The release that ran it, as the simulator knows it.
    pub(crate) fn version(&self) -> Version {
        Version::parse(&self.kubernetes).expect("a release of Kubernetes")
    }

    /// What was seen; nothing where a line names a container that the pod does not have.
    pub(crate) fn observed(&self) -> Option<Observed> {
        let names = names(&self.case, &self.kubernetes);
        let sight = |sight: &WrittenSight| {
            Some(Sight {
                at: from_seconds(sight.at),
                container: names.iter().position(|name| *name == sight.container)?,
                seen: sight.seen,
            })
        };
        Some(Observed {
            grid: from_seconds(self.grid),
            fraction: from_seconds(self.fraction),
            deleted: self.deleted.map(from_seconds),
            until: from_seconds(self.until),
            syncs: self.syncs.iter().copied().map(from_seconds).collect(),
            lives: self
                .lives
                .iter()
                .map(|life| life.read(&names))
                .collect::<Option<_>>()?,
            sights: self.sights.iter().map(sight).collect::<Option<_>>()?,
        })
    }
}

fn names(case: &Case, kubernetes: &str) -> Vec<String> {
    let version = Version::parse(kubernetes).unwrap_or(Version::NEWEST);
    let containers = case.pod(version).containers;
    containers
        .into_iter()
        .map(|container| container.name)
        .collect()
}
