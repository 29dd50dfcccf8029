//! The rules of the kubelet that a test may break.

use super::time::Micros;

/// The rules that give the kubelet away: each is one that a simulator is likely to have otherwise. The methods as they
/// stand here are the kubelet's. A test replaces one of them, to show that it would notice.
pub trait Law {
    /// For how many whole seconds a container that started at `started` counts as running at `now`.
    ///
    /// Step 8 of `doProbe` in `prober/worker.go` subtracts the start in the status cache, and that is cut to the whole
    /// second (`normalizeStatus` in `status_manager.go`), so a container counts as up to a second older than it is.
    fn uptime(started: Micros, now: Micros) -> i64 {
        (now - started.floor()).whole_seconds()
    }

    /// Whether so many equal results in a row are enough.
    fn reached(run: i64, threshold: i64) -> bool {
        run >= threshold
    }

    /// How many equal results in a row are left when the container that is probed is a new one.
    ///
    /// All: step 4 of `doProbe` forgets what was stored, and not `resultRun`. A decision to kill has set that to 0 before,
    /// but a container that ends by itself leaves its run of failures to the next one.
    fn carried(run: i64) -> i64 {
        run
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

    /// How long a gRPC probe dials a server that refuses its connections.
    ///
    /// The whole timeout: the dialer of `pkg/probe/grpc/grpc.go` blocks and dials again until the context ends.
    fn dials_for(timeout: Micros) -> Micros {
        timeout
    }

    /// The grace period of a kill for a probe, in seconds: `probe` is what the probe that failed says, `pod` what its pod
    /// does, and `whole_pod` whether no other container stays.
    ///
    /// The probe's own comes first (`setTerminationGracePeriod` in `kuberuntime_container.go`). But a pod of which no
    /// container stays or starts again is killed as a whole, and that kill knows of no probe (`killPodWithSyncResult` in
    /// `kuberuntime_manager.go`).
    fn grace(probe: Option<i64>, pod: i64, whole_pod: bool) -> i64 {
        probe.filter(|_| !whole_pod).unwrap_or(pod)
    }

    /// Which exit of a container its back-off counts from: the newest that was known when the sync began, or the newest that
    /// there is by now.
    ///
    /// The known one (`doBackOff` in `kuberuntime_manager.go`). A probe kill and the restart share one sync, so it is the
    /// exit before the one just brought about, and the second kill restarts at once.
    fn backs_off_from(known: Option<Micros>, _newest: Option<Micros>) -> Option<Micros> {
        known
    }
}

/// The law of the real kubelet.
#[derive(Clone, Copy, Debug)]
pub struct Kubelet;

impl Law for Kubelet {}
