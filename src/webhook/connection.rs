//! One connection: HTTP/1.1, request after request, until its caller, its age or its waiting ends it.

use std::convert::Infallible;
use std::hash::{BuildHasher, RandomState};
use std::pin::pin;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use hyper::body::Incoming;
use hyper::header::{CONNECTION, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::Instant;
use tower::ServiceExt;

use super::body::Told;
use super::drain::Drain;
use super::pace::{Pace, Paced};
use super::{DrainTimes, Limits};

/// What the connections of a port share.
#[derive(Clone)]
pub(super) struct Service {
    pub(super) router: Router,
    pub(super) limits: Limits,
    pub(super) drain: Drain,
    pub(super) times: DrainTimes,
}

impl Service {
    /// Answers requests until the connection ends.
    pub(super) async fn serve<S>(&self, stream: S)
    where
        S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        let stream = Paced::new(stream, self.limits);
        let pace = stream.pace();
        let retire = Instant::now() + about(self.limits.connection_age);
        let answer = service_fn(|request| self.answer(&pace, retire, request));
        let mut connection = pin!(
            http1::Builder::new()
                // The stream keeps the time itself.
                .header_read_timeout(None)
                // A caller that has said all it will say still gets its answer.
                .half_close(true)
                .max_buf_size(self.limits.head)
                .max_headers(self.limits.headers)
                .serve_connection(TokioIo::new(stream), answer)
        );
        let last_call = self.drain.lasted(self.times.limit);
        let ended = tokio::select! {
            ended = &mut connection => ended,
            () = last_call => {
                connection.as_mut().graceful_shutdown();
                connection.await
            }
        };
        if let Err(error) = ended {
            tracing::debug!(%error, "connection ended early");
        }
    }

    async fn answer(
        &self,
        pace: &Pace,
        retire: Instant,
        request: Request<Incoming>,
    ) -> Result<Response<Body>, Infallible> {
        pace.request();
        let (head, body) = request.into_parts();
        let (body, end) = Told::new(body);
        let request = Request::from_parts(head, Body::new(body));
        let mut response = self.router.clone().oneshot(request).await?;
        // What is left of a body stands in the way of the next request, so hyper closes behind such an answer.
        let over = !end.is_reached() || self.drain.is_leaving() || Instant::now() >= retire;
        if over {
            // The caller hears with its answer that there is no next one here, so nothing is under way when we close.
            response
                .headers_mut()
                .insert(CONNECTION, HeaderValue::from_static("close"));
        }
        pace.answered();
        Ok(response)
    }
}

/// `time`, give or take a fifth, so that connections made together do not end together.
fn about(time: Duration) -> Duration {
    // Every RandomState has keys of its own.
    let random = RandomState::new().hash_one(0) % 1000;
    time.mul_f64(0.8 + 0.4 * random as f64 / 1000.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_differ_by_a_fifth_at_most() {
        let ages: Vec<_> = (0..100).map(|_| about(Duration::from_secs(300))).collect();
        assert!(
            ages.iter()
                .all(|age| (240.0..=360.0).contains(&age.as_secs_f64()))
        );
        assert!(ages.iter().any(|age| *age != ages[0]));
    }
}
