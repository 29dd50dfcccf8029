//! What happened to a pod, and the questions one asks of it.

use std::fmt;

use super::event::{Event, What};
use super::time::Micros;
use crate::subject::Role;

/// What happened to a pod, in order, up to the horizon.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Timeline {
    /// The names of the pod's containers.
    pub containers: Vec<String>,
    /// The events, the earliest first.
    pub events: Vec<Event>,
    /// Where the simulation stopped.
    pub horizon: Micros,
}

/// A decision to kill a container.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KillDecision {
    /// When, counted from the start of the simulation.
    pub at: Micros,
    /// When, counted from the start of the container.
    pub after: Micros,
    /// The probe that decided.
    pub role: Role,
}

/// Where a container stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContainerState {
    /// It has not started yet.
    Waiting,
    /// It runs.
    Running {
        /// `status.started`.
        started: bool,
        /// `status.ready`.
        ready: bool,
    },
    /// It waits in CrashLoopBackOff.
    BackOff {
        /// When the wait is over.
        until: Micros,
    },
    /// It has ended.
    Terminated {
        /// The exit code.
        code: i64,
    },
}

/// Where a pod stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PodState {
    /// `Pending` or `Running`.
    Alive,
    /// `Succeeded`.
    Completed,
    /// `Failed`.
    Failed,
    /// Deleted, and all its containers have ended.
    Deleted,
}

impl Timeline {
    /// The events of one container.
    pub fn of(&self, container: usize) -> impl Iterator<Item = &Event> {
        self.events
            .iter()
            .filter(move |event| event.container == Some(container))
    }

    /// When the container starts, each time.
    pub fn starts(&self, container: usize) -> Vec<Micros> {
        self.of(container)
            .filter(|event| matches!(event.what, What::Started | What::Restarted(_)))
            .map(|event| event.at)
            .collect()
    }

    /// The decisions of probes to kill the container.
    pub fn kills(&self, container: usize) -> Vec<KillDecision> {
        let mut started = Micros::ZERO;
        let mut kills = Vec::new();
        for event in self.of(container) {
            match event.what {
                What::Started | What::Restarted(_) => started = event.at,
                What::KillDecided(role) => kills.push(KillDecision {
                    at: event.at,
                    after: event.at - started,
                    role,
                }),
                _ => {}
            }
        }
        kills
    }

    /// The first decision of a probe to kill the container.
    pub fn first_kill(&self, container: usize) -> Option<KillDecision> {
        self.kills(container).first().copied()
    }

    /// When an instance of the container first has its load done.
    pub fn loaded_at(&self, container: usize) -> Option<Micros> {
        self.of(container)
            .find(|event| event.what == What::Loaded)
            .map(|event| event.at)
    }

    /// When the container first becomes ready. Without a readiness probe that is as soon as it counts as started, loaded or
    /// not.
    pub fn ready_at(&self, container: usize) -> Option<Micros> {
        self.of(container)
            .find(|event| event.what == What::Ready)
            .map(|event| event.at)
    }

    /// When all containers are first ready at the same time.
    pub fn pod_ready_at(&self) -> Option<Micros> {
        let mut ready = vec![false; self.containers.len()];
        for event in &self.events {
            let Some(container) = event.container else {
                continue;
            };
            match event.what {
                What::Ready => ready[container] = true,
                What::NotReady => ready[container] = false,
                _ => continue,
            }
            if ready.iter().all(|ready| *ready) {
                return Some(event.at);
            }
        }
        None
    }

    /// How often the container has started again.
    pub fn restarts(&self, container: usize) -> u32 {
        let restarts = self.of(container).filter_map(|event| match event.what {
            What::Restarted(count) => Some(count),
            _ => None,
        });
        restarts.last().unwrap_or(0)
    }

    /// Where the container stands at the horizon, as `kubectl` would show it.
    pub fn state(&self, container: usize) -> ContainerState {
        let mut state = ContainerState::Waiting;
        let mut is_ready = false;
        for event in self.of(container) {
            match event.what {
                What::Ready => is_ready = true,
                What::NotReady => is_ready = false,
                _ => {}
            }
            let running = |started| ContainerState::Running {
                started,
                ready: is_ready,
            };
            state = match (event.what, state) {
                (What::Started | What::Restarted(_), _) => running(false),
                (What::StartedTrue, ContainerState::Running { .. }) => running(true),
                (What::StartedFalse, ContainerState::Running { .. }) => running(false),
                (_, ContainerState::Running { started, .. })
                    if matches!(event.what, What::Ready | What::NotReady) =>
                {
                    running(started)
                }
                (What::BackOff { until }, _) => ContainerState::BackOff { until },
                (What::Exited { code }, _) => ContainerState::Terminated { code },
                (_, state) => state,
            };
        }
        state
    }

    /// Where the pod stands at the horizon.
    pub fn pod_state(&self) -> PodState {
        let last = self.events.iter().rev().find_map(|event| match event.what {
            What::Completed => Some(PodState::Completed),
            What::Deleted => Some(PodState::Deleted),
            What::PodFailed => Some(PodState::Failed),
            _ => None,
        });
        last.unwrap_or(PodState::Alive)
    }
}

impl fmt::Display for Timeline {
    /// One event a line: the second, the container, what happens.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for event in &self.events {
            let name = event
                .container
                .map_or("pod", |number| &self.containers[number]);
            writeln!(f, "{} {name}: {}", event.at, event.what)?;
        }
        Ok(())
    }
}
