//! One sync of the pod: publish, decide, kill, start. `SyncPod` of `kubelet.go` and `kuberuntime_manager.go`.

use super::actions::Actions;
use super::answer;
use super::event::What;
use super::kill::{self, Kill};
use super::law::Law;
use super::pod::Kind;
use super::simulation::Simulation;
use super::time::Micros;
use super::tracked::{Tracked, status_of};
use crate::subject::Role;

/// How often a pod is synced that gives no reason for it (`syncFrequency`), and the longest wait for the end of a back-off
/// (1.35 and later).
const SYNC_FREQUENCY: Micros = Micros::secs(60);

/// How soon a sync that failed is tried again, up to 1.34 (`backOffPeriod`).
const BACK_OFF_PERIOD: Micros = Micros::secs(10);

impl<L: Law> Simulation<'_, L> {
    /// One sync of a pod, begun at `now`. Its steps come one after another, however long each takes.
    pub(super) fn sync_pod(&mut self, now: Micros) {
        self.pass_known_syncs(now);
        self.publish(now);
        if self.terminating {
            let what = match self.last_call() {
                Some((_, What::DeadlineExceeded, _)) => What::PodFailed,
                _ => What::Deleted,
            };
            self.end(now, what);
            return;
        }
        if let Some(phase) = self.final_phase(now) {
            self.end(now, phase);
            return;
        }
        let actions = self.compute_pod_actions(now);
        let mut at = now;
        let graces = self.graces(&actions);
        if actions.kill_pod {
            at = self.kill_pod(at, &graces);
        } else {
            for (number, _) in actions.kill {
                at = self.kill(at, number, graces[number], Micros::ZERO);
            }
        }
        let mut waits_until = Micros::NEVER;
        for (number, last_exit) in actions.start {
            if let Err(until) = self.start_container(&mut at, number, last_exit) {
                waits_until = waits_until.min(until);
            }
        }
        self.busy_until = at;
        self.next_sync = self.resync_at(at, waits_until);
    }

    /// When the sync after one that ended at `at` comes by itself: soon if there is a start to publish, by and by if a
    /// container waits in back-off, else at leisure.
    fn resync_at(&self, at: Micros, waits_until: Micros) -> Micros {
        let latency = &self.phase.latency;
        let unpublished = self.containers.iter().filter_map(Tracked::unpublished);
        let publication =
            unpublished.map(|own| own.map_or(at + latency.publication, |own| own.max(at)));
        if let Some(publication) = publication.min() {
            return publication;
        }
        if !self.phase.syncs.is_empty() {
            return Micros::NEVER;
        }
        let wait = match waits_until {
            Micros::NEVER => SYNC_FREQUENCY,
            _ if self.pod.version.minor <= 34 => BACK_OFF_PERIOD,
            until => (until - at).min(SYNC_FREQUENCY),
        };
        at + latency.stretch(wait)
    }

    /// The grace period of each container in seconds.
    fn graces(&self, actions: &Actions) -> Vec<i64> {
        let pod = self.pod.grace;
        let mut graces = vec![pod; self.containers.len()];
        for (number, role) in &actions.kill {
            let probe = self.containers[*number].container.probe(*role);
            let own = probe.and_then(|probe| probe.termination_grace);
            graces[*number] = L::grace(own, pod, actions.kill_pod);
        }
        graces
    }

    /// The pod is deleted, or over its deadline: `SyncTerminatingPod`.
    pub(super) fn sync_terminating_pod(&mut self, now: Micros) {
        let Some((at, why, grace)) = self.last_call() else {
            return;
        };
        self.log_pod(at, why);
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
        let grace = grace.unwrap_or(self.pod.grace).max(1);
        self.busy_until = self.kill_pod(now, &vec![grace; self.containers.len()]);
        self.next_sync = self.busy_until;
    }

    /// Writes what is known of the containers into the kubelet's own status cache, and asks for a readiness probe where one
    /// is still owed (`generateAPIPodStatus`, `UpdatePodStatus`).
    fn publish(&mut self, now: Micros) {
        for number in 0..self.containers.len() {
            self.log_exit(number, now);
            let tracked = &mut self.containers[number];
            if tracked.is_hidden(now) {
                continue;
            }
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

    /// Kills all containers at once, the sidecars each in its turn, and says when that is done.
    fn kill_pod(&mut self, at: Micros, graces: &[i64]) -> Micros {
        let regular: Vec<usize> = self.of_kind(Kind::Regular).map(|(it, _)| it).collect();
        let sidecars: Vec<usize> = self.of_kind(Kind::Sidecar).map(|(it, _)| it).collect();
        let mut done = at;
        for number in regular {
            done = done.max(self.kill(at, number, graces[number], Micros::ZERO));
        }
        for number in sidecars.into_iter().rev() {
            done = done.max(self.kill(at, number, graces[number], done));
        }
        done
    }

    /// Kills one container, and says when that is done.
    fn kill(&mut self, at: Micros, number: usize, grace: i64, turn: Micros) -> Micros {
        let tracked = &mut self.containers[number];
        let restarts = tracked.instances.len().saturating_sub(1);
        let Some(instance) = tracked.instances.last_mut() else {
            return at;
        };
        if instance.has_ended(at) {
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
        // The next sync waits for a relist that is newer than this one.
        instance.relist = Micros::ZERO;
        let (life, started) = (instance.life, instance.started);
        for worker in &mut tracked.workers {
            let role = worker.role();
            let Some(probe) = tracked.container.probe(role) else {
                continue;
            };
            let (endpoint, end) = (life.endpoint(role), killed.exit.at);
            if !answer::dials_on(probe, endpoint, started, end) {
                worker.cut_off(end, |began| {
                    answer::broken_off(probe, endpoint, began - started, end - began)
                });
            }
        }
        self.log_kill(at, number, &killed);
        let restarts = u32::try_from(restarts).unwrap_or(u32::MAX);
        killed.done + self.phase.latency(number, restarts).stop
    }

    fn log_kill(&mut self, at: Micros, number: usize, kill: &Kill) {
        if let Some((end, cut_off)) = kill.hook {
            self.log(at, number, What::PreStopStarted);
            if kill.sigterm.is_none() {
                // A hook that ends with its container ends after it.
                self.log_exit(number, end.min(kill.exit.at));
            }
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

    /// Starts a container at `at`, and moves `at` to when that is done; or the end of its back-off. `last_exit` is the newest
    /// that was known when the sync began.
    fn start_container(
        &mut self,
        at: &mut Micros,
        number: usize,
        last_exit: Option<Micros>,
    ) -> Result<(), Micros> {
        let tracked = &mut self.containers[number];
        if let Some(exit) = L::backs_off_from(last_exit, tracked.newest_exit(*at)) {
            if tracked.back_off.waits_until(exit, *at).is_some() {
                return Err(self.announce_back_off(*at, number));
            }
            tracked.back_off.next(*at);
        }
        let restarts = u32::try_from(tracked.instances.len()).unwrap_or(u32::MAX);
        let own = self.phase.own_latency(number, restarts);
        let latency = self.phase.latency(number, restarts);
        let publication = own.map(|own| own.publication);
        let started = tracked.start(*at + latency.start, publication, latency.relist);
        *at = started + tracked.container.post_start;
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
