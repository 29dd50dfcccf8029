//! The plain port: is it alive, should callers come, how is it doing.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::IntoResponse;
use axum::routing::get;

use super::Limits;
use super::shared::Shared;

/// The content type of what `prometheus-client` writes.
const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// The routes of the plain port.
pub(super) fn router(shared: Arc<Shared>) -> Router {
    Router::new()
        .route("/livez", get(|| async { "ok" }))
        .route("/readyz", get(ready))
        .route("/metrics", get(metrics))
        .with_state(shared)
}

/// The limits of the plain port: the kubelet and a few scrapers come, and must not keep anybody from reviews.
pub(super) fn limits(limits: Limits) -> Limits {
    Limits {
        connections: 128,
        first_byte: Duration::from_secs(10).min(limits.first_byte),
        ..limits
    }
}

async fn ready(State(shared): State<Arc<Shared>>) -> impl IntoResponse {
    if shared.is_ready() {
        (StatusCode::OK, "ok")
    } else if shared.drain.is_leaving() {
        (StatusCode::SERVICE_UNAVAILABLE, "leaving")
    } else {
        (StatusCode::SERVICE_UNAVAILABLE, "no certificate")
    }
}

async fn metrics(State(shared): State<Arc<Shared>>) -> impl IntoResponse {
    (
        [(header::CONTENT_TYPE, OPEN_METRICS)],
        shared.metrics.text(),
    )
}
