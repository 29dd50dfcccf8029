//! One worker: the probing of one container for one role, as `pkg/kubelet/prober/worker.go` does it.

use std::marker::PhantomData;

use super::law::Law;
use super::time::Micros;
use crate::subject::{Probe, Role};

/// What a probe found out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It passed.
    Success,
    /// It failed, and that counts.
    Failure,
    /// It could not be made. The kubelet throws such a result away: it neither counts nor ends a run.
    Error,
}

/// An outcome, and how long it took to get it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    /// What the probe found out.
    pub outcome: Outcome,
    /// How long the probe took.
    pub took: Micros,
}

/// A container as the kubelet's own status cache shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Status {
    /// Which instance of the container; stands for the container ID.
    pub(super) id: u32,
    pub(super) state: State,
    /// `status.started`: the startup probe has passed, or there is none.
    pub(super) started: bool,
}

/// The state of a container in the status cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Running {
        started_at: Micros,
    },
    Terminated {
        /// Whether the restart policy lets this container run again.
        restarts: bool,
    },
}

/// What became of one result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Counted {
    /// The instance that was probed.
    pub(super) id: u32,
    pub(super) outcome: Outcome,
    /// How many equal results in a row this makes; 0 for a result that was thrown away.
    pub(super) run: i64,
    /// Whether the results manager holds another value than before.
    pub(super) changed: bool,
}

/// A probe under way.
#[derive(Clone, Copy, Debug)]
struct Pending {
    began: Micros,
    ends: Micros,
    outcome: Outcome,
}

/// The worker of one container and role.
#[derive(Debug)]
pub(super) struct Worker<L> {
    role: Role,
    initial_delay: i64,
    failure_threshold: i64,
    success_threshold: i64,
    period: Micros,
    /// A tick of the grid; all others are whole periods away.
    tick: Micros,
    /// The fraction of the wall clock's second at 0.
    fraction: Micros,
    next_turn: Micros,
    pending: Option<Pending>,
    /// `manualTriggerCh`: holds one trigger, more are dropped.
    triggered: bool,
    ended: bool,
    container_id: Option<u32>,
    /// What the results manager holds for `container_id`; `None` is `Unknown`.
    result: Option<Outcome>,
    last_result: Option<Outcome>,
    result_run: i64,
    on_hold: bool,
    law: PhantomData<L>,
}

impl<L: Law> Worker<L> {
    /// A worker whose ticker ticks at the first moment from 0 on that is whole periods away from `tick`, and every period
    /// after. At 0 the wall clock is `fraction` past a whole second.
    pub(super) fn new(role: Role, probe: &Probe, tick: Micros, fraction: Micros) -> Self {
        let period = Micros::secs(probe.period.max(1));
        let tick = Micros(tick.0.rem_euclid(period.0));
        Self {
            role,
            initial_delay: probe.initial_delay,
            failure_threshold: probe.failure_threshold,
            success_threshold: probe.success_threshold,
            period,
            tick,
            fraction,
            next_turn: tick,
            pending: None,
            triggered: false,
            ended: false,
            container_id: None,
            result: None,
            last_result: None,
            result_run: 0,
            on_hold: false,
            law: PhantomData,
        }
    }

    pub(super) fn role(&self) -> Role {
        self.role
    }

    /// How many equal results in a row store `outcome`.
    pub(super) fn threshold(&self, outcome: Outcome) -> i64 {
        match outcome {
            Outcome::Success => self.success_threshold,
            Outcome::Failure | Outcome::Error => self.failure_threshold,
        }
    }

    /// Whether this worker has seen an instance, so that the results manager holds something for it.
    pub(super) fn has_seen(&self, id: u32) -> bool {
        self.container_id == Some(id)
    }

    /// What the results manager holds for this instance, if this worker has seen it.
    pub(super) fn result_of(&self, id: u32) -> Option<Outcome> {
        self.result.filter(|_| self.container_id == Some(id))
    }

    /// When the probe under way ends.
    pub(super) fn answer_at(&self) -> Option<Micros> {
        self.pending.map(|pending| pending.ends)
    }

    /// When the next turn starts, unless a probe is under way or the worker has ended.
    pub(super) fn turn_at(&self) -> Option<Micros> {
        (self.pending.is_none() && !self.ended).then_some(self.next_turn)
    }

    /// Ends the worker, as `stop` does. A probe under way comes to its end.
    pub(super) fn stop(&mut self) {
        self.ended = true;
    }

    /// The instance that is probed ends: a probe that would still be under way finds what `found` says of one that began then.
    pub(super) fn cut_off(&mut self, at: Micros, found: impl FnOnce(Micros) -> Outcome) {
        if let Some(pending) = self.pending.as_mut().filter(|pending| pending.ends > at) {
            pending.ends = at;
            pending.outcome = found(pending.began);
        }
    }

    /// Asks for a turn at once, and the grid starts anew from it (`UpdatePodStatus` in `prober_manager.go`).
    pub(super) fn trigger(&mut self, now: Micros) {
        if self.pending.is_some() {
            self.triggered = true;
        } else {
            self.tick = now;
            self.next_turn = now;
        }
    }

    /// One turn, the steps numbered as in `doProbe`. `probe` makes the probe; it is called at most once. Says whether the
    /// instance is one that this worker has not seen before.
    ///
    /// Steps 1 and 2 have no counterpart: a pod without status has no container either, and the workers of a finished pod
    /// are stopped. Nor has 7: a worker's copy of its pod is older than any deletion.
    pub(super) fn do_probe(
        &mut self,
        now: Micros,
        status: Option<&Status>,
        probe: impl FnOnce() -> Answer,
    ) -> bool {
        let before = self.container_id;
        let waits = self.waits(now, status);
        let is_new = self.container_id != before;
        if waits {
            self.next_turn = L::next_turn(self.tick, self.period, now, now);
            return is_new;
        }
        // 10. Ask.
        let answer = probe();
        self.pending = Some(Pending {
            began: now,
            ends: now + answer.took,
            outcome: answer.outcome,
        });
        is_new
    }

    /// Steps 3 to 9: whether this turn passes without a probe.
    fn waits(&mut self, now: Micros, status: Option<&Status>) -> bool {
        // 3. The container has not been created yet.
        let Some(status) = status else {
            return true;
        };
        // 4. A new container: resume probing. The run of results goes on.
        if self.container_id != Some(status.id) {
            self.container_id = Some(status.id);
            self.result_run = L::carried(self.result_run);
            self.result = match self.role {
                Role::Liveness => Some(Outcome::Success),
                Role::Readiness => Some(Outcome::Failure),
                Role::Startup => None,
            };
            self.on_hold = false;
        }
        // 5. On hold until there is a new container.
        if self.on_hold {
            return true;
        }
        // 6. The container does not run.
        let started_at = match status.state {
            State::Running { started_at } => started_at,
            State::Terminated { restarts } => {
                self.result = Some(Outcome::Failure);
                self.ended = !restarts;
                return true;
            }
        };
        // 8. The initial delay, counted from the start in the cache.
        let wall = self.fraction;
        if L::uptime(started_at + wall, now + wall) < self.initial_delay {
            return true;
        }
        // 9. Until the container has started only the startup probe runs, afterwards only the others.
        status.started == (self.role == Role::Startup)
    }

    /// Takes the result of the probe under way, if there is one, and counts it.
    pub(super) fn finish(&mut self) -> Option<Counted> {
        let pending = self.pending.take()?;
        let id = self.container_id?;
        if std::mem::take(&mut self.triggered) {
            self.trigger(pending.ends);
        } else {
            self.next_turn = L::next_turn(self.tick, self.period, pending.began, pending.ends);
        }
        let mut counted = Counted {
            id,
            outcome: pending.outcome,
            run: 0,
            changed: false,
        };
        if pending.outcome == Outcome::Error {
            return Some(counted);
        }
        if self.last_result == Some(pending.outcome) {
            self.result_run = self.result_run.saturating_add(1);
        } else {
            self.last_result = Some(pending.outcome);
            self.result_run = 1;
        }
        counted.run = self.result_run;
        if L::reached(self.result_run, self.threshold(pending.outcome)) {
            counted.changed = self.result != Some(pending.outcome);
            self.result = Some(pending.outcome);
            let kills = self.role == Role::Liveness && pending.outcome == Outcome::Failure;
            if kills || self.role == Role::Startup {
                self.on_hold = true;
                self.result_run = 0;
            }
        }
        Some(counted)
    }
}
