//! What the kubelet will do, as the simulator sees it: one timeline line by line, and what holds over many phases.

use std::fmt::Write as _;

use serde_json::Value;

use super::lines::lines;
use super::outlook::{Outlook, serves_at};
use super::pods::{self, Setting};
use crate::facts::Facts;
use crate::intent::{self, TemplateIntent};
use crate::knowledge::Part;
use crate::kubelet::{
    Deletion, Event, Life, Micros, OnTerm, Phase, Scenario, Timeline, What, simulate as run,
};
use crate::rules;
use crate::subject::Subject;
use crate::words::Seconds;

/// Ticks that are tried for each pod, at the most; each with three fractions of a second.
const TICKS: i64 = 20;

/// So many phases of the kubelet's grid each of them makes.
const FRACTIONS: i64 = 3;

/// So many turns of probes are simulated for the pods of one template, or three phases: a start of a day that is probed every second
/// has a hundred thousand in each phase.
const TURNS: i64 = 450_000;

/// A load of a day is always seen to its end, and what comes after it.
const DAY: i64 = 86_400 + LONG_LOAD + 600;

/// Beyond that no phase has more turns: whoever declares a start of years is told what happens in its first weeks.
const MOST: i64 = 300_000;

/// Of a longer load only so many seconds are added to what is simulated, for what comes after it.
const LONG_LOAD: i64 = 3600;

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
    pub(super) part: Option<&'static str>,
    /// What is taken for granted, one sentence a container.
    pub(super) assumed: Vec<String>,
    /// What happens in the phase that is shown.
    pub(super) timeline: Timeline,
    /// In how many phases it was simulated.
    phases: usize,
    /// What holds over all phases, for each container that loads.
    pub(super) outlooks: Vec<Outlook>,
    endings: Vec<String>,
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
        let mut setting = pods::setting(template, facts.kubernetes, load);
        let deadlines = [setting.pod.active_deadline, of_job(&subject, template)];
        setting.pod.active_deadline = deadlines.into_iter().flatten().min();
        of_setting(part, &setting)
    });
    simulated.collect()
}

/// When the controller of a Job deletes its pods (`activeDeadlineSeconds`, `pkg/controller/job/job_controller.go`).
fn of_job(subject: &Subject<'_>, template: &TemplateIntent<'_>) -> Option<Micros> {
    let spec = template.template.path.parent();
    let spec = spec.filter(|_| subject.workload.batch)?;
    subject
        .number(&spec.key("activeDeadlineSeconds"))
        .map(Micros::secs)
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
    let slowest = slowest.unwrap_or(0);
    let after = slowest.min(LONG_LOAD).saturating_add(600);
    let wanted = slowest.saturating_add(after).max(HORIZON);
    let (horizon, ticks) = extent(setting, wanted);
    let phases = Phase::grid(&setting.pod, ticks);
    let horizon = Micros::secs(horizon);
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
        phases: phases.len(),
        outlooks,
        endings: endings(setting),
    }
}

/// Until when is simulated, and how many ticks are tried: fewer where each has very many turns. Times are in seconds.
fn extent(setting: &Setting, wanted: i64) -> (i64, i64) {
    let turns = setting
        .pod
        .probes()
        .map(|probe| wanted / probe.period.max(1));
    let turns = turns.fold(1, i64::saturating_add);
    let shortened = i128::from(wanted) * i128::from(MOST) / i128::from(turns.max(MOST));
    let horizon = i64::try_from(shortened)
        .unwrap_or(wanted)
        .max(wanted.min(DAY));
    let ticks = (TURNS / FRACTIONS / turns).clamp(1, TICKS);
    (horizon, ticks)
}

/// What is said of something that shows a phase of each of these.
pub(super) fn one_phase<'s>(of: impl IntoIterator<Item = &'s Simulated>) -> String {
    let of = of.into_iter().map(|simulated| simulated.phases);
    let (fewest, most) = of.fold((usize::MAX, 0), |(fewest, most), phases| {
        (fewest.min(phases), most.max(phases))
    });
    match fewest < most {
        true => format!("in one of {fewest} to {most} phases"),
        false => format!("in one of {most} phases"),
    }
}

/// How each container that loads ends when its pod is deleted while it serves.
fn endings(setting: &Setting) -> Vec<String> {
    let begins = Micros::secs(600);
    let mut pod = setting.pod.clone();
    pod.deletion = Some(Deletion {
        at: begins,
        grace: None,
    });
    pod.active_deadline = None;
    // Probes change nothing here, and a grace period of years would be full of them.
    for container in &mut pod.containers {
        (container.startup, container.liveness, container.readiness) = (None, None, None);
    }
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

    /// Until when is told what happens: then everything serves, or it is known how it goes on.
    pub(super) fn told_until(&self) -> Micros {
        let (told, _) = self.told();
        let ends = told.iter().map(|event| match event.what {
            What::BackOff { until } => until,
            _ => event.at,
        });
        ends.max().unwrap_or_default()
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
