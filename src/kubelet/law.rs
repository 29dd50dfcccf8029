//! The three rules of time and counting by which a worker lives.

use super::time::Micros;

/// How a worker counts and keeps time. The methods as they stand here are the kubelet's; a test replaces one of them to
/// show that the tests would notice.
pub trait Law {
    /// For how many whole seconds a container that started at `started` counts as running at `now`.
    ///
    /// Step 8 of `doProbe` subtracts the start in the status cache, and that is cut to the whole second
    /// (`normalizeStatus` in `status_manager.go`), so a container counts as up to a second older than it is.
    fn uptime(started: Micros, now: Micros) -> i64 {
        (now - started.floor()).whole_seconds()
    }

    /// Whether so many equal results in a row are enough.
    fn reached(run: i64, threshold: i64) -> bool {
        run >= threshold
    }

    /// When the next turn starts, if the last one lasted from `began` to `ended` and the ticker ticks at `tick` plus
    /// multiples of `period`.
    ///
    /// Go's ticker keeps one pending tick and drops the rest. So the next turn starts at once if a tick fell into this
    /// one, else at the next tick; the grid never moves.
    fn next_turn(tick: Micros, period: Micros, began: Micros, ended: Micros) -> Micros {
        let ticks = (began - tick).0.div_euclid(period.0).saturating_add(1);
        let next = tick + Micros(period.0.saturating_mul(ticks));
        next.max(ended)
    }
}

/// The law of the real kubelet.
#[derive(Clone, Copy, Debug)]
pub struct Kubelet;

impl Law for Kubelet {}
