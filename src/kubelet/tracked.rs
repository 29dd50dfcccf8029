//! One container with everything the kubelet and the world know of it.

use super::answer::Target;
use super::backoff::BackOff;
use super::law::Law;
use super::phase::Phase;
use super::pod::{Container, Pod, RestartPolicy};
use super::scenario::{AT_ONCE, Exit, Life, Scenario};
use super::simulation::INEXACT;
use super::time::Micros;
use super::worker::{Outcome, State, Status, Worker};
use crate::subject::{Handler, Role};

/// One container with everything the kubelet and the world know of it, under the law `L`.
pub(super) struct Tracked<'a, L> {
    pub(super) container: &'a Container,
    pub(super) scenario: Option<&'a Scenario>,
    /// In the order of [`Role::ALL`]; none for a role without a probe.
    pub(super) workers: Vec<Worker<L>>,
    /// All instances, the oldest first; the last ones may lie in the future of the events.
    pub(super) instances: Vec<Instance<'a>>,
    pub(super) back_off: BackOff,
    /// The wait that was last announced.
    pub(super) announced: Option<Micros>,
    /// What the kubelet's own status cache shows.
    pub(super) published: Option<Status>,
    /// When the worker of the startup probe has stored that nothing is known of the newest instance, until the cache shows that.
    pub(super) unknown_at: Option<Micros>,
    /// `status.ready` in that cache.
    pub(super) ready: bool,
}

/// One run of a container.
#[derive(Clone, Copy)]
pub(super) struct Instance<'a> {
    pub(super) life: &'a Life,
    pub(super) started: Micros,
    /// Before when the status cache cannot show it, where that is given.
    published_from: Option<Micros>,
    /// How it ends, as far as is settled: by itself, or by a kill under way.
    pub(super) ends: Exit,
    /// How long after its end the kubelet finds that out.
    pub(super) relist: Micros,
    /// Whether its end is on the timeline.
    pub(super) logged: bool,
}

impl<'a, L: Law> Tracked<'a, L> {
    /// A container that has not started yet; `number` is its place in the pod.
    pub(super) fn new(
        number: usize,
        pod: &'a Pod,
        scenario: Option<&'a Scenario>,
        phase: &Phase,
    ) -> Self {
        let container = &pod.containers[number];
        let worker = |role| {
            let probe = container.probe(role)?;
            let tick = phase.tick(number, role);
            Some(Worker::new(role, probe, tick, phase.fraction))
        };
        Self {
            container,
            scenario,
            workers: Role::ALL.into_iter().filter_map(worker).collect(),
            instances: Vec::new(),
            back_off: BackOff::new(pod.longest_back_off),
            announced: None,
            published: None,
            unknown_at: None,
            ready: false,
        }
    }

    /// The newest instance that has started by `now`, with its number.
    pub(super) fn newest(&self, now: Micros) -> Option<(u32, &Instance<'a>)> {
        let started = self
            .instances
            .iter()
            .take_while(|instance| instance.started <= now)
            .count();
        let index = started.checked_sub(1)?;
        Some((u32::try_from(index).ok()?, &self.instances[index]))
    }

    /// Adds the next instance, which waits for its image from `at` on, and says when it starts. The status cache shows it so
    /// long after that as `publication` says, if anything is said, and its end so long after the end as `relist` says.
    pub(super) fn start(
        &mut self,
        at: Micros,
        publication: Option<Micros>,
        relist: Micros,
    ) -> Micros {
        let restarts = self.instances.len();
        let pull = match restarts {
            0 => self.container.pull,
            _ => self.container.pull_again,
        };
        let started = at + pull;
        let life = self
            .scenario
            .map_or(&AT_ONCE, |scenario| scenario.life(restarts));
        let ends = life.exits.map_or(Exit::NEVER, |exit| Exit {
            at: started + exit.at,
            code: exit.code,
        });
        self.instances.push(Instance {
            life,
            started,
            // The start that was observed may have been a little earlier.
            published_from: publication
                .map(|publication| started + (publication - INEXACT).max(Micros::ZERO)),
            ends,
            relist,
            logged: false,
        });
        started
    }

    /// The newest end that the kubelet knows of at `now`.
    pub(super) fn known_exit(&self, now: Micros) -> Option<Micros> {
        let mut known = self.instances.iter().rev().filter(|it| it.has_ended(now));
        known.next().map(|instance| instance.ends.at)
    }

    /// The newest end there is at `now`, known or not.
    pub(super) fn newest_exit(&self, now: Micros) -> Option<Micros> {
        let ends = self.instances.iter().map(|instance| instance.ends.at);
        ends.rev().find(|end| *end <= now)
    }

    /// What the results manager of `role` holds for an instance.
    pub(super) fn result(&self, role: Role, id: u32) -> Option<Outcome> {
        let worker = self.workers.iter().find(|worker| worker.role() == role);
        worker.and_then(|worker| worker.result_of(id))
    }

    /// The end of the newest instance and how many there were before, if the status cache does not show it yet.
    pub(super) fn unnoticed_end(&self) -> Option<(u32, Micros)> {
        let ends = self.instances.last()?.ends.at;
        let restarts = u32::try_from(self.instances.len() - 1).ok()?;
        let ended = |status: Status| matches!(status.state, State::Terminated { .. });
        let shown = self.shown().is_some_and(ended);
        (!shown && ends < Micros::NEVER).then_some((restarts, ends))
    }

    /// Whether the newest instance runs, and the status cache cannot show it yet.
    pub(super) fn is_hidden(&self, now: Micros) -> bool {
        self.newest(now).is_some_and(|(_, newest)| {
            !newest.has_ended(now) && newest.published_from.is_some_and(|from| now < from)
        })
    }

    /// If the status cache does not show the newest instance at all, from when on it can, where that is given.
    pub(super) fn unpublished(&self) -> Option<Option<Micros>> {
        let newest = self.instances.last().filter(|_| self.shown().is_none())?;
        Some(newest.published_from)
    }

    /// What the status cache shows of the newest instance.
    fn shown(&self) -> Option<Status> {
        let number = self.instances.len().checked_sub(1)?;
        self.published
            .filter(|status| usize::try_from(status.id) == Ok(number))
    }
}

impl Instance<'_> {
    /// Whether it has ended and the kubelet knows.
    pub(super) fn has_ended(&self, now: Micros) -> bool {
        self.ends.at + self.relist <= now
    }
}

/// Whom a probe meets: a command the instance that the cache shows, a connection whoever lives at the pod's address.
pub(super) fn target<'a>(
    handler: &Handler,
    instances: &[Instance<'a>],
    shown: Option<u32>,
    now: Micros,
) -> Option<Target<'a>> {
    let lives = |instance: &Instance<'_>| instance.started <= now && now < instance.ends.at;
    let (index, instance) = instances
        .iter()
        .enumerate()
        .rev()
        .find(|(_, instance)| lives(instance))?;
    let meets = match handler {
        Handler::Exec { .. } => shown.is_some_and(|id| usize::try_from(id) == Ok(index)),
        Handler::Grpc { .. } | Handler::Http { .. } | Handler::Tcp { .. } => true,
    };
    meets.then_some(Target {
        life: instance.life,
        started: instance.started,
        ends: instance.ends.at,
    })
}

/// What the status cache is to show of a container, and whether it is ready.
pub(super) fn status_of<L: Law>(
    pod: &Pod,
    tracked: &Tracked<'_, L>,
    now: Micros,
) -> Option<(Status, bool)> {
    let (id, newest) = tracked.newest(now)?;
    if !newest.has_ended(now) {
        let started = counts_as_started(pod, tracked, id);
        let state = State::Running {
            started_at: newest.started,
        };
        let status = Status { id, state, started };
        let is_ready = match tracked.container.readiness {
            None => true,
            Some(_) => tracked.result(Role::Readiness, id) == Some(Outcome::Success),
        };
        return Some((status, started && is_ready));
    }
    // Up to 1.34 a worker goes by the pod's policy alone.
    let restarts = match pod.version.minor {
        ..=34 => pod.policy(tracked.container) != RestartPolicy::Never,
        _ => pod.restarts(tracked.container, newest.ends.code),
    };
    let status = Status {
        id,
        state: State::Terminated { restarts },
        started: false,
    };
    Some((status, false))
}

/// Whether an instance that runs counts as started (`isContainerStarted` in `prober_manager.go`).
fn counts_as_started<L: Law>(pod: &Pod, tracked: &Tracked<'_, L>, id: u32) -> bool {
    let mut workers = tracked.workers.iter();
    let Some(worker) = workers.find(|worker| worker.role() == Role::Startup) else {
        return true;
    };
    if worker.has_seen(id) {
        return worker.result_of(id) == Some(Outcome::Success);
    }
    // From 1.35 on, until that worker's next turn, the container counts as started if the cache says so of its name
    // (`convertToAPIContainerStatuses` in `kubelet_pods.go`). After the kill of a liveness probe that is the instance before:
    // the sync that kills it starts the next one, and nobody has published in between that nothing runs.
    pod.version.minor >= 35 && tracked.published.is_some_and(|shown| shown.started)
}
