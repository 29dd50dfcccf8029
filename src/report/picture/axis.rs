//! The time axis: where it ends, and which round moments are marked.

use crate::kubelet::Micros;
use crate::words::Seconds;

/// How far apart marks may be, in seconds.
const STEPS: [i64; 17] = [
    1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200,
];

/// So many marks behind the first are at most wanted: with more of them labels run into each other.
const MARKS: i64 = 8;

/// The shortest time that is drawn.
const SHORTEST: Micros = Micros::secs(10);

/// Where the axis ends if what is told ends at `told` and the simulation at `horizon`: some time later, so that one sees what it
/// comes to.
pub(super) fn end(told: Micros, horizon: Micros) -> Micros {
    let later = told + Micros(told.0 / 7);
    let whole = Micros::secs(later.whole_seconds().saturating_add(1));
    whole.max(SHORTEST).min(horizon)
}

/// The moments that are marked, from 0 on, all before `end`, each with its label.
pub(super) fn marks(end: Micros) -> Vec<(Seconds, String)> {
    let seconds = end.whole_seconds();
    let fits = |step: &i64| seconds / step <= MARKS;
    let step = STEPS.into_iter().find(fits).unwrap_or(86_400);
    // Minutes and seconds in turn would be hard to read.
    let label = |at: i64| match at {
        0 => "0".to_owned(),
        at if step < 60 => format!("{at}s"),
        at => Seconds(at).short(),
    };
    (0..)
        .map(|number| number * step)
        .take_while(|at| Micros::secs(*at) < end)
        .map(|at| (Seconds(at), label(at)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(end: i64) -> String {
        let marks = marks(Micros::secs(end)).into_iter();
        let labels: Vec<String> = marks.map(|(_, label)| label).collect();
        labels.join(" ")
    }

    #[test]
    fn marks_are_round_and_few() {
        assert_eq!(labels(10), "0 2s 4s 6s 8s");
        assert_eq!(labels(70), "0 10s 20s 30s 40s 50s 60s");
        assert_eq!(labels(130), "0 15s 30s 45s 60s 75s 90s 105s 120s");
        assert_eq!(labels(1030), "0 2m 4m 6m 8m 10m 12m 14m 16m");
        assert_eq!(labels(5400), "0 15m 30m 45m 1h 1h15m");
        assert_eq!(labels(2 * 86_400 + 600), "0 6h 12h 18h 24h 30h 36h 42h 48h");
        for end in 1..20_000 {
            let count = marks(Micros::secs(end)).len();
            assert!((1..=9).contains(&count), "{count} marks of {end} s");
        }
    }

    #[test]
    fn the_axis_ends_after_what_is_told_and_not_after_what_is_known() {
        let (told, horizon) = (Micros::secs(900), Micros::secs(2400));
        assert_eq!(end(told, horizon), Micros::secs(1029));
        assert_eq!(end(told, Micros::secs(1000)), Micros::secs(1000));
        assert_eq!(end(Micros::ZERO, horizon), SHORTEST);
    }
}
