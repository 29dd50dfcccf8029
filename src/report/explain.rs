//! Why: what is ours and what is not, every value with its source, what each probe may do, and what comes of it.

use serde_json::Value;

use super::page::Page;
use super::picture::{self, Picture};
use super::style::{GOOD, TITLE, paint, severity};
use super::timeline::{Simulated, one_phase};
use super::{Entry, container, simulate};
use crate::facts::Facts;
use crate::intent::{self, Intent, TemplateIntent};
use crate::rules;
use crate::subject::Subject;
use crate::words::Seconds;

/// How an explanation is asked for.
#[derive(Clone, Copy, Debug)]
pub struct Wanted {
    /// How long the containers that load take in the simulation; else what is declared, else
    /// [`DEFAULT_LOAD`](super::DEFAULT_LOAD).
    pub load: Option<Seconds>,
    /// How wide pictures are in the text, in characters.
    pub width: usize,
}

/// Everything that is known of an object.
#[derive(Clone, Debug, Default)]
pub struct Explained {
    /// In words, with the pictures drawn between them.
    pub text: String,
    /// The pictures, one for each pod template of which there is something to draw.
    pub pictures: Vec<Picture>,
}

/// Everything that is known of an object; `object` is what the entry was made from.
pub fn explain(entry: &Entry, object: &Value, facts: &Facts, wanted: Wanted) -> Explained {
    let mut page = Page::default();
    let outcome = entry.decision.outcome.word();
    let title = paint(TITLE, &entry.title());
    page.line(
        0,
        format!("{title} ({}:{}): {outcome}", entry.file, entry.line),
    );
    if let Some(why) = entry.not_checked() {
        page.line(1, why);
        return Explained::from(page);
    }
    let namespace = entry.namespace.as_deref().unwrap_or_default();
    let Ok(subject) = Subject::read(object, namespace, &facts.knowledge) else {
        return Explained::from(page);
    };
    let intent = intent::resolve(&subject, facts, rules::ids());
    whole(&mut page, entry, &subject, &intent);
    for template in &intent.templates {
        of_template(&mut page, template, facts, wanted.load);
    }
    findings(&mut page, entry);
    fix(&mut page, entry);
    let simulated = |object: &Value| simulate(object, namespace, facts, wanted.load);
    let before = simulated(object);
    let after = mended(entry, object).map(|mended| simulated(&mended));
    let pictures = picture::draw(&entry.title(), &before, after.as_deref());
    let all = before.iter().chain(after.iter().flatten());
    draw(&mut page, &pictures, &one_phase(all), wanted.width);
    timelines(&mut page, &before, after.as_deref());
    Explained {
        pictures,
        ..Explained::from(page)
    }
}

impl From<Page> for Explained {
    fn from(page: Page) -> Self {
        Self {
            text: page.0,
            ..Self::default()
        }
    }
}

fn whole(page: &mut Page, entry: &Entry, subject: &Subject<'_>, intent: &Intent<'_>) {
    if let Some(skip) = entry.skip().or(intent.skip.as_ref()) {
        let reason = skip.reason.word();
        page.line(
            1,
            format!("neither edited nor judged: {} [{reason}]", skip.detail),
        );
    }
    if let Some(owner) = &subject.controller {
        page.line(
            1,
            format!("owned by {} {}: never refused", owner.kind, owner.name),
        );
    }
    if intent.stepped_down {
        page.line(1, format!("steps down to mode {}", intent.mode.word()));
    }
    if let Some(rollout) = &intent.rollout {
        page.value(1, "rollout", "no-surge", &rollout.source);
    }
}

fn of_template(
    page: &mut Page,
    template: &TemplateIntent<'_>,
    facts: &Facts,
    load: Option<Seconds>,
) {
    let path = template.template.path.to_string();
    let place = if path.is_empty() { "pod" } else { &path };
    match (&template.ours, &template.skip) {
        (Some(ours), None) => page.line(1, format!("{place} is ours: {ours}")),
        (Some(ours), Some(skip)) => {
            page.line(
                1,
                format!("{place} would be ours ({ours}), but {}", skip.detail),
            );
        }
        (None, _) => page.line(1, format!("{place} is not ours")),
    }
    let notes = [
        ("runs on spot capacity only", &template.spot),
        ("no startup probe is injected", &template.ready_gate),
        ("nothing is edited", &template.hands_off),
        ("no preset becomes a startup probe", &template.no_preset),
        ("no handler is copied", &template.no_copy),
    ];
    for (what, why) in notes {
        if let Some(why) = why {
            page.line(2, format!("{what}: {why}"));
        }
    }
    if template.mesh {
        page.line(2, "a mesh proxy captures its traffic");
    }
    for one in &template.containers {
        container::of_container(page, template, one, facts, load);
    }
}

fn findings(page: &mut Page, entry: &Entry) {
    if entry.decision.findings.is_empty() {
        return;
    }
    page.heading("findings");
    for (finding, (line, _)) in entry.decision.findings.iter().zip(&entry.places) {
        let word = paint(severity(finding.severity), finding.severity.word());
        page.line(2, format!("line {line} {word}: {}", finding.line()));
    }
}

fn fix(page: &mut Page, entry: &Entry) {
    let decision = &entry.decision;
    if decision.patch.0.is_empty() && decision.withheld.is_empty() && decision.left_alone.is_none()
    {
        return;
    }
    page.heading("fix");
    if let Some(why) = decision.left_alone {
        page.line(2, format!("leaves it alone: {why}"));
    }
    for edit in &decision.edits {
        page.line(2, paint(GOOD, &super::edit(edit)));
    }
    for withheld in &decision.withheld {
        let why = super::brief::why(&withheld.why);
        page.line(2, format!("not done: {}: {why}", withheld.path));
    }
}

/// The object as a fix would make it, where it would change something.
fn mended(entry: &Entry, object: &Value) -> Option<Value> {
    let patch = &entry.decision.patch;
    let mut mended = object.clone();
    let patched = !patch.0.is_empty() && json_patch::patch(&mut mended, patch).is_ok();
    patched.then_some(mended)
}

fn draw(page: &mut Page, pictures: &[Picture], phases: &str, width: usize) {
    if pictures.is_empty() {
        return;
    }
    page.heading(&format!("picture, {phases}"));
    for picture in pictures {
        picture::terminal(page, picture, width);
    }
}

fn timelines(page: &mut Page, before: &[Simulated], after: Option<&[Simulated]>) {
    let runs = match after {
        None => vec![("timeline", before)],
        Some(after) => vec![
            ("timeline before the fix", before),
            ("timeline after the fix", after),
        ],
    };
    for (heading, run) in runs {
        page.heading(&format!("{heading}, {}", one_phase(run)));
        for simulated in run {
            page.0.push_str(&indented(&simulated.text()));
        }
    }
}

fn indented(text: &str) -> String {
    text.lines().map(|line| format!("  {line}\n")).collect()
}
