//! One sync of the pod: publish, decide, kill, start. `SyncPod` of `kubelet.go` and `kuberuntime_manager.go`.

use super::event::What;
use super::kill::{self, Kill};
use super::pod::Kind;
use super::simulation::Simulation;
use super::time::Micros;
use super::tracked::status_of;
use crate::subject::Role;

/// How often a pod is synced that gives no reason for it (`syncFrequency`), and the longest wait for the end of a back-off
/// (1.35 and later).
const SYNC_FREQUENCY: Micros = Micros::secs(60);

/// How soon a sync that failed is tried again, up to 1.34 (`backOffPeriod`).
const BACK_OFF_PERIOD: Micros = Micros::secs(10);

impl Simulation<'_> {
    /// One sync of a pod, begun at `now`. Its steps come one after another, however long each takes.
    pub(super) fn sync_pod(&mut self, now: Micros) {
        self.publish(now);
        if self.terminating {
            self.end(now, What::Deleted);
            return;
        }
        if let Some(phase) = self.final_phase(now) {
            self.end(now, phase);
            return;
        }
        let actions = self.compute_pod_actions(now);
        let mut at = now;
        if actions.kill_pod {
            at = self.kill_pod(at, self.pod.grace);
        }
        for (number, role) in actions.kill {
            at = self.kill_container(at, number, role);
        }
        let mut next = Micros::NEVER;
        for (number, last_exit) in actions.start {
            next = match self.start_container(&mut at, number, last_exit) {
                Ok(()) => Micros::ZERO,
                Err(until) => next.min(until),
            };
        }
        self.busy_until = at;
        self.next_sync = self.resync_at(at, next);
    }

    /// When the sync after one that ended at `at` comes by itself: soon if it started a container, which the relist shows
    /// (`next` is 0), by and by if one waits until `next`, else at leisure.
    fn resync_at(&self, at: Micros, next: Micros) -> Micros {
        let latency = &self.phase.latency;
        if next == Micros::ZERO {
            return at + latency.publication;
        }
        let wait = match next {
            Micros::NEVER => SYNC_FREQUENCY,
            _ if self.pod.version.minor <= 34 => BACK_OFF_PERIOD,
            until => (until - at).min(SYNC_FREQUENCY),
        };
        at + latency.stretch(wait)
    }

    /// The pod is deleted: `SyncTerminatingPod`.
    pub(super) fn sync_terminating_pod(&mut self, now: Micros) {
        let Some(deletion) = self.pod.deletion else {
            return;
        };
        self.log_pod(deletion.at, What::DeletionRequested);
        self.publish(now);
        self.terminating = true;
        for tracked in &mut self.containers {
            if tracked.container.kind == Kind::Regular {
                let kills = tracked
                    .workers
                    .iter_mut()
                    .filter(|worker| worker.role() != Role::Readiness);
                kills.for_each(|worker| worker.stop());
            }
        }
        let grace = deletion.grace.unwrap_or(self.pod.grace).max(1);
        self.busy_until = self.kill_pod(now, grace);
        self.next_sync = self.busy_until;
    }

    /// Writes what is known of the containers into the kubelet's own status cache, and asks for a readiness probe where one
    /// is still owed (`generateAPIPodStatus`, `UpdatePodStatus`).
    fn publish(&mut self, now: Micros) {
        for number in 0..self.containers.len() {
            self.log_exit(number, now);
            let tracked = &mut self.containers[number];
            let Some((status, ready)) = status_of(self.pod, tracked, now) else {
                continue;
            };
            let before = tracked
                .published
                .replace(status)
                .filter(|old| old.id == status.id);
            let newly = status.started && !before.is_some_and(|old| old.started);
            if status.started && !ready {
                let mut workers = tracked.workers.iter_mut();
                if let Some(worker) = workers.find(|worker| worker.role() == Role::Readiness) {
                    worker.trigger(now);
                }
            }
            if newly {
                self.log(now, number, What::StartedTrue);
            }
            self.set_ready(now, number, ready);
        }
    }

    fn end(&mut self, now: Micros, what: What) {
        self.log_pod(now, what);
        self.over = true;
    }

    /// Kills one container for a probe, and says when that is done.
    fn kill_container(&mut self, at: Micros, number: usize, role: Role) -> Micros {
        let grace = kill::grace(self.pod, self.containers[number].container, role);
        self.kill(at, number, grace, Micros::ZERO)
    }

    /// Kills all containers at once, the sidecars each in its turn, and says when that is done. The grace period of a probe
    /// does not count here.
    fn kill_pod(&mut self, at: Micros, grace: i64) -> Micros {
        let regular: Vec<usize> = self.of_kind(Kind::Regular).map(|(it, _)| it).collect();
        let sidecars: Vec<usize> = self.of_kind(Kind::Sidecar).map(|(it, _)| it).collect();
        let mut done = at;
        for number in regular {
            done = done.max(self.kill(at, number, grace, Micros::ZERO));
        }
        for number in sidecars.into_iter().rev() {
            done = done.max(self.kill(at, number, grace, done));
        }
        done
    }

    fn kill(&mut self, at: Micros, number: usize, grace: i64, turn: Micros) -> Micros {
        let tracked = &mut self.containers[number];
        let Some(instance) = tracked.instances.last_mut() else {
            return at;
        };
        if instance.ends.at <= at {
            return at;
        }
        let killed = kill::kill(
            tracked.container,
            instance.life.on_term,
            instance.ends,
            at,
            grace,
            turn,
        );
        instance.ends = killed.exit;
        for worker in &mut tracked.workers {
            worker.cut_off(killed.exit.at);
        }
        self.log_kill(at, number, &killed);
        killed.done
    }

    fn log_kill(&mut self, at: Micros, number: usize, kill: &Kill) {
        if let Some((end, cut_off)) = kill.hook {
            self.log(at, number, What::PreStopStarted);
            self.log(end, number, What::PreStopEnded { cut_off });
        }
        if let Some(at) = kill.sigterm {
            self.log(at, number, What::Sigterm);
        }
        if let Some(at) = kill.sigkill {
            self.log(at, number, What::Sigkill);
        }
        self.log_exit(number, kill.exit.at);
    }

    /// Starts a container at `at`, and moves `at` to when that is done; or the end of its back-off.
    ///
    /// The back-off counts from `last_exit`, the newest that was known when the sync began (`doBackOff`). A probe kill and
    /// the restart share one sync, so that is the exit before the one just brought about, and the second kill restarts at
    /// once.
    fn start_container(
        &mut self,
        at: &mut Micros,
        number: usize,
        last_exit: Option<Micros>,
    ) -> Result<(), Micros> {
        let tracked = &mut self.containers[number];
        if let Some(exit) = last_exit {
            if tracked.back_off.waits_until(exit, *at).is_some() {
                return Err(self.announce_back_off(*at, number));
            }
            tracked.back_off.next(*at);
        }
        let restarts = tracked.instances.len();
        let started = tracked.start(*at);
        *at = started + tracked.container.post_start;
        let restarts = u32::try_from(restarts).unwrap_or(u32::MAX);
        let what = match restarts {
            0 => What::Started,
            restarts => What::Restarted(restarts),
        };
        self.log(started, number, what);
        Ok(())
    }

    /// Says once until when a container waits: the next sync goes by its real last exit.
    fn announce_back_off(&mut self, at: Micros, number: usize) -> Micros {
        let tracked = &mut self.containers[number];
        let last = tracked.instances.last().map(|instance| instance.ends.at);
        let until = last.and_then(|exit| tracked.back_off.waits_until(exit, at));
        let until = until.unwrap_or(at);
        if tracked.announced.replace(until) != Some(until) {
            self.log(at, number, What::BackOff { until });
        }
        until
    }
}
