//! The lane of one container: how it stands from moment to moment, its kills, and its probes.

use super::State;
use crate::kubelet::{Event, Micros, Outcome, Timeline, What};
use crate::subject::Role;

/// The longest name, in characters.
const NAME: usize = 20;

/// One container of a simulated pod.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Lane {
    /// The container's name, cut.
    pub(super) name: String,
    /// The earliest first; between two of them the container has ended, or has not started.
    pub(super) spans: Vec<Span>,
    /// When it is decided to kill it.
    pub(super) kills: Vec<Micros>,
    /// Those that are made, in the order of [`Role::ALL`].
    pub(super) probes: Vec<Probes>,
}

/// A container stands in one state from one moment to before another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) from: Micros,
    pub(super) to: Micros,
    pub(super) state: State,
}

/// The probes of one role.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Probes {
    pub(super) role: Role,
    /// When each ends, and with what.
    pub(super) ends: Vec<(Micros, Outcome)>,
}

impl Lane {
    /// What a timeline says of a container.
    pub(super) fn of(timeline: &Timeline, number: usize) -> Self {
        let name = crate::words::clip(&timeline.containers[number], NAME);
        let mut lane = Self {
            name,
            spans: Vec::new(),
            kills: Vec::new(),
            probes: Vec::new(),
        };
        let mut seen = Seen::default();
        let mut since = (Micros::ZERO, None);
        let its = |event: &&Event| event.container.is_none_or(|of| of == number);
        for event in timeline.events.iter().filter(its) {
            if kills(&event.what) && seen.runs {
                lane.kills.push(event.at);
            }
            seen.note(&event.what);
            if seen.state() != since.1 {
                lane.span(since, event.at);
                since = (event.at, seen.state());
            }
        }
        lane.span(since, timeline.horizon);
        lane.probes = Role::ALL
            .into_iter()
            .map(|role| Probes::of(timeline, number, role))
            .filter(|probes| !probes.ends.is_empty())
            .collect();
        lane
    }

    fn span(&mut self, (from, state): (Micros, Option<State>), to: Micros) {
        if let Some(state) = state.filter(|_| from < to) {
            self.spans.push(Span { from, to, state });
        }
    }
}

fn kills(what: &What) -> bool {
    matches!(what, What::KillDecided(_) | What::DeadlineExceeded)
}

impl Probes {
    fn of(timeline: &Timeline, number: usize, role: Role) -> Self {
        let ends = timeline.of(number).filter_map(|event| {
            let (of, outcome) = match event.what {
                What::ProbePassed { role, .. } => (role, Outcome::Success),
                What::ProbeFailed { role, .. } => (role, Outcome::Failure),
                What::ProbeErrored(role) => (role, Outcome::Error),
                _ => return None,
            };
            (of == role).then_some((event.at, outcome))
        });
        Self {
            role,
            ends: ends.collect(),
        }
    }

    /// How many end before `end`, with which outcome.
    pub(super) fn count(&self, outcome: Outcome, end: Micros) -> usize {
        let counts = |(at, of): &&(Micros, Outcome)| *at < end && *of == outcome;
        self.ends.iter().filter(counts).count()
    }
}

/// What has become of a container so far.
#[derive(Clone, Copy, Default)]
struct Seen {
    runs: bool,
    loaded: bool,
    ready: bool,
    ends: bool,
    waits: bool,
}

impl Seen {
    fn note(&mut self, what: &What) {
        match what {
            // Whether it is ready is the kubelet's to say, and it goes on saying it for a moment after a restart.
            What::Started | What::Restarted(_) => {
                *self = Self {
                    runs: true,
                    ready: self.ready,
                    ..Self::default()
                };
            }
            What::Loaded => self.loaded = true,
            What::Ready => self.ready = true,
            What::NotReady => self.ready = false,
            What::KillDecided(_) | What::PreStopStarted | What::Sigterm => self.ends = true,
            What::Exited { .. } => self.runs = false,
            What::BackOff { .. } => self.waits = true,
            What::Completed | What::Deleted | What::PodFailed => *self = Self::default(),
            _ => {}
        }
    }

    fn state(self) -> Option<State> {
        Some(match (self.loaded, self.ready) {
            _ if self.waits => State::BackOff,
            _ if !self.runs => return None,
            _ if self.ends => State::Ends,
            (true, true) => State::Ready,
            (true, false) => State::Loaded,
            (false, true) => State::Early,
            (false, false) => State::Loads,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timeline(events: &[(i64, Option<usize>, What)]) -> Timeline {
        let event = |(at, container, what): &(i64, Option<usize>, What)| Event {
            at: Micros::secs(*at),
            container: *container,
            what: *what,
        };
        Timeline {
            containers: vec!["proxy".to_owned(), "engine".to_owned()],
            events: events.iter().map(event).collect(),
            horizon: Micros::secs(100),
        }
    }

    fn fails(run: i64) -> What {
        What::ProbeFailed {
            role: Role::Liveness,
            run,
            threshold: 2,
        }
    }

    fn spans(lane: &Lane) -> Vec<(i64, i64, State)> {
        let span = |span: &Span| {
            let (from, to) = (span.from.whole_seconds(), span.to.whole_seconds());
            (from, to, span.state)
        };
        lane.spans.iter().map(span).collect()
    }

    #[test]
    fn a_container_stands_in_one_state_after_the_other() {
        let its = |at, what| (at, Some(1), what);
        let passed = What::ProbePassed {
            role: Role::Startup,
            run: 1,
            threshold: 1,
        };
        let until = Micros::secs(24);
        let lane = Lane::of(
            &timeline(&[
                its(1, What::Started),
                (1, Some(0), What::Started),
                (1, Some(0), What::Ready),
                its(3, What::Ready),
                its(5, fails(1)),
                its(10, fails(2)),
                its(10, What::KillDecided(Role::Liveness)),
                its(10, What::Sigterm),
                its(11, What::NotReady),
                its(14, What::Exited { code: 143 }),
                its(14, What::BackOff { until }),
                its(25, What::Restarted(1)),
                its(40, What::Loaded),
                its(42, passed),
                its(42, What::StartedTrue),
                its(43, What::Ready),
                (90, None, What::DeadlineExceeded),
                its(90, What::Sigterm),
                its(92, What::Exited { code: 143 }),
                (93, None, What::PodFailed),
            ]),
            1,
        );
        assert_eq!(
            spans(&lane),
            [
                (1, 3, State::Loads),
                (3, 10, State::Early),
                (10, 14, State::Ends),
                (14, 25, State::BackOff),
                (25, 40, State::Loads),
                (40, 43, State::Loaded),
                (43, 90, State::Ready),
                (90, 92, State::Ends),
            ]
        );
        assert_eq!(lane.kills, [10, 90].map(Micros::secs));
        let roles: Vec<Role> = lane.probes.iter().map(|probes| probes.role).collect();
        assert_eq!(roles, [Role::Startup, Role::Liveness]);
        assert_eq!(lane.probes[1].count(Outcome::Failure, Micros::secs(10)), 1);
    }

    #[test]
    fn a_deadline_kills_nobody_who_has_ended() {
        let lane = Lane::of(
            &timeline(&[
                (0, Some(0), What::Started),
                (5, Some(0), What::Exited { code: 0 }),
                (9, None, What::DeadlineExceeded),
            ]),
            0,
        );
        assert_eq!(spans(&lane), [(0, 5, State::Loads)]);
        assert_eq!(lane.kills, []);
        assert!(lane.probes.is_empty());
    }

    #[test]
    fn who_waits_does_so_until_the_pod_is_over() {
        let until = Micros::secs(80);
        let lane = Lane::of(
            &timeline(&[
                (0, Some(0), What::Started),
                (5, Some(0), What::Exited { code: 1 }),
                (5, Some(0), What::BackOff { until }),
                (9, None, What::DeadlineExceeded),
                (10, None, What::PodFailed),
            ]),
            0,
        );
        let waits = (5, 10, State::BackOff);
        assert_eq!(spans(&lane), [(0, 5, State::Loads), waits]);
    }
}
