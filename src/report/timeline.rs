//! What the kubelet will do, as the simulator sees it: one timeline line by line, and what holds over many phases.

use std::fmt::Write as _;

use serde_json::Value;

use super::pods::{self, Setting};
use super::style::{BAD, GOOD, paint};
use crate::facts::Facts;
use crate::intent;
use crate::knowledge::Part;
use crate::kubelet::{
    Deletion, Event, Life, Micros, OnTerm, Phase, Scenario, Timeline, What, simulate as run,
};
use crate::rules;
use crate::subject::{Role, Subject};
use crate::words::Seconds;

/// Ticks that are tried for each pod; each with three fractions of a second.
const TICKS: i64 = 20;

/// The shortest time that is simulated, in seconds: long enough for the back-off to be seen.
const HORIZON: i64 = 1800;

/// So many lives of a crash loop are told line by line; of those that follow only the restarts and the waits between them.
const LIVES: usize = 2;

/// So many waits are told.
const WAITS: usize = 2;

/// So many restarts are told where nothing waits: a start that takes minutes never meets the back-off.
const RESTARTS: usize = 8;

/// The pods of one template, simulated.
#[derive(Clone, Debug)]
pub struct Simulated {
    /// Which pods, where the object has several templates.
    part: Option<&'static str>,
    assumed: Vec<String>,
    timeline: Timeline,
    outlooks: Vec<Outlook>,
    endings: Vec<String>,
}

/// What becomes of one container that loads, over many phases.
#[derive(Clone, Debug)]
struct Outlook {
    number: usize,
    name: String,
    phases: usize,
    killed: usize,
    killer: Option<Role>,
    /// The earliest and the latest first kill, from the start of the instance.
    kill: Option<(Micros, Micros)>,
    /// In how many phases it is ready and loaded at some time.
    serving: usize,
    /// When, at the earliest and at the latest.
    serves_at: Option<(Micros, Micros)>,
    restarts: (u32, u32),
    horizon: Micros,
}

/// Simulates the pods of an object in many phases, one [`Simulated`] for each of its templates. `load` is how long every
/// container that loads takes; without it that is what is declared, else [`DEFAULT_LOAD`](pods::DEFAULT_LOAD).
pub fn simulate(
    object: &Value,
    namespace: &str,
    facts: &Facts,
    load: Option<Seconds>,
) -> Vec<Simulated> {
    let Ok(subject) = Subject::read(object, namespace, &facts.knowledge) else {
        return Vec::new();
    };
    let intent = intent::resolve(&subject, facts, rules::ids());
    let several = intent.templates.len() > 1;
    let simulated = intent.templates.iter().map(|template| {
        let part = several.then(|| part(template.template.part)).flatten();
        of_setting(part, &pods::setting(template, facts.kubernetes, load))
    });
    simulated.collect()
}

fn part(part: Part) -> Option<&'static str> {
    match part {
        Part::Leader => Some("leader"),
        Part::Main => None,
        Part::Worker => Some("worker"),
    }
}

fn of_setting(part: Option<&'static str>, setting: &Setting) -> Simulated {
    let slowest = setting.loading.iter().map(|(_, load)| *load).max();
    let horizon = slowest.unwrap_or(0).saturating_mul(2).saturating_add(600);
    let horizon = Micros::secs(horizon.max(HORIZON));
    let phases = Phase::grid(&setting.pod, TICKS);
    let mut outlooks: Vec<Outlook> = setting
        .loading
        .iter()
        .map(|(number, _)| Outlook::new(setting, *number, horizon))
        .collect();
    let mut shown = phases.len() / 2;
    for (number, phase) in phases.iter().enumerate() {
        let timeline = run(&setting.pod, &setting.scenarios, phase, horizon);
        for outlook in &mut outlooks {
            let seen_alive = outlook.killed == 0;
            outlook.add(&timeline);
            // Where the phase decides, the timeline that is shown is one that ends badly.
            if seen_alive && outlook.killed == 1 && number > 0 {
                shown = number;
            }
        }
    }
    let timeline = run(&setting.pod, &setting.scenarios, &phases[shown], horizon);
    Simulated {
        part,
        assumed: setting.assumed.clone(),
        timeline,
        outlooks,
        endings: endings(setting),
    }
}

impl Outlook {
    fn new(setting: &Setting, number: usize, horizon: Micros) -> Self {
        Self {
            number,
            name: setting.pod.containers[number].name.clone(),
            phases: 0,
            killed: 0,
            killer: None,
            kill: None,
            serving: 0,
            serves_at: None,
            restarts: (u32::MAX, 0),
            horizon,
        }
    }

    fn add(&mut self, timeline: &Timeline) {
        self.phases += 1;
        if let Some(kill) = timeline.first_kill(self.number) {
            self.killed += 1;
            self.killer = Some(kill.role);
            self.kill = Some(widened(self.kill, kill.after));
        }
        if let Some(at) = serves_at(timeline, self.number) {
            self.serving += 1;
            self.serves_at = Some(widened(self.serves_at, at));
        }
        let restarts = timeline.restarts(self.number);
        let (fewest, most) = self.restarts;
        self.restarts = (fewest.min(restarts), most.max(restarts));
    }

    /// What holds over all phases, in one sentence.
    fn sentence(&self) -> String {
        let phases = self.phases;
        let by = self.killer.map_or("", Role::field);
        let kill = self
            .kill
            .map(|range| format!("{} after its start", between(range)))
            .unwrap_or_default();
        let killed = match self.killed {
            0 => format!("no probe kills it in any of {phases} phases"),
            all if all == phases => format!("{by} kills it in each of {phases} phases, {kill}"),
            some => format!(
                "whether it lives depends on the phase: {by} kills it in {some} of {phases}, {kill}"
            ),
        };
        let serves = match (self.serving, self.serves_at) {
            (0, _) | (_, None) => {
                format!("never ready to serve within {} s", self.horizon)
            }
            (some, Some(range)) => {
                let at = between(range);
                let of = if some == phases {
                    String::new()
                } else {
                    format!(" in {some} of them")
                };
                format!("ready to serve after {at}{of}")
            }
        };
        let (fewest, most) = self.restarts;
        let restarts = match (fewest, most) {
            (0, 0) => "0 restarts".to_owned(),
            _ if fewest == most => format!("{most} restarts within {} s", self.horizon),
            _ => format!("{fewest} to {most} restarts within {} s", self.horizon),
        };
        let style = if self.killed == 0 { GOOD } else { BAD };
        paint(
            style,
            &format!("{}: {killed}; {serves}; {restarts}", self.name),
        )
    }
}

/// When the container is first ready with its load done: the kubelet's own Ready does not wait for the load where no probe does.
fn serves_at(timeline: &Timeline, container: usize) -> Option<Micros> {
    let (mut loaded, mut ready, mut doomed) = (false, false, false);
    for event in timeline.of(container) {
        match event.what {
            What::Loaded => loaded = true,
            What::Ready => ready = true,
            What::NotReady => ready = false,
            What::KillDecided(_) => doomed = true,
            What::Started | What::Restarted(_) => (loaded, doomed) = (false, false),
            _ => {}
        }
        if loaded && ready && !doomed {
            return Some(event.at);
        }
    }
    None
}

fn widened(range: Option<(Micros, Micros)>, by: Micros) -> (Micros, Micros) {
    let (earliest, latest) = range.unwrap_or((by, by));
    (earliest.min(by), latest.max(by))
}

fn between((earliest, latest): (Micros, Micros)) -> String {
    let (earliest, latest) = (tenths(earliest), tenths(latest));
    if earliest == latest {
        format!("{latest} s")
    } else {
        format!("{earliest} to {latest} s")
    }
}

/// Seconds with one decimal.
fn tenths(at: Micros) -> String {
    let tenths = at.0.saturating_add(50_000).div_euclid(100_000);
    format!("{}.{}", tenths.div_euclid(10), tenths.rem_euclid(10))
}

/// How each container that loads ends when its pod is deleted while it serves.
fn endings(setting: &Setting) -> Vec<String> {
    let begins = Micros::secs(600);
    let mut pod = setting.pod.clone();
    pod.deletion = Some(Deletion {
        at: begins,
        grace: None,
    });
    let busy = Scenario::always(Life {
        on_term: OnTerm::Ignores,
        ..Life::AT_ONCE
    });
    let scenarios = vec![busy; pod.containers.len()];
    let horizon = begins + Micros::secs(pod.grace.max(0).saturating_add(60));
    let timeline = run(&pod, &scenarios, &Phase::default(), horizon);
    let ending = |number: usize| {
        let mut parts = Vec::new();
        for event in timeline.of(number).filter(|event| event.at >= begins) {
            let at = event.at - begins;
            match event.what {
                What::PreStopEnded { cut_off: false } => {
                    parts.push(format!("preStop until {at} s"));
                }
                What::PreStopEnded { cut_off: true } => {
                    parts.push(format!("preStop cut off at {at} s"));
                }
                What::Sigterm => parts.push(format!("SIGTERM at {at} s")),
                What::Sigkill => {
                    parts.push(format!("SIGKILL at {at} s if requests are still in flight"));
                }
                _ => {}
            }
        }
        format!(
            "{} when its pod is deleted: {}",
            pod.containers[number].name,
            parts.join(", ")
        )
    };
    setting
        .loading
        .iter()
        .map(|(number, _)| ending(*number))
        .collect()
}

impl Simulated {
    /// The text, every line indented by two blanks.
    pub fn text(&self) -> String {
        let mut text = String::new();
        let mut line = |line: &str| {
            writeln!(text, "  {line}").expect("a string takes every line");
        };
        if let Some(part) = self.part {
            line(&format!("{part} pods"));
        }
        for assumed in &self.assumed {
            line(&format!("taken for granted: {assumed}"));
        }
        let (told, goes_on) = self.told();
        for shown in lines(&self.timeline, &told) {
            line(&shown);
        }
        if goes_on {
            line("     ...     and so on");
        }
        for outlook in &self.outlooks {
            line(&outlook.sentence());
        }
        for ending in &self.endings {
            line(ending);
        }
        text
    }

    /// The events that are told, and whether a crash loop goes on behind them: all until everything that loads serves, of a
    /// crash loop a few lives, then how it waits.
    fn told(&self) -> (Vec<Event>, bool) {
        let events = &self.timeline.events;
        let serving: Option<Vec<Micros>> = self
            .outlooks
            .iter()
            .map(|outlook| serves_at(&self.timeline, outlook.number))
            .collect();
        if let Some(latest) = serving.and_then(|serving| serving.into_iter().max()) {
            let end = events.partition_point(|event| event.at <= latest);
            return (events[..end].to_vec(), false);
        }
        let (mut told, mut restarts, mut waits) = (Vec::new(), 0, 0);
        for event in events {
            let restart = matches!(event.what, What::Restarted(_));
            let wait = matches!(event.what, What::BackOff { .. });
            if waits >= WAITS || (waits == 0 && restarts >= RESTARTS) {
                return (told, true);
            }
            if restarts < LIVES || restart || wait {
                told.push(*event);
            }
            restarts += usize::from(restart);
            waits += usize::from(wait);
        }
        (told, false)
    }
}

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
fn lines(timeline: &Timeline, events: &[Event]) -> Vec<String> {
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
            // Without a startup probe a container counts as started as soon as it runs.
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
            format!("waits until {} s (CrashLoopBackOff)", tenths(*until))
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
