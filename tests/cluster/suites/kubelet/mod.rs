//! What the simulator rests on, point by point: each is asked of the kubelet itself, and the simulator must say the same.

pub(crate) mod cadence;
pub(crate) mod counting;
pub(crate) mod endpoints;
pub(crate) mod patch;
pub(crate) mod restarts;
pub(crate) mod sample;
pub(crate) mod termination;

use warmgate::kubelet::Micros;

use crate::conformance::TOLERANCE;

/// The container that a run is about.
const ENGINE: &str = "engine";

/// Clocks of different programs are read at slightly different moments.
const BLINK: Micros = Micros::millis(150);

/// Shows that something took so long: the kubelet is never early, and never much later.
#[track_caller]
fn took(what: &str, from: Micros, to: Micros, seconds: i64) {
    let (took, expected) = (to - from, Micros::secs(seconds));
    assert!(
        took + BLINK >= expected && took <= expected + TOLERANCE,
        "{what} took {took} s, not {seconds}"
    );
}

/// The lengths between moments.
fn gaps(moments: &[Micros]) -> Vec<Micros> {
    moments.windows(2).map(|pair| pair[1] - pair[0]).collect()
}
