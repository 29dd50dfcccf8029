//! The paths of the admission port: the endpoint and the mode of the namespace are in the path, so that answering needs no
//! API access.

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::{Request, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::post;

use super::admission;
use super::shared::Shared;
use crate::admit::Endpoint;
use crate::facts::Mode;

/// The path word for a namespace label whose value is none of the modes.
const UNKNOWN: &str = "unknown";

/// One entry of a webhook configuration: what is asked, and of which namespaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) endpoint: Endpoint,
    /// `None` where the namespace's label is none of the modes.
    pub(super) mode: Option<Mode>,
}

impl Entry {
    /// The entry that a path names. Nothing is mutated in the modes that do not edit.
    fn find(endpoint: Endpoint, word: &str) -> Option<Self> {
        let mode = Mode::parse(word);
        let exists = match (endpoint, mode) {
            (Endpoint::Mutate, mode) => mode.is_some_and(Mode::edits),
            (Endpoint::Validate, mode) => mode.is_some() || word == UNKNOWN,
        };
        exists.then_some(Self { endpoint, mode })
    }

    /// The word of the path.
    pub(super) fn word(self) -> &'static str {
        self.mode.map_or(UNKNOWN, Mode::word)
    }
}

/// The routes of the admission port.
pub(super) fn router(shared: Arc<Shared>) -> Router {
    Router::new()
        .route("/mutate/{mode}", post(mutate))
        .route("/validate/{mode}", post(validate))
        .with_state(shared)
}

async fn mutate(
    State(shared): State<Arc<Shared>>,
    Path(mode): Path<String>,
    request: Request<Body>,
) -> Response {
    review(shared, Endpoint::Mutate, &mode, request).await
}

async fn validate(
    State(shared): State<Arc<Shared>>,
    Path(mode): Path<String>,
    request: Request<Body>,
) -> Response {
    review(shared, Endpoint::Validate, &mode, request).await
}

async fn review(
    shared: Arc<Shared>,
    endpoint: Endpoint,
    mode: &str,
    request: Request<Body>,
) -> Response {
    match Entry::find(endpoint, mode) {
        Some(entry) => admission::review(shared, entry, request).await,
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_entry_and_no_other() {
        let exists = |endpoint, word| Entry::find(endpoint, word).is_some_and(|e| e.word() == word);
        for word in ["audit", "warn", "fix", "enforce", "unknown"] {
            assert!(exists(Endpoint::Validate, word), "{word}");
        }
        for word in ["fix", "enforce"] {
            assert!(exists(Endpoint::Mutate, word), "{word}");
        }
        for word in ["audit", "warn", "unknown", "Fix", "", "fix/"] {
            assert!(!exists(Endpoint::Mutate, word), "{word}");
        }
        assert!(!exists(Endpoint::Validate, "other"));
    }
}
