//! Time cut into columns: what is seen of many moments that share one.

use super::State;
use super::lane::Span;
use crate::kubelet::{Micros, Outcome};

/// The states, the one that says more last.
const STATES: [State; 6] = [
    State::Ready,
    State::Loads,
    State::BackOff,
    State::Loaded,
    State::Early,
    State::Ends,
];

/// The time from 0 to `end`, cut into columns of the same width.
#[derive(Clone, Copy, Debug)]
pub(super) struct Columns {
    pub(super) count: usize,
    pub(super) end: Micros,
}

/// Columns beside each other that hold the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Run<T> {
    /// The first column.
    pub(super) from: usize,
    /// The first column behind it.
    pub(super) to: usize,
    pub(super) what: T,
}

impl Columns {
    /// The column that a moment falls into; `None` before 0, at the end and behind it.
    pub(super) fn of(self, at: Micros) -> Option<usize> {
        if at < Micros::ZERO || at >= self.end {
            return None;
        }
        let column = i128::from(at.0) * self.count as i128 / i128::from(self.end.0);
        usize::try_from(column).ok()
    }

    /// When a column begins.
    fn begin(self, column: usize) -> i64 {
        let at = i128::from(self.end.0) * column as i128 / self.count.max(1) as i128;
        i64::try_from(at).unwrap_or(i64::MAX)
    }

    /// In each column the state that fills most of it, and of two that fill the same the one that says more. A state that fills a
    /// part of a column otherwise empty is seen.
    pub(super) fn states(self, spans: &[Span]) -> Vec<Option<State>> {
        let mut filled = vec![[0_i64; STATES.len()]; self.count];
        for span in spans {
            let Some(first) = self.of(span.from) else {
                continue;
            };
            for (column, filled) in filled.iter_mut().enumerate().skip(first) {
                let (begin, end) = (self.begin(column), self.begin(column + 1));
                if begin >= span.to.0 {
                    break;
                }
                filled[span.state as usize] += span.to.0.min(end) - span.from.0.max(begin);
            }
        }
        let most = |filled: [i64; STATES.len()]| {
            let shares = STATES.into_iter().zip(filled);
            let seen = shares.filter(|(_, share)| *share > 0);
            seen.max_by_key(|(state, share)| (*share, *state))
                .map(|(state, _)| state)
        };
        filled.into_iter().map(most).collect()
    }

    /// In each column the worst that a probe ended with: a failure is never hidden by what passes or errs beside it.
    pub(super) fn outcomes(self, ends: &[(Micros, Outcome)]) -> Vec<Option<Outcome>> {
        let mut worst: Vec<Option<Outcome>> = vec![None; self.count];
        for (at, outcome) in ends {
            if let Some(column) = self.of(*at) {
                let before = worst[column].map_or(0, gravity);
                if gravity(*outcome) > before {
                    worst[column] = Some(*outcome);
                }
            }
        }
        worst
    }
}

/// The outcomes of pixels as ticks that keep a distance: what comes too close to the tick before it joins that one, which then
/// shows the worse of both.
pub(super) fn apart(pixels: &[Option<Outcome>], distance: usize) -> Vec<(usize, Outcome)> {
    let mut ticks: Vec<(usize, Outcome)> = Vec::new();
    let ends = pixels.iter().enumerate();
    for (at, outcome) in ends.filter_map(|(at, outcome)| Some((at, (*outcome)?))) {
        match ticks.last_mut() {
            Some((last, shown)) if at < *last + distance => {
                if gravity(outcome) > gravity(*shown) {
                    *shown = outcome;
                }
            }
            _ => ticks.push((at, outcome)),
        }
    }
    ticks
}

fn gravity(outcome: Outcome) -> u8 {
    match outcome {
        Outcome::Success => 1,
        Outcome::Error => 2,
        Outcome::Failure => 3,
    }
}

/// Columns that hold something, those beside each other that hold the same together.
pub(super) fn runs<T: Copy + PartialEq>(columns: &[Option<T>]) -> Vec<Run<T>> {
    let mut runs: Vec<Run<T>> = Vec::new();
    for (column, what) in columns.iter().enumerate() {
        let Some(what) = *what else {
            continue;
        };
        match runs.last_mut() {
            Some(run) if run.to == column && run.what == what => run.to += 1,
            _ => runs.push(Run {
                from: column,
                to: column + 1,
                what,
            }),
        }
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEN: Columns = Columns {
        count: 10,
        end: Micros::secs(100),
    };

    fn span(from: i64, to: i64, state: State) -> Span {
        Span {
            from: Micros::secs(from),
            to: Micros::secs(to),
            state,
        }
    }

    #[test]
    fn a_moment_falls_into_one_column_or_outside() {
        assert_eq!(TEN.of(Micros::ZERO), Some(0));
        assert_eq!(TEN.of(Micros::millis(9_999)), Some(0));
        assert_eq!(TEN.of(Micros::secs(10)), Some(1));
        assert_eq!(TEN.of(Micros::millis(99_999)), Some(9));
        assert_eq!(TEN.of(Micros::secs(100)), None);
        assert_eq!(TEN.of(Micros::NEVER), None);
        assert_eq!(TEN.of(Micros(-1)), None);
    }

    #[test]
    fn a_column_shows_what_fills_most_of_it() {
        let spans = [
            span(0, 26, State::Loads),
            span(26, 34, State::Ends),
            span(34, 35, State::Loads),
            span(70, 71, State::BackOff),
            span(85, 200, State::Ready),
        ];
        let columns = TEN.states(&spans);
        assert_eq!(
            runs(&columns),
            [
                (0, 3, State::Loads),
                (3, 4, State::Ends),
                (7, 8, State::BackOff),
                (8, 10, State::Ready),
            ]
            .map(|(from, to, what)| Run { from, to, what })
        );
    }

    #[test]
    fn of_halves_the_one_that_says_more_is_shown() {
        let halves = [span(0, 5, State::Early), span(5, 10, State::Ready)];
        assert_eq!(TEN.states(&halves)[0], Some(State::Early));
        let states = STATES.map(|state| state as usize);
        assert_eq!(states, [0, 1, 2, 3, 4, 5]);
    }

    #[test]
    fn no_failure_is_hidden() {
        let mut ends: Vec<(Micros, Outcome)> = (0..100)
            .map(|second| (Micros::secs(second), Outcome::Success))
            .collect();
        ends[12].1 = Outcome::Failure;
        ends[15].1 = Outcome::Error;
        ends[57].1 = Outcome::Error;
        ends.push((Micros::secs(100), Outcome::Failure));
        let columns = TEN.outcomes(&ends);
        assert_eq!(columns[0], Some(Outcome::Success));
        assert_eq!(columns[1], Some(Outcome::Failure));
        assert_eq!(columns[5], Some(Outcome::Error));
        assert_eq!(columns[9], Some(Outcome::Success));
        assert_eq!(TEN.outcomes(&[]), [None; 10]);
    }

    #[test]
    fn ticks_that_keep_a_distance_hide_no_failure_either() {
        let (good, bad, none) = (Some(Outcome::Success), Some(Outcome::Failure), None);
        let pixels = [
            none, good, none, bad, good, none, none, good, good, good, bad,
        ];
        assert_eq!(
            apart(&pixels, 3),
            [
                (1, Outcome::Failure),
                (4, Outcome::Success),
                (7, Outcome::Success),
                (10, Outcome::Failure),
            ]
        );
        let far = apart(&pixels, 1);
        assert_eq!(far.len(), pixels.iter().flatten().count());
    }
}
