//! What a rule is made of.

use super::Case;
use crate::words::{Finding, Severity};

/// One rule: a bad thing that can be said of a user's object.
#[derive(Debug)]
pub struct Rule {
    /// Names the bad thing, in kebab case.
    pub id: &'static str,
    /// How grave it is, unless the finding says otherwise.
    pub severity: Severity,
    /// One line: what is wrong.
    pub summary: &'static str,
    /// The rule's page: what it sees, why it kills, an example that fails and one that passes, the cure.
    pub page: &'static str,
    pub(super) scope: Scope,
    pub(super) check: fn(&Case<'_>) -> Vec<Finding>,
}

/// Of which objects a rule speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scope {
    /// Of every object, also where it is skipped.
    Always,
    /// Of batch workloads that nobody opted in.
    Batch,
    /// Of what is judged.
    Judged,
    /// Of what is judged, and of what may be ours once its device claims are known.
    NotSkipped,
}
