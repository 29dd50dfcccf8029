//! What a sync finds to do: `computePodActions` of `kuberuntime_manager.go`.

use super::event::What;
use super::law::Law;
use super::pod::{Kind, RestartPolicy};
use super::simulation::Simulation;
use super::time::Micros;
use super::tracked::Tracked;
use super::worker::Outcome;
use crate::subject::Role;

/// What a sync is to do (`podActions`).
#[derive(Debug, Default)]
pub(super) struct Actions {
    /// All containers go, those of `kill` with the rest.
    pub(super) kill_pod: bool,
    /// Each with the probe that asks for its death.
    pub(super) kill: Vec<(usize, Role)>,
    /// Each with its newest exit, which its back-off counts from.
    pub(super) start: Vec<(usize, Option<Micros>)>,
}

impl<L: Law> Simulation<'_, L> {
    /// `Succeeded` or `Failed`, if all containers have ended for good.
    pub(super) fn final_phase(&self, now: Micros) -> Option<What> {
        let mut all_zero = true;
        for tracked in &self.containers {
            let newest = tracked.newest(now).map(|(_, newest)| newest);
            let ended = newest.filter(|newest| newest.has_ended(now));
            match (tracked.container.kind, ended.map(|ended| ended.ends)) {
                (Kind::Sidecar, None) if newest.is_some() => return None,
                (Kind::Sidecar, _) => {}
                (Kind::Regular, None) => return None,
                (Kind::Regular, Some(exit)) => {
                    if self.pod.restarts(tracked.container, exit.code) {
                        return None;
                    }
                    all_zero &= exit.code == 0;
                }
            }
        }
        Some(if all_zero {
            What::Completed
        } else {
            What::PodFailed
        })
    }

    /// What there is to do, `computePodActions`.
    pub(super) fn compute_pod_actions(&self, now: Micros) -> Actions {
        let mut actions = Actions::default();
        if !self.compute_init_container_actions(now, &mut actions) {
            return actions;
        }
        let sidecars = actions.start.len();
        let mut keep_count = 0;
        for (number, tracked) in self.of_kind(Kind::Regular) {
            let Some((id, newest)) = tracked.newest(now) else {
                actions.start.push((number, tracked.known_exit(now)));
                continue;
            };
            if newest.has_ended(now) {
                if self.pod.restarts(tracked.container, newest.ends.code) {
                    actions.start.push((number, tracked.known_exit(now)));
                }
            } else if let Some(role) = failed(tracked, id) {
                actions.kill.push((number, role));
                if self.pod.policy(tracked.container) != RestartPolicy::Never {
                    actions.start.push((number, tracked.known_exit(now)));
                }
            } else {
                keep_count += 1;
            }
        }
        if keep_count == 0 && actions.start.len() == sidecars {
            actions.kill_pod = true;
            actions.start.clear();
        }
        actions
    }

    /// What there is to do for the sidecars; whether the regular containers may run
    /// (`computeInitContainerActions`). Each waits until the one before it has started.
    fn compute_init_container_actions(&self, now: Micros, actions: &mut Actions) -> bool {
        let mut all_started = true;
        for (number, tracked) in self.of_kind(Kind::Sidecar) {
            let Some((id, newest)) = tracked.newest(now) else {
                if all_started {
                    actions.start.push((number, tracked.known_exit(now)));
                }
                all_started = false;
                continue;
            };
            if newest.has_ended(now) {
                actions.start.push((number, tracked.known_exit(now)));
                all_started = false;
            } else if let Some(role) = failed(tracked, id) {
                actions.kill.push((number, role));
                actions.start.push((number, tracked.known_exit(now)));
                all_started = false;
            } else {
                all_started &= tracked.published.is_some_and(|status| status.started);
            }
        }
        let mut regular = self.of_kind(Kind::Regular);
        all_started || regular.any(|(_, tracked)| !tracked.instances.is_empty())
    }

    pub(super) fn of_kind(&self, kind: Kind) -> impl Iterator<Item = (usize, &Tracked<'_, L>)> {
        self.containers
            .iter()
            .enumerate()
            .filter(move |(_, tracked)| tracked.container.kind == kind)
    }
}

/// The probe that asks for a container's death, in the kubelet's order.
fn failed<L: Law>(tracked: &Tracked<'_, L>, id: u32) -> Option<Role> {
    [Role::Liveness, Role::Startup]
        .into_iter()
        .find(|role| tracked.result(*role, id) == Some(Outcome::Failure))
}
