//! What the connections, the watch and the health port share.

use arc_swap::{ArcSwap, ArcSwapOption};
use tokio::sync::Semaphore;

use crate::admit::Decision;
use crate::facts::{Facts, Mode, Origin};
use crate::review::Request;

use super::body::Budget;
use super::drain::Drain;
use super::health::Health;
use super::metrics::Metrics;
use super::tls::Identity;
use super::{Limits, Settings};

/// Judges one object: [`admit`](crate::admit::admit), or what stands in for it.
pub(super) type Judge = dyn Fn(&Request, &Facts) -> Decision + Send + Sync;

/// What is shared.
pub(super) struct Shared {
    pub(super) judge: Box<Judge>,
    /// What the files say, as the last good ones said it. The mode in it is nobody's: each request brings its own.
    pub(super) known: ArcSwap<Facts>,
    pub(super) identity: ArcSwapOption<Identity>,
    pub(super) limits: Limits,
    pub(super) drain: Drain,
    pub(super) metrics: Metrics,
    /// A permit for each request between its head and its answer.
    pub(super) requests: Semaphore,
    /// The memory of the bodies at hand.
    pub(super) bodies: Budget,
    /// A permit for each body that is judged beside the connections.
    pub(super) judgements: Semaphore,
    /// The same for large ones.
    pub(super) large_judgements: Semaphore,
}

impl Shared {
    pub(super) fn new(settings: &Settings, judge: Box<Judge>) -> Self {
        let limits = settings.limits;
        Self {
            judge,
            known: ArcSwap::from_pointee(Facts::new(Mode::Audit, Origin::Admission)),
            identity: ArcSwapOption::empty(),
            limits,
            drain: Drain::new(),
            metrics: Metrics::new(),
            requests: Semaphore::new(limits.requests),
            bodies: Budget::new(limits.bodies),
            judgements: Semaphore::new(limits.judgements),
            large_judgements: Semaphore::new(limits.large_judgements),
        }
    }
}

impl Health for Shared {
    fn unready(&self) -> Option<&'static str> {
        if self.drain.is_leaving() {
            Some("leaving")
        } else if self.identity.load().is_none() {
            Some("no certificate")
        } else {
            None
        }
    }

    fn metrics(&self) -> String {
        self.metrics.text()
    }
}
