//! One review on the wire, from its head to its answer.

use std::sync::Arc;

use axum::body::Body;
use axum::http::{Request, StatusCode, header};
use axum::response::{IntoResponse, Response};
use tokio::task::{spawn_blocking, yield_now};
use tokio::time::{Instant, timeout_at};

use super::judgement::{Judged, judge};
use super::rejection::Rejection;
use super::routes::Entry;
use super::shared::Shared;
use super::{body, deadline};

/// The part of its caller's patience that a request waits for its turn. Who is told to come again after a second still has time for
/// it: a judgement that nobody waits for any more would keep others waiting.
const PATIENCE: u32 = 4;

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
    let length = received.bytes.len();
    let latest = begun + (deadline - begun) / PATIENCE;
    if length <= shared.limits.small_body {
        // What has arrived meanwhile is received first, and judged behind this one: how long that takes tells how many wait.
        yield_now().await;
        return match Instant::now() <= latest {
            true => judge(shared, entry, begun, &received.bytes),
            false => Err(Rejection::Busy),
        };
    }
    let turns = match length < shared.limits.large_body {
        true => &shared.judgements,
        false => &shared.large_judgements,
    };
    let Ok(Ok(_turn)) = timeout_at(latest, turns.acquire()).await else {
        return Err(Rejection::Busy);
    };
    let worker = Arc::clone(shared);
    spawn_blocking(move || judge(&worker, entry, begun, &received.bytes))
        .await
        .unwrap_or(Err(Rejection::Failed))
}

fn json(status: StatusCode, bytes: Vec<u8>) -> Response {
    (status, [(header::CONTENT_TYPE, "application/json")], bytes).into_response()
}
