//! What a probe finds, and how long it takes: the outcome models of `pkg/probe`.

use super::scenario::{Endpoint, Life, Loading};
use super::time::Micros;
use super::worker::{Answer, Outcome};
use crate::subject::{Handler, Probe, Role};

/// How often a probe is tried while it errs (`maxProbeRetries` in `prober.go`).
const TRIES: usize = 3;

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
pub(super) fn ask(probe: &Probe, role: Role, target: Option<Target<'_>>, now: Micros) -> Answer {
    let timeout = Micros::secs(probe.timeout);
    let Some(target) = target else {
        return nobody(&probe.handler, timeout);
    };
    let endpoint = target.life.endpoint(role);
    let begins = now - target.started;
    let answer = match &probe.handler {
        Handler::Exec { command } => {
            let missing = |name| target.life.missing_commands.contains(name);
            if command.first().is_some_and(missing) {
                return ERRED;
            }
            exec(endpoint, begins, timeout)
        }
        Handler::Grpc { .. } => grpc(endpoint, begins, timeout),
        Handler::Http { .. } => http(endpoint, begins, timeout),
        Handler::Tcp { .. } => tcp(endpoint, begins),
    };
    // A process that ends under a probe resets its connections, and a command ends with it.
    let left = target.ends - now;
    if answer.took > left {
        return fails(left);
    }
    answer
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
fn nobody(handler: &Handler, timeout: Micros) -> Answer {
    match handler {
        Handler::Exec { .. } => ERRED,
        Handler::Grpc { .. } => fails(timeout),
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
fn grpc(endpoint: &Endpoint, begins: Micros, timeout: Micros) -> Answer {
    let Some(at) = dialed(endpoint, begins, timeout) else {
        return fails(timeout);
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
fn dialed(endpoint: &Endpoint, begins: Micros, timeout: Micros) -> Option<Micros> {
    let mut wait = Micros::secs(1);
    let mut at = begins;
    while at - begins < timeout {
        if !matches!(reply(endpoint, at), Reply::Refused) {
            return Some(at);
        }
        at = at + wait;
        wait = Micros(wait.0.saturating_mul(8) / 5).min(Micros::secs(120));
    }
    None
}

/// A command is taken to ask the server, and to fail where that refuses.
fn exec(endpoint: &Endpoint, begins: Micros, timeout: Micros) -> Answer {
    match reply(endpoint, begins) {
        Reply::Refused => within(
            Outcome::Failure,
            begins,
            begins + endpoint.answers_in,
            timeout,
        ),
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
    let loading = at < endpoint.ready_at;
    if at < endpoint.listens_at || (loading && endpoint.while_loading == Loading::Refused) {
        return Reply::Refused;
    }
    let done = worked(endpoint, at);
    if !loading {
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
