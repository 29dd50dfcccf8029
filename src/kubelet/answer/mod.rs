//! What a probe finds, and how long it takes: the outcome models of `pkg/probe`.

use super::law::Law;
use super::phase::Latency;
use super::scenario::{Endpoint, Life, Loading};
use super::time::Micros;
use super::worker::{Answer, Outcome};
use crate::subject::{Handler, Probe, Role};

/// How often a probe is tried while it errs (`maxProbeRetries` in `prober.go`).
const TRIES: i64 = 3;

/// The instance that a probe meets.
#[derive(Clone, Copy, Debug)]
pub(super) struct Target<'a> {
    pub(super) life: &'a Life,
    pub(super) started: Micros,
    /// When it ends, as far as is settled.
    pub(super) ends: Micros,
}

/// What the server does with a request, in the time of its instance.
enum Reply {
    Refused,
    /// The answer is complete at that moment.
    Healthy(Micros),
    Unhealthy(Micros),
    /// The same as healthy, but the headers come first.
    Body(Micros),
}

/// Makes one probe at `now`.
pub(super) fn ask<L: Law>(
    probe: &Probe,
    role: Role,
    target: Option<Target<'_>>,
    latency: &Latency,
    now: Micros,
) -> Answer {
    let timeout = Micros::secs(probe.timeout);
    let Some(target) = target else {
        return nobody::<L>(&probe.handler, timeout);
    };
    let endpoint = target.life.endpoint(role);
    let late = match probe.handler {
        Handler::Exec { .. } => latency.exec,
        Handler::Grpc { .. } | Handler::Http { .. } | Handler::Tcp { .. } => latency.probe,
    };
    let begins = now + late - target.started;
    let left = (target.ends - now - late).max(Micros::ZERO);
    let answer = match &probe.handler {
        Handler::Exec { command } => {
            let missing = |name| target.life.missing_commands.contains(name);
            if command.first().is_some_and(missing) || left == Micros::ZERO {
                return ERRED.after(late);
            }
            exec(endpoint, begins, timeout)
        }
        Handler::Grpc { .. } => grpc::<L>(endpoint, begins, timeout),
        Handler::Http { .. } => http(endpoint, begins, timeout),
        Handler::Tcp { .. } => tcp(endpoint, begins),
    };
    // A process that ends under a probe resets its connections, and a command ends with it.
    if answer.took > left && !dials_on(probe, endpoint, target.started, target.ends) {
        let outcome = broken_off(probe, endpoint, begins, left);
        let answer = Answer {
            outcome,
            took: left,
        };
        return answer.after(late);
    }
    answer.after(late)
}

/// What a probe finds that begins so long after the start of a process and is still under way when, `left` later, the process ends.
pub(super) fn broken_off(
    probe: &Probe,
    endpoint: &Endpoint,
    begins: Micros,
    left: Micros,
) -> Outcome {
    let reads_a_body = matches!(probe.handler, Handler::Http { .. })
        && matches!(reply(endpoint, begins), Reply::Body(_));
    // A body that breaks off is an error, which is tried again, and then nobody listens any more.
    let last = Micros::secs(probe.timeout).0.saturating_mul(TRIES - 1);
    if reads_a_body && left.0 >= last {
        Outcome::Error
    } else {
        Outcome::Failure
    }
}

/// Whether a probe under way does not notice that the process ends: it has no connection yet and goes on dialing.
pub(super) fn dials_on(probe: &Probe, endpoint: &Endpoint, started: Micros, ends: Micros) -> bool {
    matches!(probe.handler, Handler::Grpc { .. }) && started + endpoint.accepts_at() >= ends
}

/// A probe that cannot be made at all.
pub(super) const ERRED: Answer = Answer {
    outcome: Outcome::Error,
    took: Micros::ZERO,
};

fn fails(took: Micros) -> Answer {
    Answer {
        outcome: Outcome::Failure,
        took,
    }
}

/// The container is gone: the runtime has nowhere to run a command, and nobody listens.
fn nobody<L: Law>(handler: &Handler, timeout: Micros) -> Answer {
    match handler {
        Handler::Exec { .. } => ERRED,
        Handler::Grpc { .. } => fails(L::dials_for(timeout)),
        Handler::Http { .. } | Handler::Tcp { .. } => fails(Micros::ZERO),
    }
}

/// A connection is all that is asked for; the listener gives it, ready or not.
fn tcp(endpoint: &Endpoint, begins: Micros) -> Answer {
    match reply(endpoint, begins) {
        Reply::Refused => fails(Micros::ZERO),
        Reply::Healthy(_) | Reply::Unhealthy(_) | Reply::Body(_) => Answer {
            outcome: Outcome::Success,
            took: Micros::ZERO,
        },
    }
}

/// A refusal fails at once. A body that does not come in time is an error, and errors are tried again.
fn http(endpoint: &Endpoint, begins: Micros, timeout: Micros) -> Answer {
    let mut at = begins;
    for _ in 0..TRIES {
        match reply(endpoint, at) {
            Reply::Refused => return fails(at - begins),
            Reply::Body(done) if done - at > timeout => at = at + timeout,
            Reply::Healthy(done) | Reply::Body(done) => {
                return within(Outcome::Success, at, done, timeout).after(at - begins);
            }
            Reply::Unhealthy(done) => {
                return within(Outcome::Failure, at, done, timeout).after(at - begins);
            }
        }
    }
    Answer {
        outcome: Outcome::Error,
        took: at - begins,
    }
}

/// The dialer blocks and dials again until the timeout, so a refusal takes all of it. Nothing errs.
fn grpc<L: Law>(endpoint: &Endpoint, begins: Micros, timeout: Micros) -> Answer {
    let longest = L::dials_for(timeout);
    let Some(at) = dialed(endpoint, begins, longest) else {
        return fails(longest);
    };
    let left = timeout - (at - begins);
    match reply(endpoint, at) {
        Reply::Refused => fails(timeout),
        Reply::Healthy(done) | Reply::Body(done) => {
            within(Outcome::Success, at, done, left).after(at - begins)
        }
        Reply::Unhealthy(done) => within(Outcome::Failure, at, done, left).after(at - begins),
    }
}

/// When the dialer gets a connection. It waits 1 s after the first refusal and 1.6 times as long after each further one
/// (`DefaultConfig` in grpc-go's `backoff`, without its jitter).
fn dialed(endpoint: &Endpoint, begins: Micros, longest: Micros) -> Option<Micros> {
    let mut wait = Micros::secs(1);
    let mut at = begins;
    let accepts_at = endpoint.accepts_at();
    if accepts_at <= begins {
        return Some(begins);
    }
    if accepts_at - begins >= longest {
        return None;
    }
    while at < accepts_at {
        at = at + wait;
        wait = Micros(wait.0.saturating_mul(8) / 5).min(Micros::secs(120));
    }
    (at - begins < longest).then_some(at)
}

/// A command is taken to ask the server, and to fail at once where that refuses.
fn exec(endpoint: &Endpoint, begins: Micros, timeout: Micros) -> Answer {
    match reply(endpoint, begins) {
        Reply::Refused => fails(Micros::ZERO),
        Reply::Healthy(done) | Reply::Body(done) => within(Outcome::Success, begins, done, timeout),
        Reply::Unhealthy(done) => within(Outcome::Failure, begins, done, timeout),
    }
}

/// What is known at `done`, unless the timeout comes first.
fn within(outcome: Outcome, begins: Micros, done: Micros, timeout: Micros) -> Answer {
    if done - begins > timeout {
        return fails(timeout);
    }
    Answer {
        outcome,
        took: done - begins,
    }
}

impl Answer {
    /// The same, counted from so much earlier.
    fn after(self, wait: Micros) -> Self {
        Self {
            took: self.took + wait,
            ..self
        }
    }
}

/// What the server does with a request that arrives at `at`.
fn reply(endpoint: &Endpoint, at: Micros) -> Reply {
    if at < endpoint.accepts_at() {
        return Reply::Refused;
    }
    let done = worked(endpoint, at);
    if at >= endpoint.ready_at {
        return Reply::Healthy(done);
    }
    match endpoint.while_loading {
        Loading::Refused => Reply::Refused,
        Loading::Status200 => Reply::Healthy(done),
        Loading::Status503 => Reply::Unhealthy(done),
        Loading::Hang => Reply::Healthy(worked(endpoint, endpoint.ready_at)),
        Loading::HeadersThenStall => Reply::Body(worked(endpoint, endpoint.ready_at)),
    }
}

/// When an answer that is begun at `from` is done, with the stalls that fall into it.
fn worked(endpoint: &Endpoint, from: Micros) -> Micros {
    let mut done = from + endpoint.answers_in;
    for stall in &endpoint.stalls {
        let falls_in = stall.from <= from || stall.from < done;
        if stall.to > from && falls_in {
            done = done + (stall.to - stall.from.max(from));
        }
    }
    done
}

#[cfg(test)]
mod tests;
