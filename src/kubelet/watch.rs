//! One startup probe on one container, until it decides: the smallest simulation there is.

use super::law::Law;
use super::time::Micros;
use super::worker::{Answer, Outcome, State, Status, Worker};
use crate::subject::{Probe, Role};

/// How a container's start lies in the kubelet's time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Start {
    /// The fraction of the wall clock's second at which the container starts.
    pub fraction: Micros,
    /// The first tick of the worker after the start; taken modulo the period.
    pub tick: Micros,
    /// V-S: how long after the start the kubelet's own status cache shows it.
    pub publication: Micros,
}

/// What one startup probe decides. Moments count from the start of the container.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// The container is to be killed.
    Kill(Micros),
    /// The container counts as started.
    Pass(Micros),
}

/// Runs one startup probe under the law `L` until it decides, or `None` if it has not by `horizon`. `answer` says what a
/// probe finds that begins so long after the start.
pub fn watch<L: Law>(
    probe: &Probe,
    start: &Start,
    horizon: Micros,
    mut answer: impl FnMut(Micros) -> Answer,
) -> Option<Decision> {
    let mut worker = Worker::<L>::new(Role::Startup, probe, start.tick, start.fraction);
    let status = Status {
        id: 0,
        state: State::Running {
            started_at: Micros::ZERO,
        },
        started: false,
    };
    while let Some(now) = worker.turn_at() {
        if now > horizon {
            return None;
        }
        let published = now >= start.publication;
        worker.do_probe(now, published.then_some(&status), || answer(now));
        let Some(ended) = worker.answer_at() else {
            continue;
        };
        worker.finish();
        match worker.result_of(status.id) {
            Some(Outcome::Success) => return Some(Decision::Pass(ended)),
            Some(Outcome::Failure) => return Some(Decision::Kill(ended)),
            Some(Outcome::Error) | None => {}
        }
    }
    None
}
