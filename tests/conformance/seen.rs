//! What can be seen of a pod from outside and told by a simulation alike.

use std::fmt;

use serde::{Deserialize, Serialize};
use warmgate::kubelet::{Container, Micros, Pod, Timeline, What};
use warmgate::subject::Role;

/// What happens to a container.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Seen {
    /// It starts.
    Started,
    /// It ends with this code.
    Exited(i64),
    /// Its startup probe passes.
    StartupPassed,
    /// Its startup probe fails.
    StartupFailed,
    /// Its startup probe could not be made.
    StartupErrored,
    /// Its liveness probe passes.
    LivenessPassed,
    /// Its liveness probe fails.
    LivenessFailed,
    /// Its liveness probe could not be made.
    LivenessErrored,
    /// Its startup probe has failed often enough.
    StartupKills,
    /// Its liveness probe has failed often enough.
    LivenessKills,
    /// Its readiness probe has passed often enough.
    Ready,
    /// Its readiness probe has failed often enough.
    NotReady,
    /// Its preStop hook begins.
    PreStop,
    /// Its preStop hook ends.
    PreStopEnded,
    /// The grace period cuts its preStop hook off.
    PreStopCutOff,
    /// It waits before it starts again.
    BackOff,
}

/// Something seen of one container.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sight {
    /// When, counted from when the kubelet made the pod's first container.
    pub(crate) at: Micros,
    /// Which container, by its number in the pod.
    pub(crate) container: usize,
    /// What.
    pub(crate) seen: Seen,
}

impl Seen {
    /// A probe of `role` that passes.
    pub(crate) fn passed(role: Role) -> Option<Self> {
        match role {
            Role::Startup => Some(Self::StartupPassed),
            Role::Liveness => Some(Self::LivenessPassed),
            Role::Readiness => None,
        }
    }

    /// A probe of `role` that fails.
    pub(crate) fn failed(role: Role) -> Option<Self> {
        match role {
            Role::Startup => Some(Self::StartupFailed),
            Role::Liveness => Some(Self::LivenessFailed),
            Role::Readiness => None,
        }
    }

    /// A probe of `role` that errs.
    pub(crate) fn errored(role: Role) -> Option<Self> {
        match role {
            Role::Startup => Some(Self::StartupErrored),
            Role::Liveness => Some(Self::LivenessErrored),
            Role::Readiness => None,
        }
    }

    /// A probe of `role` that has failed often enough.
    pub(crate) fn kills(role: Role) -> Option<Self> {
        match role {
            Role::Startup => Some(Self::StartupKills),
            Role::Liveness => Some(Self::LivenessKills),
            Role::Readiness => None,
        }
    }

    /// What is written and told of together: the results of one worker, or the life of the container itself.
    pub(crate) fn thread(self) -> Thread {
        match self {
            Self::StartupPassed | Self::StartupFailed | Self::StartupErrored => Thread::Startup,
            Self::LivenessPassed | Self::LivenessFailed | Self::LivenessErrored => Thread::Liveness,
            Self::Ready | Self::NotReady => Thread::Readiness,
            _ => Thread::Life,
        }
    }

    /// What an event of a simulation looks like from outside. Without a readiness probe a container is ready as soon as it has
    /// started, and nobody says so.
    fn of(what: What, container: &Container) -> Option<Self> {
        match what {
            What::Started | What::Restarted(_) => Some(Self::Started),
            What::Exited { code } => Some(Self::Exited(code)),
            What::ProbePassed { role, .. } => Self::passed(role),
            What::ProbeFailed { role, .. } => Self::failed(role),
            What::ProbeErrored(role) => Self::errored(role),
            What::KillDecided(role) => Self::kills(role),
            What::Ready => container.readiness.as_ref().map(|_| Self::Ready),
            What::NotReady => container.readiness.as_ref().map(|_| Self::NotReady),
            What::PreStopStarted => Some(Self::PreStop),
            What::PreStopEnded { cut_off: false } => Some(Self::PreStopEnded),
            What::PreStopEnded { cut_off: true } => Some(Self::PreStopCutOff),
            What::BackOff { .. } => Some(Self::BackOff),
            What::Loaded
            | What::StartedTrue
            | What::StartedFalse
            | What::Sigterm
            | What::Sigkill
            | What::DeadlineExceeded
            | What::DeletionRequested
            | What::Completed
            | What::PodFailed
            | What::Deleted => None,
        }
    }
}

/// Sights that follow one another; what happens in two threads at nearly the same time has no order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Thread {
    /// The container itself.
    Life,
    /// Its startup probe.
    Startup,
    /// Its liveness probe.
    Liveness,
    /// What its readiness probe makes of it.
    Readiness,
}

impl Thread {
    /// All of them.
    pub(crate) const ALL: [Self; 4] = [Self::Life, Self::Startup, Self::Liveness, Self::Readiness];
}

/// What is to be seen of a simulated pod.
pub(crate) fn sights(pod: &Pod, timeline: &Timeline) -> Vec<Sight> {
    let mut sights = Vec::new();
    for event in &timeline.events {
        let Some(number) = event.container else {
            continue;
        };
        let Some(seen) = Seen::of(event.what, &pod.containers[number]) else {
            continue;
        };
        sights.push(Sight {
            at: event.at,
            container: number,
            seen,
        });
    }
    telling(sights)
}

/// What is worth a comparison of all that is seen: once an instance has ended it goes without saying that it is not ready any
/// more, and nobody can tell whether a probe would have killed it.
pub(crate) fn telling(sights: Vec<Sight>) -> Vec<Sight> {
    let mut alive = std::collections::BTreeSet::new();
    let mut ready = std::collections::BTreeSet::new();
    let mut kept = sights;
    kept.retain(|sight| {
        let of = sight.container;
        match sight.seen {
            Seen::Started => {
                alive.insert(of);
            }
            Seen::Exited(_) => {
                alive.remove(&of);
                ready.remove(&of);
            }
            Seen::Ready => {
                ready.insert(of);
            }
            Seen::NotReady => return ready.remove(&of),
            Seen::StartupKills | Seen::LivenessKills => return alive.contains(&of),
            _ => {}
        }
        true
    });
    kept
}

impl fmt::Display for Seen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Started => write!(f, "starts"),
            Self::Exited(code) => write!(f, "ends with {code}"),
            Self::StartupPassed => write!(f, "startup probe passes"),
            Self::StartupFailed => write!(f, "startup probe fails"),
            Self::StartupErrored => write!(f, "startup probe errs"),
            Self::LivenessPassed => write!(f, "liveness probe passes"),
            Self::LivenessFailed => write!(f, "liveness probe fails"),
            Self::LivenessErrored => write!(f, "liveness probe errs"),
            Self::StartupKills => write!(f, "startup probe kills"),
            Self::LivenessKills => write!(f, "liveness probe kills"),
            Self::Ready => write!(f, "is ready"),
            Self::NotReady => write!(f, "is not ready any more"),
            Self::PreStop => write!(f, "preStop begins"),
            Self::PreStopEnded => write!(f, "preStop ends"),
            Self::PreStopCutOff => write!(f, "preStop is cut off"),
            Self::BackOff => write!(f, "waits"),
        }
    }
}
