//! How the kubelet's clocks happen to lie, and how long its own parts take.

use super::pod::Pod;
use super::time::Micros;
use crate::facts::Version;
use crate::subject::Role;

/// How much later the workers of a container may be that are made after that of its startup probe, on a machine that is busy.
const A_LITTLE: Micros = Micros::millis(8);

/// How the kubelet's clocks happen to lie. The simulation starts when the kubelet begins to start the pod's first container,
/// so without an image to pull and if the runtime takes no time that container starts at 0.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Phase {
    /// The first tick of every worker at or after 0, each taken modulo its period. The workers of a pod are made together,
    /// before the sandbox.
    pub tick: Micros,
    /// The same for single workers: the number of the container, the role, the tick. A kubelet that has been up for less
    /// than a period delays each worker by chance.
    pub ticks: Vec<(usize, Role, Micros)>,
    /// The fraction of the wall clock's second at 0.
    pub fraction: Micros,
    /// How long the kubelet's own parts take.
    pub latency: Latency,
    /// When the pod is synced, in order, where that is known: then a sync that is wanted comes with the next of these, and those
    /// that nobody wants come too. It is how a run that was observed is simulated again.
    pub syncs: Vec<Micros>,
    /// How long the kubelet's own parts take with single instances: the number of the container, how often it has started
    /// before, the latency.
    pub latencies: Vec<(usize, u32, Latency)>,
    /// Whether the other workers of a container have their turn a little after that of its startup probe, so that at a tick of both
    /// they see what that one finds out at once.
    pub startup_first: bool,
    /// Whether a sync that is known and has just begun for another reason still kills for a probe that fails a moment later.
    pub kills_in_passing: bool,
}

impl Phase {
    /// A phase with this tick and this fraction of a second.
    pub fn of(tick: Micros, fraction: Micros) -> Self {
        Self {
            tick,
            fraction,
            ..Self::default()
        }
    }

    /// `steps` ticks spread evenly over the longest period of the pod, each with a start at the beginning, in the middle
    /// and at the end of a second, and as much chance in the waits.
    pub fn grid(pod: &Pod, steps: i64) -> Vec<Self> {
        let periods = pod.probes().map(|probe| probe.period);
        let longest = periods.max().unwrap_or(1).max(1);
        let steps = steps.max(1);
        let latency = Latency::of(pod.version);
        let mut phases = Vec::new();
        for step in 0..steps {
            let tick = Micros(Micros::secs(longest).0 / steps * step);
            for (fraction, jitter) in [(0, 0), (500, 25), (999, 50)] {
                phases.push(Self {
                    latency: Latency { jitter, ..latency },
                    ..Self::of(tick, Micros::millis(fraction))
                });
            }
        }
        phases
    }

    pub(super) fn tick(&self, container: usize, role: Role) -> Micros {
        let own = self
            .ticks
            .iter()
            .find(|(number, of, _)| (*number, *of) == (container, role));
        let tick = own.map_or(self.tick, |(_, _, tick)| *tick);
        match role {
            Role::Liveness | Role::Readiness if self.startup_first => tick + A_LITTLE,
            Role::Liveness | Role::Readiness | Role::Startup => tick,
        }
    }

    /// How long the parts of the kubelet take with the instance after so many restarts, where that is given.
    pub(super) fn own_latency(&self, container: usize, restarts: u32) -> Option<&Latency> {
        let own = self
            .latencies
            .iter()
            .find(|(number, of, _)| (*number, *of) == (container, restarts));
        own.map(|(_, _, latency)| latency)
    }

    /// How long they take with any instance.
    pub(super) fn latency(&self, container: usize, restarts: u32) -> &Latency {
        self.own_latency(container, restarts)
            .unwrap_or(&self.latency)
    }
}

/// How long the kubelet's own parts take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Latency {
    /// How long a request of a probe is on its way.
    pub probe: Micros,
    /// How long the runtime takes to start the command of a probe.
    pub exec: Micros,
    /// From when the kubelet begins to make a container whose image is there to its start: what the runtime takes.
    pub start: Micros,
    /// From the end of a container that is killed to when the kubelet goes on: what the runtime takes.
    pub stop: Micros,
    /// From the end of the sync that started a container to the one that publishes it as running: the wait for the next
    /// relist of containers, which comes every second (`genericPlegRelistPeriod`), and at once from 1.36 on
    /// (`PLEGOnDemandRelist`).
    pub publication: Micros,
    /// From the end of a container to the sync that notices it: the wait for the relist.
    pub relist: Micros,
    /// From a stored result to the sync that acts on it: milliseconds, up to a second if the pod was synced just before.
    pub sync: Micros,
    /// How much longer than its shortest the wait for the next sync is by chance, in percent, 0 to 50.
    pub jitter: i64,
}

impl Latency {
    /// Typical values for a kubelet of this version.
    pub fn of(version: Version) -> Self {
        Self {
            probe: Micros::ZERO,
            exec: Micros::ZERO,
            start: Micros::ZERO,
            stop: Micros::ZERO,
            publication: Micros::millis(if version.minor >= 36 { 100 } else { 500 }),
            relist: Micros::millis(500),
            sync: Micros::ZERO,
            jitter: 0,
        }
    }

    /// No delay anywhere.
    pub const NONE: Self = Self {
        probe: Micros::ZERO,
        exec: Micros::ZERO,
        start: Micros::ZERO,
        stop: Micros::ZERO,
        publication: Micros::ZERO,
        relist: Micros::ZERO,
        sync: Micros::ZERO,
        jitter: 0,
    };

    /// A wait with its share of chance.
    pub(super) fn stretch(&self, wait: Micros) -> Micros {
        Micros(wait.0.saturating_add(wait.0 / 100 * self.jitter))
    }
}

impl Default for Latency {
    fn default() -> Self {
        Self::of(Version::NEWEST)
    }
}
