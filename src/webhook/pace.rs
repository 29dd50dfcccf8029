//! A stream that knows what its connection is waiting for, and for how long it may.
//!
//! hyper has one timer for the head of a request, and it runs while a connection is idle as well: set to seconds it closes
//! idle connections under the API server's hands, and set to minutes it lets a caller dribble a head for minutes. So hyper's
//! timer is off, and the stream itself keeps the two apart.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep};

use super::Limits;

/// The longest that a close waits for the caller's own, and the most bytes that are thrown away meanwhile. Closing a socket
/// with unread bytes in it resets the connection, and the reset can overtake the answer that was just written.
const LINGER: Duration = Duration::from_secs(1);
const LINGER_BYTES: usize = 1 << 20;

/// What a connection is waiting for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
enum Phase {
    /// The first byte of the first request.
    FirstByte,
    /// The rest of a head.
    Head,
    /// A request is being received or judged; its own deadline counts.
    Request,
    /// The next request.
    Idle,
}

/// Tells a [`Paced`] stream how far its connection is.
#[derive(Clone, Debug)]
pub(super) struct Pace(Arc<AtomicU8>);

impl Pace {
    /// The head of a request was read.
    pub(super) fn request(&self) {
        self.set(Phase::Request);
    }

    /// The answer to it is ready.
    pub(super) fn answered(&self) {
        self.set(Phase::Idle);
    }

    fn set(&self, phase: Phase) {
        self.0.store(phase as u8, Ordering::Relaxed);
    }

    fn get(&self) -> Phase {
        match self.0.load(Ordering::Relaxed) {
            0 => Phase::FirstByte,
            1 => Phase::Head,
            2 => Phase::Request,
            _ => Phase::Idle,
        }
    }
}

/// A stream with limits on waiting.
pub(super) struct Paced<S> {
    stream: S,
    pace: Pace,
    limits: Limits,
    reading: Timer<Phase>,
    writing: Timer<()>,
    lingering: Timer<()>,
    lingered: usize,
}

impl<S> Paced<S> {
    pub(super) fn new(stream: S, limits: Limits) -> Self {
        Self {
            stream,
            pace: Pace(Arc::new(AtomicU8::new(Phase::FirstByte as u8))),
            limits,
            reading: Timer::new(),
            writing: Timer::new(),
            lingering: Timer::new(),
            lingered: 0,
        }
    }

    pub(super) fn pace(&self) -> Pace {
        self.pace.clone()
    }

    /// Waits for bytes no longer than the phase allows. A connection that is only idle ends like one that its caller closed.
    fn wait_to_read(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let phase = self.pace.get();
        let limit = match phase {
            Phase::FirstByte => self.limits.first_byte,
            Phase::Head => self.limits.header,
            Phase::Idle => self.limits.idle,
            Phase::Request => {
                self.reading.stop();
                return Poll::Pending;
            }
        };
        ready!(self.reading.poll(cx, phase, limit));
        Poll::Ready(match phase {
            Phase::Head => Err(io::ErrorKind::TimedOut.into()),
            _ => Ok(()),
        })
    }

    /// Passes on what writing came to, unless it has been pending for too long.
    fn wait_to_write<T>(
        &mut self,
        cx: &mut Context<'_>,
        written: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.writing.stop();
            return written;
        }
        ready!(self.writing.poll(cx, (), self.limits.write));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Paced<S> {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let before = buffer.filled().len();
        let Poll::Ready(read) = Pin::new(&mut this.stream).poll_read(cx, buffer) else {
            return this.wait_to_read(cx);
        };
        let arrived = buffer.filled().len() > before;
        if arrived && matches!(this.pace.get(), Phase::FirstByte | Phase::Idle) {
            this.pace.set(Phase::Head);
            this.reading.stop();
        }
        Poll::Ready(read)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Paced<S> {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let written = Pin::new(&mut this.stream).poll_write(cx, bytes);
        this.wait_to_write(cx, written)
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let flushed = Pin::new(&mut this.stream).poll_flush(cx);
        this.wait_to_write(cx, flushed)
    }

    /// Ends our half, then reads until the caller ends its own.
    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if this.lingered == 0 {
            let ended = Pin::new(&mut this.stream).poll_shutdown(cx);
            ready!(this.wait_to_write(cx, ended))?;
            this.lingered = 1;
        }
        let mut space = [0; 4096];
        while this.lingered < LINGER_BYTES {
            let mut buffer = ReadBuf::new(&mut space);
            match Pin::new(&mut this.stream).poll_read(cx, &mut buffer) {
                Poll::Ready(Ok(())) if !buffer.filled().is_empty() => {
                    this.lingered += buffer.filled().len();
                }
                Poll::Ready(_) => break,
                Poll::Pending => {
                    ready!(this.lingering.poll(cx, (), LINGER));
                    break;
                }
            }
        }
        Poll::Ready(Ok(()))
    }
}

/// A timer that runs for one purpose at a time.
struct Timer<P> {
    sleep: Option<Pin<Box<Sleep>>>,
    purpose: Option<P>,
}

impl<P: Copy + PartialEq> Timer<P> {
    fn new() -> Self {
        Self {
            sleep: None,
            purpose: None,
        }
    }

    fn stop(&mut self) {
        self.purpose = None;
    }

    /// Ready once `limit` has passed since the first poll for this purpose.
    fn poll(&mut self, cx: &mut Context<'_>, purpose: P, limit: Duration) -> Poll<()> {
        let sleep = self.sleep.get_or_insert_with(|| Box::pin(sleep(limit)));
        if self.purpose != Some(purpose) {
            self.purpose = Some(purpose);
            sleep.as_mut().reset(Instant::now() + limit);
        }
        sleep.as_mut().poll(cx)
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;

    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};

    use super::*;

    const SOON: Duration = Duration::from_millis(5);

    fn limits() -> Limits {
        Limits {
            first_byte: SOON,
            header: SOON,
            idle: SOON,
            write: SOON,
            ..Limits::default()
        }
    }

    #[tokio::test]
    async fn a_timer_runs_again_after_it_was_stopped() {
        let mut timer = Timer::new();
        for _ in 0..3 {
            poll_fn(|cx| timer.poll(cx, (), SOON)).await;
            timer.stop();
        }
        // Also where it ran out and nobody looked.
        let waiting = poll_fn(|cx| Poll::Ready(timer.poll(cx, (), SOON).is_pending()));
        assert!(waiting.await);
        sleep(2 * SOON).await;
        timer.stop();
        poll_fn(|cx| timer.poll(cx, (), SOON)).await;
    }

    #[tokio::test]
    async fn silence_ends_quietly_and_a_slow_head_does_not() {
        let (mut caller, stream) = duplex(64);
        let mut paced = Paced::new(stream, limits());
        let mut byte = [0];
        assert_eq!(paced.read(&mut byte).await.ok(), Some(0));
        caller.write_all(b"P").await.unwrap();
        assert_eq!(paced.read(&mut byte).await.ok(), Some(1));
        let slow = paced.read(&mut byte).await.unwrap_err();
        assert_eq!(slow.kind(), io::ErrorKind::TimedOut);
        paced.pace().request();
        paced.pace().answered();
        assert_eq!(paced.read(&mut byte).await.ok(), Some(0));
    }

    #[tokio::test]
    async fn an_answer_that_nobody_reads_ends_the_connection() {
        let (_caller, stream) = duplex(4);
        let mut paced = Paced::new(stream, limits());
        let unread = paced.write_all(b"too long").await.unwrap_err();
        assert_eq!(unread.kind(), io::ErrorKind::TimedOut);
    }

    #[tokio::test]
    async fn a_close_takes_what_is_still_sent() {
        let (mut caller, stream) = duplex(4);
        let mut paced = Paced::new(stream, limits());
        let (sent, closed) = tokio::join!(
            async {
                caller.write_all(b"more than fits").await?;
                caller.shutdown().await
            },
            paced.shutdown()
        );
        assert!(sent.is_ok() && closed.is_ok());
    }
}
