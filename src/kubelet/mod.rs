//! The kubelet, simulated: when does it start, probe, kill and restart the containers of a pod?
//!
//! Two halves that know nothing of each other. [`bounds`] says in closed form what holds in every phase of the tick grid. The
//! event simulation steps through one phase probe by probe, in the words and in the order of the kubelet's
//! `prober/worker.go`; it uses none of the closed forms, and the tests hold the one against the other.
//!
//! A simulation is told the [`Pod`], as the kubelet knows it, and what the kubelet does not know: a [`Scenario`] for each
//! container and a [`Phase`]. It has no clock and no chance: the same input gives the same [`Timeline`].
//!
//! Not simulated: ordinary init containers (they have no probes), ephemeral ones, the exit-code rules of a container's own
//! restart policy, a failing image pull or postStart hook, and a restart of the kubelet itself.

mod actions;
mod answer;
mod backoff;
pub mod bounds;
mod event;
mod kill;
mod law;
mod phase;
mod pod;
mod scenario;
mod simulation;
mod sweep;
mod sync;
mod time;
mod timeline;
mod tracked;
mod watch;
mod worker;

pub use event::{Event, What};
pub use kill::MINIMUM_GRACE;
pub use law::{Kubelet, Law};
pub use phase::{Latency, Phase};
pub use pod::{Container, Deletion, Kind, Pod, PreStop, RestartPolicy};
pub use scenario::{Endpoint, Exit, Life, Loading, OnTerm, Scenario, Stall};
pub use sweep::{Spread, sweep};
pub use time::Micros;
pub use timeline::{ContainerState, KillDecision, PodState, Timeline};
pub use watch::{Decision, Start, watch};
pub use worker::{Answer, Outcome};

/// What happens to `pod` from the start of its first container to `horizon`. The scenarios stand in the order of the
/// containers; where there is none, the container serves at once.
pub fn simulate(pod: &Pod, scenarios: &[Scenario], phase: &Phase, horizon: Micros) -> Timeline {
    simulate_under::<Kubelet>(pod, scenarios, phase, horizon)
}

/// What would happen under the law `L`; [`simulate`] is that of the real kubelet.
pub fn simulate_under<L: Law>(
    pod: &Pod,
    scenarios: &[Scenario],
    phase: &Phase,
    horizon: Micros,
) -> Timeline {
    simulation::Simulation::<L>::new(pod, scenarios, phase).run(horizon)
}
