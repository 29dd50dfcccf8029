//! The events of a timeline.

use std::fmt;

use super::time::Micros;
use crate::subject::Role;

/// What happens at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// The container starts for the first time.
    Started,
    /// The container starts again, so often by now.
    Restarted(u32),
    /// The load is done ([`Endpoint::ready_at`](super::Endpoint::ready_at)). No part of the kubelet sees this.
    Loaded,
    /// A probe has passed, so often in a row.
    ProbePassed {
        /// The probe's role.
        role: Role,
        /// How many successes in a row this makes.
        run: i64,
        /// How many count.
        threshold: i64,
    },
    /// A probe has failed, so often in a row.
    ProbeFailed {
        /// The probe's role.
        role: Role,
        /// How many failures in a row this makes.
        run: i64,
        /// How many count.
        threshold: i64,
    },
    /// A probe could not be made; the kubelet throws the result away.
    ProbeErrored(Role),
    /// `status.started` becomes true.
    StartedTrue,
    /// `status.started` becomes false again, which it was never to be: it was the instance before that had started.
    StartedFalse,
    /// The container becomes ready.
    Ready,
    /// The container is no longer ready.
    NotReady,
    /// A probe has failed often enough: the container is to be killed.
    KillDecided(Role),
    /// The preStop hook begins.
    PreStopStarted,
    /// The preStop hook ends.
    PreStopEnded {
        /// Whether the grace period was over before the hook.
        cut_off: bool,
    },
    /// SIGTERM is sent.
    Sigterm,
    /// SIGKILL is sent.
    Sigkill,
    /// The container has ended.
    Exited {
        /// The exit code; 137 after SIGKILL.
        code: i64,
    },
    /// The container waits before it starts again: CrashLoopBackOff.
    BackOff {
        /// When the wait is over. The next sync after that starts the container.
        until: Micros,
    },
    /// `activeDeadlineSeconds` is over.
    DeadlineExceeded,
    /// The delete request reaches the kubelet.
    DeletionRequested,
    /// All containers have ended, each with exit code 0: the pod is `Succeeded`.
    Completed,
    /// All containers have ended, not each with exit code 0: the pod is `Failed`.
    PodFailed,
    /// All containers of a deleted pod have ended.
    Deleted,
}

/// Something that happens to a container, or to the pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// When, counted from the start of the simulation.
    pub at: Micros,
    /// Which container, by its number in the pod; `None` is the pod itself.
    pub container: Option<usize>,
    /// What.
    pub what: What,
}

impl fmt::Display for What {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Started => write!(f, "starts"),
            Self::Restarted(count) => write!(f, "starts again, restart {count}"),
            Self::Loaded => write!(f, "has loaded"),
            Self::ProbePassed {
                role,
                run,
                threshold,
            } => write!(f, "{} passes, {run} of {threshold}", word(*role)),
            Self::ProbeFailed {
                role,
                run,
                threshold,
            } => write!(f, "{} fails, {run} of {threshold}", word(*role)),
            Self::ProbeErrored(role) => write!(f, "{} errs, which does not count", word(*role)),
            Self::StartedTrue => write!(f, "counts as started"),
            Self::StartedFalse => {
                write!(f, "no longer counts as started, as the instance before did")
            }
            Self::Ready => write!(f, "is ready"),
            Self::NotReady => write!(f, "is not ready any more"),
            Self::KillDecided(role) => write!(f, "is to be killed by {}", word(*role)),
            Self::PreStopStarted => write!(f, "preStop begins"),
            Self::PreStopEnded { cut_off: false } => write!(f, "preStop ends"),
            Self::PreStopEnded { cut_off: true } => write!(f, "preStop is cut off"),
            Self::Sigterm => write!(f, "gets SIGTERM"),
            Self::Sigkill => write!(f, "gets SIGKILL"),
            Self::Exited { code } => write!(f, "ends with exit code {code}"),
            Self::BackOff { until } => {
                write!(f, "waits until {until} at the earliest (CrashLoopBackOff)")
            }
            Self::DeadlineExceeded => write!(f, "is ended, activeDeadlineSeconds is over"),
            Self::DeletionRequested => write!(f, "is deleted"),
            Self::Completed => write!(f, "has completed"),
            Self::PodFailed => write!(f, "has failed"),
            Self::Deleted => write!(f, "is gone"),
        }
    }
}

/// How a probe is called in a sentence.
fn word(role: Role) -> &'static str {
    match role {
        Role::Liveness => "liveness probe",
        Role::Readiness => "readiness probe",
        Role::Startup => "startup probe",
    }
}
