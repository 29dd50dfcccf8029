//! The one function that every shell calls.

use json_patch::Patch;

use crate::facts::Facts;
use crate::review::{Request, Response};
use crate::words::Finding;

/// Which question of the API server is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Endpoint {
    /// What should be changed?
    Mutate,
    /// May the final object be stored?
    Validate,
}

impl Endpoint {
    /// The word of the URL path.
    pub fn word(self) -> &'static str {
        match self {
            Self::Mutate => "mutate",
            Self::Validate => "validate",
        }
    }
}

/// What is said of the object as it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Nothing that must fail was found.
    Allowed,
    /// It cannot work.
    Denied,
    /// A kind that is not known.
    NotChecked(String),
    /// Neither edited nor judged: the machine-readable reason, and a sentence.
    Skipped(&'static str, String),
}

/// The judgement of one object.
#[derive(Clone, Debug)]
pub struct Decision {
    /// What is said of the object as it stands.
    pub outcome: Outcome,
    /// Why the webhook refuses it; only in mode `enforce`.
    pub refusal: Option<String>,
    /// What mends it.
    pub patch: Patch,
    /// What is wrong with it, the gravest first.
    pub findings: Vec<Finding>,
}

impl Decision {
    /// What the API server is told at an endpoint.
    pub fn response(&self, endpoint: Endpoint) -> Response {
        let refused = endpoint == Endpoint::Validate && self.refusal.is_some();
        Response {
            allowed: !refused,
            ..Response::default()
        }
    }
}

/// Judges one object.
pub fn admit(_request: &Request, _facts: &Facts) -> Decision {
    Decision {
        outcome: Outcome::Allowed,
        refusal: None,
        patch: Patch::default(),
        findings: Vec::new(),
    }
}
