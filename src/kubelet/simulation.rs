//! The event loop: what is due next, the turns of the workers, and what their results lead to.

use super::answer;
use super::event::{Event, What};
use super::law::Law;
use super::phase::Phase;
use super::pod::Pod;
use super::scenario::Scenario;
use super::time::Micros;
use super::timeline::Timeline;
use super::tracked::{Tracked, target};
use super::worker::Outcome;
use crate::subject::{Handler, Role};

/// The longest that the pod's worker takes from when a sync is wanted until it begins: up to a second if the pod was synced just
/// before, since it waits for a relist.
const LATEST_SYNC: Micros = Micros::millis(1_500);

/// What a worker stores at its turn the others do not see at theirs of the same moment.
const A_MOMENT: Micros = Micros(1);

/// By how much what was observed may lie beside what is simulated.
pub(super) const INEXACT: Micros = Micros::millis(20);

/// What is due; of what is due at the same moment the first here comes first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Due {
    Deletion,
    Sync,
    Turn(usize, usize),
    // What a worker stores takes a moment to be seen, and so does a probe: a worker that has its turn at the same time does not see
    // it yet.
    NotYetKnown(usize),
    Answer(usize, usize),
}

/// One pod on one node, under the law `L`.
pub(super) struct Simulation<'a, L> {
    pub(super) pod: &'a Pod,
    pub(super) phase: &'a Phase,
    pub(super) containers: Vec<Tracked<'a, L>>,
    /// When the pod is next synced, unless something makes it earlier.
    pub(super) next_sync: Micros,
    /// How many of the known syncs are over.
    past_syncs: usize,
    /// Whether something had asked for the last sync.
    was_wanted: bool,
    /// When a probe has failed often enough since.
    kill_wanted: Option<Micros>,
    /// Until when the pod's one worker is busy pulling, starting and killing.
    pub(super) busy_until: Micros,
    /// `SyncTerminatingPod` runs instead of `SyncPod`.
    pub(super) terminating: bool,
    /// Nothing happens any more.
    pub(super) over: bool,
    events: Vec<Event>,
}

impl<'a, L: Law> Simulation<'a, L> {
    pub(super) fn new(pod: &'a Pod, scenarios: &'a [Scenario], phase: &'a Phase) -> Self {
        let track = |number| Tracked::new(number, pod, scenarios.get(number), phase);
        Self {
            pod,
            phase,
            containers: (0..pod.containers.len()).map(track).collect(),
            next_sync: Micros::ZERO,
            past_syncs: 0,
            was_wanted: false,
            kill_wanted: None,
            busy_until: Micros::ZERO,
            terminating: false,
            over: false,
            events: Vec::new(),
        }
    }

    /// Runs to the horizon.
    pub(super) fn run(mut self, horizon: Micros) -> Timeline {
        while let Some((now, due)) = self.due().filter(|(now, _)| *now <= horizon) {
            match due {
                Due::Answer(number, worker) => self.answered(now, number, worker),
                Due::Deletion => self.sync_terminating_pod(now),
                Due::Sync => self.sync_pod(now),
                Due::Turn(number, worker) => self.turn(now, number, worker),
                Due::NotYetKnown(number) => self.not_yet_known(now, number),
            }
        }
        for number in 0..self.containers.len() {
            self.log_exit(number, horizon);
        }
        self.log_loads();
        self.events.retain(|event| event.at <= horizon);
        // A sync puts all its steps on the timeline at once, while the workers go on.
        self.events.sort_by_key(|event| event.at);
        Timeline {
            containers: self
                .pod
                .containers
                .iter()
                .map(|container| container.name.clone())
                .collect(),
            events: self.events,
            horizon,
        }
    }

    fn due(&self) -> Option<(Micros, Due)> {
        if self.over {
            return self.last_answers().min();
        }
        let workers = self
            .containers
            .iter()
            .enumerate()
            .flat_map(|(number, tracked)| {
                let turns = tracked
                    .workers
                    .iter()
                    .enumerate()
                    .map(move |(index, worker)| {
                        let answer = worker
                            .answer_at()
                            .map(|at| (at, Due::Answer(number, index)));
                        answer.or(worker.turn_at().map(|at| (at, Due::Turn(number, index))))
                    });
                turns.flatten()
            });
        let unknown = self.containers.iter().enumerate();
        let unknown = unknown
            .filter_map(|(number, tracked)| Some((tracked.unknown_at?, Due::NotYetKnown(number))));
        let pod = [self.sync_due(), self.deletion_due()].into_iter().flatten();
        workers.chain(unknown).chain(pod).min()
    }

    /// The answers of probes under way, which nobody takes back.
    fn last_answers(&self) -> impl Iterator<Item = (Micros, Due)> {
        let containers = self.containers.iter().enumerate();
        containers.flat_map(|(number, tracked)| {
            let workers = tracked.workers.iter().enumerate();
            workers.filter_map(move |(index, worker)| {
                Some((worker.answer_at()?, Due::Answer(number, index)))
            })
        })
    }

    /// The next sync: when one is wanted, or when one is known to come.
    fn sync_due(&self) -> Option<(Micros, Due)> {
        if self.terminating {
            return Some((self.next_sync, Due::Sync));
        }
        // If something else had asked for the last one it is too late for what that one publishes, but perhaps not for whom it kills.
        let at = self.known_sync(self.wanted_sync(), !self.was_wanted);
        let kill = self.kill_wanted.filter(|_| self.phase.kills_in_passing);
        let kill = kill.map(|at| self.known_sync(at, true));
        let at = kill.map_or(at, |kill| at.min(kill));
        let known = self.phase.syncs.get(self.past_syncs);
        let known = known.map_or(Micros::NEVER, |known| (*known).max(self.busy_until));
        Some((at.min(known), Due::Sync))
    }

    /// When a sync is wanted: as it was arranged, or when the relist shows that a container has ended.
    fn wanted_sync(&self) -> Micros {
        let ends = self.containers.iter().enumerate();
        let ends = ends.filter_map(|(number, tracked)| {
            let (restarts, at) = tracked.unnoticed_end()?;
            Some(at + self.phase.latency(number, restarts).relist)
        });
        let noticed = ends
            .min()
            .map_or(Micros::NEVER, |at| at.max(self.busy_until));
        self.next_sync.min(noticed)
    }

    /// When the sync really comes that is wanted at `at`: with the next one that is known, unless that is long after, or, if it
    /// `may_be_the_last`, one was known for a moment before. Who observes is never exact to the millisecond.
    fn known_sync(&self, at: Micros, may_be_the_last: bool) -> Micros {
        let passed = self.phase.syncs[..self.past_syncs].last();
        let passed = passed.filter(|_| may_be_the_last);
        if passed.is_some_and(|passed| *passed <= at && at - *passed <= INEXACT) {
            return at.max(self.busy_until);
        }
        let known = self.phase.syncs[self.past_syncs..].iter();
        let next = known.copied().find(|known| *known >= at);
        let soon = next.filter(|next| *next - at <= LATEST_SYNC);
        soon.unwrap_or(at).max(self.busy_until)
    }

    /// A sync begins: those that are known up to now are over with it.
    pub(super) fn pass_known_syncs(&mut self, now: Micros) {
        self.was_wanted = self.wanted_sync() <= now;
        self.kill_wanted = None;
        let known = &self.phase.syncs;
        self.past_syncs += known[self.past_syncs..]
            .iter()
            .take_while(|known| **known <= now)
            .count();
    }

    /// When the pod is to end, and with which grace period where one is asked for: by whichever comes first of a delete
    /// request and its own deadline.
    pub(super) fn last_call(&self) -> Option<(Micros, What, Option<i64>)> {
        let deletion = self.pod.deletion;
        let deletion = deletion.map(|it| (it.at, What::DeletionRequested, it.grace));
        let deadline = self.pod.active_deadline;
        let deadline = deadline.map(|at| (at, What::DeadlineExceeded, None));
        deletion
            .into_iter()
            .chain(deadline)
            .min_by_key(|call| call.0)
    }

    fn deletion_due(&self) -> Option<(Micros, Due)> {
        let (at, ..) = self.last_call().filter(|_| !self.terminating)?;
        Some((at.max(self.busy_until), Due::Deletion))
    }

    /// A worker's turn.
    fn turn(&mut self, now: Micros, number: usize, index: usize) {
        let Tracked {
            container,
            workers,
            instances,
            published,
            ..
        } = &mut self.containers[number];
        let worker = &mut workers[index];
        let role = worker.role();
        let Some(probe) = container.probe(role) else {
            return;
        };
        let version = self.pod.version;
        // In 1.35 and 1.36 exec probes hang on the context of the sync, which the termination cancels.
        let cancelled = self.terminating
            && matches!(version.minor, 35 | 36)
            && matches!(probe.handler, Handler::Exec { .. });
        let can_be_made = !cancelled && container.resolves(&probe.handler, version);
        let id = published.map(|status| status.id);
        let latency = self.phase.latency(number, id.unwrap_or(0));
        let is_new = worker.do_probe(now, published.as_ref(), || {
            if can_be_made {
                let target = target(&probe.handler, instances, id, now);
                answer::ask::<L>(probe, role, target, latency, now)
            } else {
                answer::ERRED
            }
        });
        if is_new && role != Role::Liveness {
            self.begins(now, number, role);
        }
    }

    /// A worker has stored what holds of an instance before it is probed, which asks for a sync.
    fn begins(&mut self, now: Micros, number: usize, role: Role) {
        let restarts = u32::try_from(self.containers[number].instances.len()).unwrap_or(1);
        let latency = self.phase.latency(number, restarts.saturating_sub(1));
        self.request_sync(now + latency.sync + A_MOMENT);
        if role == Role::Startup {
            self.containers[number].unknown_at = Some(now);
        }
    }

    /// The worker of the startup probe has stored that nothing is known of an instance yet. The status cache is told without a sync
    /// (`SetContainerStartup` in `status_manager.go`); if it showed the start of the instance before, that is over.
    fn not_yet_known(&mut self, now: Micros, number: usize) {
        self.containers[number].unknown_at = None;
        let published = self.containers[number].published.as_mut();
        if let Some(status) = published.filter(|status| status.started) {
            status.started = false;
            self.log(now, number, What::StartedFalse);
        }
    }

    /// A probe ends.
    fn answered(&mut self, now: Micros, number: usize, index: usize) {
        let worker = &mut self.containers[number].workers[index];
        let role = worker.role();
        let Some(counted) = worker.finish() else {
            return;
        };
        let (run, threshold) = (counted.run, worker.threshold(counted.outcome));
        let what = match counted.outcome {
            Outcome::Error => What::ProbeErrored(role),
            Outcome::Failure => What::ProbeFailed {
                role,
                run,
                threshold,
            },
            Outcome::Success => What::ProbePassed {
                role,
                run,
                threshold,
            },
        };
        self.log(now, number, what);
        if counted.changed && !self.over {
            self.stored(now, number, counted.id, role, counted.outcome);
            let at = now + self.phase.latency(number, counted.id).sync;
            if counted.outcome == Outcome::Failure && role != Role::Readiness {
                self.kill_wanted = self.kill_wanted.or(Some(at));
            }
            self.request_sync(at);
        }
    }

    /// What a new value in a results manager does to the status cache, before any sync.
    fn stored(&mut self, now: Micros, number: usize, id: u32, role: Role, outcome: Outcome) {
        let tracked = &mut self.containers[number];
        let Some(status) = tracked.published.as_mut().filter(|status| status.id == id) else {
            return;
        };
        let passed = outcome == Outcome::Success;
        match role {
            Role::Readiness => self.set_ready(now, number, passed),
            Role::Startup if passed => {
                status.started = true;
                self.log(now, number, What::StartedTrue);
            }
            Role::Liveness if passed => {}
            // A probe that was under way when the pod was deleted kills nobody any more.
            Role::Liveness | Role::Startup if self.terminating => {}
            Role::Liveness | Role::Startup => self.log(now, number, What::KillDecided(role)),
        }
    }

    pub(super) fn set_ready(&mut self, now: Micros, number: usize, ready: bool) {
        if std::mem::replace(&mut self.containers[number].ready, ready) != ready {
            let what = if ready { What::Ready } else { What::NotReady };
            self.log(now, number, what);
        }
    }

    /// Asks the pod's worker for a sync, which waits until it is free.
    fn request_sync(&mut self, at: Micros) {
        if !self.terminating {
            self.next_sync = self.next_sync.min(at.max(self.busy_until));
        }
    }

    pub(super) fn log(&mut self, at: Micros, container: usize, what: What) {
        self.events.push(Event {
            at,
            container: Some(container),
            what,
        });
    }

    pub(super) fn log_pod(&mut self, at: Micros, what: What) {
        self.events.push(Event {
            at,
            container: None,
            what,
        });
    }

    /// Puts on the timeline which instances lived until their load was done: before everything else of that moment, for a
    /// probe may pass in it, but not before their start.
    fn log_loads(&mut self) {
        let (mut events, mut at_once) = (Vec::new(), Vec::new());
        for (number, tracked) in self.containers.iter().enumerate() {
            for instance in &tracked.instances {
                let load = instance.life.endpoint.ready_at;
                let loaded = Event {
                    at: instance.started + load,
                    container: Some(number),
                    what: What::Loaded,
                };
                if loaded.at >= instance.ends.at {
                    continue;
                }
                if load > Micros::ZERO {
                    events.push(loaded);
                } else {
                    at_once.push(loaded);
                }
            }
        }
        for event in std::mem::take(&mut self.events) {
            events.push(event);
            let starts = matches!(event.what, What::Started | What::Restarted(_));
            let its = |one: &&Event| (one.at, one.container) == (event.at, event.container);
            events.extend(at_once.iter().find(its).filter(|_| starts));
        }
        self.events = events;
    }

    /// Puts the ends of a container's instances on the timeline that lie before `now` and are not there yet.
    pub(super) fn log_exit(&mut self, number: usize, now: Micros) {
        let mut ends = Vec::new();
        for instance in &mut self.containers[number].instances {
            if !instance.logged && instance.ends.at <= now {
                instance.logged = true;
                ends.push(instance.ends);
            }
        }
        for end in ends {
            self.log(end.at, number, What::Exited { code: end.code });
        }
    }
}
