//! Leaving without losing a request.
//!
//! Endpoints lag behind, the API server's pool is sticky and HTTP/1.1 has no GOAWAY. So the listener stays open, every answer
//! carries `Connection: close`, and a connection that is idle is left alone: closing it would race with a request on its way.

use std::future::{Future, pending};
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

/// Whether, and since when, the server is leaving. Clones share it.
#[derive(Clone, Debug)]
pub(super) struct Drain(watch::Sender<Option<Instant>>);

impl Drain {
    pub(super) fn new() -> Self {
        Self(watch::Sender::new(None))
    }

    /// Starts to leave.
    pub(super) fn begin(&self) {
        self.0.send_if_modified(|since| {
            let begins = since.is_none();
            since.get_or_insert_with(Instant::now);
            begins
        });
    }

    /// Whether the server is leaving.
    pub(super) fn is_leaving(&self) -> bool {
        self.0.borrow().is_some()
    }

    /// Waits until the server has been leaving for `time`.
    pub(super) fn lasted(&self, time: Duration) -> impl Future<Output = ()> + use<> {
        let mut since = self.0.subscribe();
        async move {
            let begun = since.wait_for(Option::is_some).await.ok();
            match begun.and_then(|begun| *begun) {
                Some(begun) => sleep_until(begun + time).await,
                // Nobody is left who could begin.
                None => pending().await,
            }
        }
    }
}
