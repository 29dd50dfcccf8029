//! The events of a timeline as lines.

use super::outlook::tenths;
use crate::kubelet::{Event, Micros, Timeline, What};
use crate::subject::Role;

/// Probes of one kind and outcome in a row.
struct Run {
    container: Option<usize>,
    role: Role,
    word: &'static str,
    /// How many in a row count, and how many that makes by now.
    count: Option<(i64, i64)>,
    from: Micros,
    to: Micros,
    times: usize,
}

/// The events as lines; probes with the same outcome in a row share one.
pub(super) fn lines(timeline: &Timeline, events: &[Event]) -> Vec<String> {
    let mut lines = Vec::new();
    let mut runs: Vec<Run> = Vec::new();
    let mut seen = vec![Seen::default(); timeline.containers.len()];
    for event in events {
        let seen = event.container.map(|number| &mut seen[number]);
        let words = seen.map_or_else(|| Some(said(&event.what)), |seen| seen.said(&event.what));
        let Some(next) = Run::begin(event) else {
            lines.extend(runs.drain(..).map(|run| run.line(timeline)));
            lines.extend(words.map(|words| one(timeline, event.at, event.container, &words)));
            continue;
        };
        let of = |run: &Run| (run.container, run.role) == (next.container, next.role);
        match runs.iter().position(of) {
            Some(at) if runs[at].word == next.word => runs[at].join(&next),
            Some(at) => {
                lines.extend(runs.drain(..=at).map(|run| run.line(timeline)));
                runs.push(next);
            }
            None => runs.push(next),
        }
    }
    lines.extend(runs.drain(..).map(|run| run.line(timeline)));
    lines
}

/// What has happened to an instance so far.
#[derive(Clone, Copy, Default)]
struct Seen {
    startup_passed: bool,
    loaded: bool,
}

impl Seen {
    /// An event in words; `None` where it says nothing new.
    fn said(&mut self, what: &What) -> Option<String> {
        match what {
            What::Started | What::Restarted(_) => *self = Self::default(),
            What::Loaded => self.loaded = true,
            What::ProbePassed {
                role: Role::Startup,
                ..
            } => self.startup_passed = true,
            // Without a startup probe a container counts as started as soon as it runs, and for a moment after another one had started.
            What::StartedTrue if !self.startup_passed => return None,
            What::Ready if !self.loaded => {
                return Some("counts as ready, though nothing is loaded".to_owned());
            }
            _ => {}
        }
        Some(said(what))
    }
}

/// Moments within what is said are rounded like those of the events.
fn said(what: &What) -> String {
    match what {
        What::BackOff { until } => {
            format!(
                "waits until {} s at the earliest (CrashLoopBackOff)",
                tenths(*until)
            )
        }
        other => other.to_string(),
    }
}

impl Run {
    fn begin(event: &Event) -> Option<Self> {
        let (role, word, count) = match event.what {
            What::ProbeErrored(role) => (role, "errs, which counts for nothing", None),
            What::ProbeFailed {
                role,
                run,
                threshold,
            } => (role, "fails", Some((run, threshold))),
            What::ProbePassed { role, .. } => (role, "passes", None),
            _ => return None,
        };
        Some(Self {
            container: event.container,
            role,
            word,
            count,
            from: event.at,
            to: event.at,
            times: 1,
        })
    }

    fn join(&mut self, next: &Self) {
        self.to = next.to;
        self.count = next.count;
        self.times += 1;
    }

    fn line(&self, timeline: &Timeline) -> String {
        let mut text = format!("{} {}", self.role.field(), self.word);
        if self.times > 1 {
            let to = tenths(self.to);
            text.push_str(&format!(", {} times until {to} s", self.times));
        }
        match self.count {
            // Nobody is killed for readiness, so the count means nothing beyond its threshold.
            Some((run, threshold)) if self.role != Role::Readiness => {
                text.push_str(&format!(", {run} of {threshold} in a row"));
            }
            _ => {}
        }
        one(timeline, self.from, self.container, &text)
    }
}

fn one(timeline: &Timeline, at: Micros, container: Option<usize>, text: &str) -> String {
    let name = match container {
        Some(_) if timeline.containers.len() < 2 => String::new(),
        Some(number) => format!("{}: ", timeline.containers[number]),
        None => "pod: ".to_owned(),
    };
    format!("{:>8} s  {name}{text}", tenths(at))
}
