//! A body is received: counted before anything reads it, within the deadline, and within what all bodies may take together.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};

use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, header};
use http_body_util::BodyExt;
use hyper::body::{Body as _, Frame, Incoming, SizeHint};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout_at};

use super::Limits;
use super::rejection::Rejection;

/// Memory that is taken for a body on the word of its caller; more is taken as bytes arrive, at most twice as much as they are. All
/// connections together may say much and send nothing.
const ON_TRUST: usize = 8 << 10;

/// Bodies up to here have a part of the budget of their own, so that long ones never take the room of those that API servers send.
const SHORT: usize = 64 << 10;

/// Bytes of a body that are read only to be thrown away, so that its connection can go on. A review has some thousand.
const FOR_NOTHING: u64 = 256 << 10;

/// What all bodies at hand may take together, in permits of a KiB.
#[derive(Debug)]
pub(super) struct Budget {
    short: Arc<Semaphore>,
    long: Arc<Semaphore>,
}

impl Budget {
    /// So many bytes, a quarter of them for short bodies.
    pub(super) fn new(bytes: usize) -> Self {
        let kib = bytes / 1024;
        Self {
            short: Arc::new(Semaphore::new(kib / 4)),
            long: Arc::new(Semaphore::new(kib - kib / 4)),
        }
    }

    /// Takes room for a body, if it is left. It counts room, not bytes: what is reserved for a body is gone for the others.
    fn take(&self, room: usize) -> Result<OwnedSemaphorePermit, Rejection> {
        let of = match room <= SHORT {
            true => &self.short,
            false => &self.long,
        };
        let kib = u32::try_from(room / 1024 + 1).map_err(|_| Rejection::Busy)?;
        Arc::clone(of)
            .try_acquire_many_owned(kib)
            .map_err(|_| Rejection::Busy)
    }
}

/// A body, and its share of the budget until it is dropped.
#[derive(Debug)]
pub(super) struct Received {
    pub(super) bytes: Vec<u8>,
    _share: OwnedSemaphorePermit,
}

/// Whether the headers announce plain JSON.
pub(super) fn accept(headers: &HeaderMap) -> Result<(), Rejection> {
    if headers.contains_key(header::CONTENT_ENCODING) {
        return Err(Rejection::ContentEncoding);
    }
    let mut types = headers.get_all(header::CONTENT_TYPE).iter();
    let content_type = types.next().and_then(|value| value.to_str().ok());
    match content_type {
        Some(text) if is_json(text) && types.next().is_none() => Ok(()),
        _ => Err(Rejection::ContentType),
    }
}

/// `application/json`, with no other charset than that of JSON (RFC 8259, section 8.1).
fn is_json(content_type: &str) -> bool {
    let mut parts = content_type.split(';').map(str::trim);
    let json = parts
        .next()
        .is_some_and(|name| name.eq_ignore_ascii_case("application/json"));
    json && parts.all(|parameter| {
        let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
        let value = value.trim_matches('"');
        !name.eq_ignore_ascii_case("charset") || value.eq_ignore_ascii_case("utf-8")
    })
}

/// Tells whether a body was read to its end.
#[derive(Clone, Debug, Default)]
pub(super) struct End(Arc<AtomicBool>);

impl End {
    /// Whether it was.
    pub(super) fn is_reached(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    fn reach(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// A body that tells when it has been read to its end.
pub(super) struct Told {
    body: Incoming,
    end: End,
}

impl Told {
    /// The body of a request, and whether it was read.
    pub(super) fn new(body: Incoming) -> (Self, End) {
        let end = End::default();
        if body.is_end_stream() {
            end.reach();
        }
        (
            Self {
                body,
                end: end.clone(),
            },
            end,
        )
    }
}

impl hyper::body::Body for Told {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let this = self.get_mut();
        let frame = ready!(Pin::new(&mut this.body).poll_frame(cx));
        if frame.is_none() || this.body.is_end_stream() {
            this.end.reach();
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// Receives a body. One that finds no room is [discarded](discard).
pub(super) async fn receive(
    mut body: Body,
    limits: &Limits,
    budget: &Budget,
    deadline: Instant,
) -> Result<Received, Rejection> {
    let announced = body.size_hint().exact().unwrap_or(0);
    // Whoever waits for a 100 (Continue) hears this instead and sends nothing.
    if announced > limits.body as u64 {
        return Err(Rejection::TooLarge(limits.body));
    }
    let collecting = collect(&mut body, announced as usize, limits, budget);
    let received = timeout_at(deadline, collecting)
        .await
        .unwrap_or(Err(Rejection::Late));
    if let Err(Rejection::Busy) = received {
        discard(body, deadline).await;
    }
    received
}

async fn collect(
    body: &mut Body,
    announced: usize,
    limits: &Limits,
    budget: &Budget,
) -> Result<Received, Rejection> {
    let room = announced.min(ON_TRUST);
    let mut share = budget.take(room)?;
    let mut bytes = Vec::with_capacity(room);
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|_| Rejection::Broken)?;
        let Some(data) = frame.data_ref() else {
            continue;
        };
        let length = bytes.len() + data.len();
        if length > limits.body {
            return Err(Rejection::TooLarge(limits.body));
        }
        if length > bytes.capacity() {
            let limit = match announced >= length {
                true => announced,
                false => limits.body,
            };
            let room = length.next_power_of_two().min(limit);
            // Both are taken while the bytes move from the one to the other.
            let larger = budget.take(room)?;
            bytes.reserve_exact(room - bytes.len());
            share = larger;
        }
        bytes.extend_from_slice(data);
    }
    Ok(Received {
        bytes,
        _share: share,
    })
}

/// Reads what is left of a body, if that is not much and comes in time, and throws it away: a connection whose request was not
/// read to its end cannot go on, and a handshake is what a busy server has the least time for.
pub(super) async fn discard(mut body: Body, deadline: Instant) {
    let all = async {
        let mut read = 0;
        while read + body.size_hint().lower() <= FOR_NOTHING
            && let Some(Ok(frame)) = body.frame().await
        {
            read += frame.data_ref().map_or(0, Bytes::len) as u64;
        }
    };
    // Where it does not come, the answer says that it is the last.
    let _ = timeout_at(deadline, all).await;
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::future::poll_fn;
    use std::pin::pin;

    use super::*;

    #[test]
    fn content_types() {
        for text in [
            "application/json",
            "Application/JSON",
            "application/json; charset=utf-8",
            "application/json;charset=\"UTF-8\"",
            "application/json ; profile=x",
        ] {
            assert!(is_json(text), "{text}");
        }
        for text in [
            "",
            "text/plain",
            "application/jsonp",
            "application/yaml",
            "application/json; charset=utf-16",
            "application/json; charset",
            "application/json, text/plain",
        ] {
            assert!(!is_json(text), "{text}");
        }
    }

    async fn receive_kib(budget: &Budget, kib: usize) -> Result<Received, Rejection> {
        let limits = Limits::default();
        let deadline = Instant::now() + limits.timeout;
        receive(Body::from(vec![0; kib << 10]), &limits, budget, deadline).await
    }

    fn left(budget: &Budget) -> (usize, usize) {
        (
            budget.short.available_permits(),
            budget.long.available_permits(),
        )
    }

    #[tokio::test]
    async fn the_budget_is_for_all_bodies_together() {
        let budget = Budget::new(512 << 10);
        assert_eq!(left(&budget), (128, 384));
        let first = receive_kib(&budget, 300).await.unwrap();
        assert_eq!(first.bytes.len(), 300 << 10);
        assert!(matches!(
            receive_kib(&budget, 300).await,
            Err(Rejection::Busy)
        ));
        drop(first);
        assert!(receive_kib(&budget, 300).await.is_ok());
        assert_eq!(left(&budget), (128, 384));
    }

    #[tokio::test]
    async fn long_bodies_leave_room_for_short_ones_and_short_ones_for_long_ones() {
        let budget = Budget::new(512 << 10);
        let long = receive_kib(&budget, 383).await.unwrap();
        let short = receive_kib(&budget, 40).await.unwrap();
        assert_eq!(left(&budget), (128 - 41, 0));
        drop(long);
        let other = receive_kib(&budget, 40).await.unwrap();
        assert!(receive_kib(&budget, 383).await.is_ok());
        assert!(matches!(
            receive_kib(&budget, 40).await,
            Err(Rejection::Busy)
        ));
        drop((short, other));
        assert_eq!(left(&budget), (128, 384));
    }

    /// A body of 7 MiB, if its caller is to be believed, of which nothing comes behind the first bytes.
    struct Unfinished(Option<Bytes>);

    impl hyper::body::Body for Unfinished {
        type Data = Bytes;
        type Error = Infallible;

        fn poll_frame(
            mut self: Pin<&mut Self>,
            _: &mut Context<'_>,
        ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
            match self.0.take() {
                Some(bytes) => Poll::Ready(Some(Ok(Frame::data(bytes)))),
                None => Poll::Pending,
            }
        }

        fn size_hint(&self) -> SizeHint {
            SizeHint::with_exact(7 << 20)
        }
    }

    #[tokio::test]
    async fn who_announces_much_and_sends_little_takes_little() {
        let limits = Limits::default();
        let deadline = Instant::now() + limits.timeout;
        for (sent, taken) in [(0, (9, 0)), (9 << 10, (17, 0)), (100 << 10, (0, 129))] {
            let budget = Budget::new(limits.bodies);
            let all = left(&budget);
            let body = Body::new(Unfinished(Some(vec![0; sent].into())));
            let mut receiving = pin!(receive(body, &limits, &budget, deadline));
            let pending = poll_fn(|cx| Poll::Ready(receiving.as_mut().poll(cx).is_pending()));
            assert!(pending.await);
            assert_eq!(left(&budget), (all.0 - taken.0, all.1 - taken.1), "{sent}");
        }
    }
}
