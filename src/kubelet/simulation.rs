//! The event loop: what is due next, the turns of the workers, and what their results lead to.

use super::answer;
use super::event::{Event, What};
use super::phase::Phase;
use super::pod::Pod;
use super::scenario::Scenario;
use super::time::Micros;
use super::timeline::Timeline;
use super::tracked::{Tracked, target};
use super::worker::Outcome;
use crate::subject::{Handler, Role};

/// What is due; of what is due at the same moment the first here comes first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Due {
    Answer(usize, usize),
    Deletion,
    Sync,
    Turn(usize, usize),
}

/// One pod on one node.
pub(super) struct Simulation<'a> {
    pub(super) pod: &'a Pod,
    pub(super) phase: &'a Phase,
    pub(super) containers: Vec<Tracked<'a>>,
    /// When the pod is next synced, unless something makes it earlier.
    pub(super) next_sync: Micros,
    /// Until when the pod's one worker is busy pulling, starting and killing.
    pub(super) busy_until: Micros,
    /// `SyncTerminatingPod` runs instead of `SyncPod`.
    pub(super) terminating: bool,
    /// Nothing happens any more.
    pub(super) over: bool,
    events: Vec<Event>,
}

impl<'a> Simulation<'a> {
    pub(super) fn new(pod: &'a Pod, scenarios: &'a [Scenario], phase: &'a Phase) -> Self {
        let track =
            |(number, container)| Tracked::new(number, container, scenarios.get(number), phase);
        Self {
            pod,
            phase,
            containers: pod.containers.iter().enumerate().map(track).collect(),
            next_sync: Micros::ZERO,
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
            }
        }
        for number in 0..self.containers.len() {
            self.log_exit(number, horizon);
            self.log_loads(number);
        }
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
            return None;
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
        let pod = [self.sync_due(), self.deletion_due()].into_iter().flatten();
        workers.chain(pod).min()
    }

    /// The next sync: as it was arranged, or when the relist shows that a container has ended.
    fn sync_due(&self) -> Option<(Micros, Due)> {
        let ends = self.containers.iter().filter_map(Tracked::unnoticed_end);
        let noticed = ends.min().map_or(Micros::NEVER, |at| {
            (at + self.phase.latency.relist).max(self.busy_until)
        });
        let arranged = self.next_sync;
        let at = if self.terminating {
            arranged
        } else {
            arranged.min(noticed)
        };
        Some((at, Due::Sync))
    }

    fn deletion_due(&self) -> Option<(Micros, Due)> {
        let deletion = self.pod.deletion.filter(|_| !self.terminating)?;
        Some((deletion.at.max(self.busy_until), Due::Deletion))
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
        worker.do_probe(now, published.as_ref(), || {
            if can_be_made {
                let target = target(&probe.handler, instances, id, now);
                answer::ask(probe, role, target, now)
            } else {
                answer::ERRED
            }
        });
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
        if counted.changed {
            self.stored(now, number, counted.id, role, counted.outcome);
            self.request_sync(now + self.phase.latency.sync);
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

    /// Puts on the timeline which instances of a container lived until their load was done.
    fn log_loads(&mut self, number: usize) {
        let instances = &self.containers[number].instances;
        let loaded: Vec<Micros> = instances
            .iter()
            .map(|instance| (instance, instance.started + instance.life.endpoint.ready_at))
            .filter(|(instance, at)| *at < instance.ends.at)
            .map(|(_, at)| at)
            .collect();
        for at in loaded {
            self.log(at, number, What::Loaded);
        }
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
