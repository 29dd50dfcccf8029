//! The labels of the metrics, and the words they may take.

use prometheus_client::encoding::EncodeLabelSet;

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct RequestLabels {
    pub(super) endpoint: &'static str,
    pub(super) mode: &'static str,
    /// A kind that the knowledge has, or `other`.
    pub(super) kind: String,
    pub(super) outcome: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct EndpointLabels {
    pub(super) endpoint: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct FindingLabels {
    pub(super) rule: &'static str,
    pub(super) severity: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct ReasonLabels {
    pub(super) reason: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct KindLabels {
    pub(super) kind: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct ReloadLabels {
    pub(super) file: &'static str,
    pub(super) result: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct ResultLabels {
    pub(super) result: &'static str,
}

/// What became of a review.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answered {
    Allowed,
    Changed,
    DryRun,
    Failed,
    Findings,
    NotChecked,
    NotUnderstood,
    Refused,
    Skipped,
}

impl Answered {
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Allowed => "allowed",
            Self::Changed => "changed",
            Self::DryRun => "dry-run",
            Self::Failed => "failed",
            Self::Findings => "findings",
            Self::NotChecked => "not-checked",
            Self::NotUnderstood => "not-understood",
            Self::Refused => "refused",
            Self::Skipped => "skipped",
        }
    }
}

/// A watched file.
#[derive(Clone, Copy, Debug)]
pub(super) enum File {
    Certificate,
    Config,
    Facts,
}

impl File {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Certificate => "certificate",
            Self::Config => "config",
            Self::Facts => "facts",
        }
    }
}

/// How taking a watched file went.
#[derive(Clone, Copy, Debug)]
pub(super) enum Reload {
    Error,
    Missing,
    Ok,
}

impl Reload {
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Missing => "missing",
            Self::Ok => "ok",
        }
    }
}
