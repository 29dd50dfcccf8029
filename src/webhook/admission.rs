//! One review on the wire, from its head to its answer.

use std::sync::Arc;

use axum::body::Body;
use axum::http::{Request, StatusCode, header};
use axum::response::{IntoResponse, Response};
use tokio::time::Instant;

use super::judgement::{Judged, judge};
use super::rejection::Rejection;
use super::routes::Entry;
use super::shared::Shared;
use super::{body, deadline};

/// Answers a review.
pub(super) async fn review(shared: Arc<Shared>, entry: Entry, request: Request<Body>) -> Response {
    match judged(&shared, entry, request).await {
        Ok(Judged::Answer(bytes)) => json(StatusCode::OK, bytes),
        Ok(Judged::Failure(bytes)) => json(StatusCode::INTERNAL_SERVER_ERROR, bytes),
        Err(rejection) => {
            let reason = rejection.reason();
            shared.metrics.rejected(reason);
            tracing::debug!(mode = entry.word(), reason, "rejected");
            rejection.into_response()
        }
    }
}

async fn judged(
    shared: &Arc<Shared>,
    entry: Entry,
    request: Request<Body>,
) -> Result<Judged, Rejection> {
    let begun = Instant::now();
    body::accept(request.headers())?;
    let deadline = begun + deadline::timeout(request.uri().query(), shared.limits.timeout);
    let body = request.into_body();
    let Ok(_turn) = shared.requests.try_acquire() else {
        body::discard(body, deadline).await;
        return Err(Rejection::Busy);
    };
    let received = body::receive(body, &shared.limits, &shared.bodies, deadline).await?;
    if received.bytes.len() < shared.limits.large_body {
        return judge(shared, entry, begun, &received.bytes);
    }
    let _turn = shared
        .large_judgements
        .try_acquire()
        .map_err(|_| Rejection::Busy)?;
    let worker = Arc::clone(shared);
    tokio::task::spawn_blocking(move || judge(&worker, entry, begun, &received.bytes))
        .await
        .unwrap_or(Err(Rejection::Failed))
}

fn json(status: StatusCode, bytes: Vec<u8>) -> Response {
    (status, [(header::CONTENT_TYPE, "application/json")], bytes).into_response()
}
