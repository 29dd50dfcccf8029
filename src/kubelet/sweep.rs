//! The same pod in many phases.

use super::phase::Phase;
use super::pod::Pod;
use super::scenario::Scenario;
use super::simulate;
use super::time::Micros;

/// What one container does over many phases.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Spread {
    /// In how many phases the pod was simulated.
    pub phases: usize,
    /// In how many of them a probe decides to kill the container.
    pub killed: usize,
    /// In how many of them it becomes ready.
    pub ready: usize,
    /// The earliest and the latest first kill, counted from the start of the instance.
    pub first_kill: Option<(Micros, Micros)>,
    /// The earliest and the latest first time it is ready, counted from the start of the simulation.
    pub ready_at: Option<(Micros, Micros)>,
    /// The fewest and the most restarts.
    pub restarts: (u32, u32),
}

/// Simulates the pod in each of the phases; one [`Spread`] for each container.
pub fn sweep(pod: &Pod, scenarios: &[Scenario], phases: &[Phase], horizon: Micros) -> Vec<Spread> {
    let mut spreads = vec![Spread::default(); pod.containers.len()];
    for phase in phases {
        let timeline = simulate(pod, scenarios, phase, horizon);
        for (container, spread) in spreads.iter_mut().enumerate() {
            let restarts = timeline.restarts(container);
            let (fewest, most) = spread.restarts;
            spread.restarts = match spread.phases {
                0 => (restarts, restarts),
                _ => (fewest.min(restarts), most.max(restarts)),
            };
            spread.phases += 1;
            if let Some(kill) = timeline.first_kill(container) {
                spread.killed += 1;
                spread.first_kill = Some(widened(spread.first_kill, kill.after));
            }
            if let Some(at) = timeline.ready_at(container) {
                spread.ready += 1;
                spread.ready_at = Some(widened(spread.ready_at, at));
            }
        }
    }
    spreads
}

fn widened(range: Option<(Micros, Micros)>, by: Micros) -> (Micros, Micros) {
    let (earliest, latest) = range.unwrap_or((by, by));
    (earliest.min(by), latest.max(by))
}
