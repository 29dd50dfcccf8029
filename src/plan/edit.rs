//! One edit, and one that is not made.

use serde_json::Value;

use crate::words::FieldPath;

/// One field that is written.
#[derive(Clone, Debug, PartialEq)]
pub struct Edit {
    /// What it is for.
    pub kind: EditKind,
    /// The container it is about, where it is about one.
    pub container: Option<String>,
    /// The field, from the root of the object.
    pub path: FieldPath,
    /// What is written; `None` takes a value of ours out again.
    pub value: Option<Value>,
    /// What stood there before any edit of ours.
    pub was: Option<Value>,
    /// Why, in short.
    pub why: String,
}

/// What an edit is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum EditKind {
    /// An annotation of the object is copied into its template, where the pods see it.
    Annotation,
    /// The grace period covers hook and drain.
    GracePeriod,
    /// A sleep before SIGTERM lets endpoints go first.
    PreStop,
    /// A liveness or readiness timeout that nobody set.
    ProbeTimeout,
    /// A rollout has time for a start.
    ProgressDeadline,
    /// A rollout needs no spare accelerator.
    Rollout,
    /// A startup probe holds the liveness probe off.
    StartupProbe,
    /// A startup probe of a pod nobody can be refused gets the declared time.
    StartupWindow,
}

impl EditKind {
    /// All kinds.
    pub const ALL: [Self; 8] = [
        Self::Annotation,
        Self::GracePeriod,
        Self::PreStop,
        Self::ProbeTimeout,
        Self::ProgressDeadline,
        Self::Rollout,
        Self::StartupProbe,
        Self::StartupWindow,
    ];

    /// The word that metrics and reports use.
    pub fn word(self) -> &'static str {
        match self {
            Self::Annotation => "annotation",
            Self::GracePeriod => "grace-period",
            Self::PreStop => "pre-stop",
            Self::ProbeTimeout => "probe-timeout",
            Self::ProgressDeadline => "progress-deadline",
            Self::Rollout => "rollout",
            Self::StartupProbe => "startup-probe",
            Self::StartupWindow => "startup-window",
        }
    }
}

/// An edit that was wanted and is not made.
#[derive(Clone, Debug, PartialEq)]
pub struct Withheld {
    /// What it would have been for.
    pub kind: EditKind,
    /// The container it is about, where it is about one.
    pub container: Option<String>,
    /// The field it would have written.
    pub path: FieldPath,
    /// Why it is not made.
    pub why: Why,
}

/// Why an edit is not made.
#[derive(Clone, Debug, PartialEq)]
pub enum Why {
    /// Somebody applied the field by name.
    Applied,
    /// The handler at hand cannot serve, and why not.
    BadHandler(String),
    /// A mesh proxy captures the pod's traffic, and the handler was not rewritten for it.
    BehindMesh,
    /// The sleep, in seconds, does not fit into the grace period, in seconds.
    ExceedsGrace(i64, i64),
    /// The API server is too old for the sleep action, and nobody knows whether the image has a `sleep`.
    NoSleep,
    /// The owner said `none`.
    OwnersNone,
    /// The owner set another value, in seconds; it is below what is needed, in seconds.
    OwnersValue(i64, i64),
    /// Peers wait for Ready.
    ReadyGate(String),
}
