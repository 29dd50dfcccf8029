//! What to change: edits that fill what the owner left open, one kind a file, and the patch that makes them.
//!
//! An edit adds what is absent or raises what counts as unset; nothing the owner set is lowered, dropped or moved.

mod annotations;
mod edit;
mod own;
mod patch;
mod probes;
mod rollout;
mod startup;
mod termination;

use json_patch::Patch;
use serde_json::Value;

use crate::facts::{Facts, Origin};
use crate::intent::{Intent, SkipReason, TemplateIntent};
use crate::subject::{ApplyRecord, Subject, Update};
use crate::words::FieldPath;

pub use edit::{Edit, EditKind, Why, Withheld};
pub use own::{Own, own_values};

/// What to change in one object.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// What will be changed, in the order of the object's fields; values of ours that stay are not among them.
    pub edits: Vec<Edit>,
    /// What was wanted and is not done, and why.
    pub withheld: Vec<Withheld>,
    /// The values of ours that the object carries as it arrives.
    pub own: Vec<Own>,
    /// The edits as RFC 6902.
    pub patch: Patch,
    /// Why nothing is edited, where something could have been.
    pub left_alone: Option<&'static str>,
}

impl Plan {
    /// Whether the field at `path` is a value of ours, or stands in one.
    pub fn is_ours(&self, path: &FieldPath) -> bool {
        self.own.iter().any(|own| path.starts_with(&own.path))
    }

    /// Whether the edits write the field at `path`, or something below it.
    pub fn writes(&self, path: &FieldPath) -> bool {
        self.edits
            .iter()
            .any(|edit| edit.path.starts_with(path) || path.starts_with(&edit.path))
    }
}

/// How an object is written.
#[derive(Clone, Copy, Debug)]
pub enum Write<'a> {
    /// It is new.
    Create,
    /// It replaces an older version.
    Update(Update<'a>),
}

/// Everything an edit may look at.
struct Site<'s> {
    subject: &'s Subject<'s>,
    intent: &'s Intent<'s>,
    facts: &'s Facts,
    applied: &'s ApplyRecord,
}

impl Site<'_> {
    /// Whether a present field must stay as it is, because somebody applied it by name and would put it back.
    fn is_applied(&self, path: &FieldPath) -> bool {
        self.facts.origin == Origin::Admission && self.applied.names(self.subject.object, path)
    }

    /// Whether the object is a Pod that a controller made.
    fn is_owned_pod(&self) -> bool {
        self.subject.is_pod() && self.subject.controller.is_some()
    }
}

/// What is done with the object as a whole.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Extent {
    All,
    AnnotationsOnly,
    Nothing(Option<&'static str>),
}

/// Plans what to change in an object. `rules` are the ids that `allow.` may name.
pub fn make(
    subject: &Subject<'_>,
    intent: &Intent<'_>,
    facts: &Facts,
    write: Write<'_>,
    rules: &[&str],
) -> Plan {
    let applied = if facts.origin == Origin::Admission {
        ApplyRecord::read(subject.object)
    } else {
        ApplyRecord::default()
    };
    let own = own_values(subject, &applied);
    let mut plan = Plan {
        own,
        ..Plan::default()
    };
    match extent(subject, intent, facts) {
        Extent::Nothing(why) => plan.left_alone = why,
        Extent::AnnotationsOnly => {
            let site = Site {
                subject,
                intent,
                facts,
                applied: &applied,
            };
            let mut edits =
                annotations::copies(&site, |template| is_written(subject, template, write));
            edits.extend(plan.own.iter().map(Own::as_edit));
            patch::build(subject, facts, edits, &mut plan, &[]);
        }
        Extent::All if plan.own.is_empty() => {
            let site = Site {
                subject,
                intent,
                facts,
                applied: &applied,
            };
            let (edits, withheld) = wanted(&site, write);
            plan.withheld = withheld;
            patch::build(subject, facts, edits, &mut plan, &[]);
        }
        Extent::All => renew(subject, facts, write, rules, &applied, &mut plan),
    }
    plan
}

/// Plans for an object that carries values of ours: they count as unset, and are made anew, kept or taken out.
fn renew(
    subject: &Subject<'_>,
    facts: &Facts,
    write: Write<'_>,
    rules: &[&str],
    applied: &ApplyRecord,
    plan: &mut Plan,
) {
    let base = own::without(subject.object, &plan.own);
    let Ok(bare) = Subject::read(&base, &subject.namespace, &facts.knowledge) else {
        return;
    };
    let bare_intent = crate::intent::resolve(&bare, facts, rules);
    let site = Site {
        subject: &bare,
        intent: &bare_intent,
        facts,
        applied,
    };
    let (mut edits, withheld) = wanted(&site, write);
    let kept = own::kept(subject, &bare, &plan.own, write);
    edits.retain(|edit| !kept.iter().any(|own| own.path == edit.path));
    edits.extend(kept.iter().map(|own| own.as_edit()));
    plan.withheld = withheld;
    let touched = |own: &&Own| {
        own.template.is_none_or(|index| {
            bare_intent
                .templates
                .get(index)
                .is_some_and(|template| is_written(&bare, template, write))
        })
    };
    let removable: Vec<Own> = if is_any_written(&bare, &bare_intent, write) {
        plan.own.iter().filter(touched).cloned().collect()
    } else {
        edits.extend(plan.own.iter().map(Own::as_edit));
        Vec::new()
    };
    for own in plan.own.iter().filter(|own| !touched(own)) {
        if !edits.iter().any(|edit| edit.path == own.path) {
            edits.push(own.as_edit());
        }
    }
    patch::build(subject, facts, edits, plan, &removable);
}

fn extent(subject: &Subject<'_>, intent: &Intent<'_>, facts: &Facts) -> Extent {
    if subject.workload.check_only {
        return Extent::Nothing(None);
    }
    if subject.controller.is_some() && !subject.is_pod() {
        return Extent::Nothing(Some(
            "a controller owns it and would put its own values back; its pods are mended",
        ));
    }
    let strict = facts.origin == Origin::File || intent.mode == crate::facts::Mode::Enforce;
    if strict && intent.malformed() && !(subject.is_pod() && subject.controller.is_some()) {
        return Extent::Nothing(Some("an annotation cannot be read"));
    }
    let stepped_below = intent.stepped_down && !intent.mode.edits();
    match intent.skip.as_ref().map(|skip| skip.reason) {
        Some(SkipReason::OptedOut | SkipReason::SkipAnnotation) => Extent::AnnotationsOnly,
        Some(_) => Extent::Nothing(None),
        None if stepped_below => Extent::AnnotationsOnly,
        None => Extent::All,
    }
}

/// Whether the pods' template may be written now: an update that does not change it would roll a whole fleet.
fn is_written(subject: &Subject<'_>, template: &TemplateIntent<'_>, write: Write<'_>) -> bool {
    match write {
        Write::Create => true,
        Write::Update(update) => {
            subject.workload.template_mutable && update.changes_template(template.template)
        }
    }
}

fn is_any_written(subject: &Subject<'_>, intent: &Intent<'_>, write: Write<'_>) -> bool {
    intent
        .templates
        .iter()
        .any(|template| is_written(subject, template, write))
}

/// All edits that the object needs, as if none had been made yet.
fn wanted(site: &Site<'_>, write: Write<'_>) -> (Vec<Edit>, Vec<Withheld>) {
    let mut edits = annotations::copies(site, |template| is_written(site.subject, template, write));
    let mut withheld = Vec::new();
    let mut windows = Vec::new();
    for template in &site.intent.templates {
        let written = is_written(site.subject, template, write);
        let open =
            template.skip.is_none() && template.ours.is_some() && template.hands_off.is_none();
        if written && open {
            probes::timeouts(site, template, &mut edits);
            let ending = termination::plan(site, template, &mut edits, &mut withheld);
            windows.extend(startup::plan(
                site,
                template,
                &ending,
                &mut edits,
                &mut withheld,
            ));
        } else if template.skip.is_none() {
            windows.extend(startup::standing_windows(template));
        }
    }
    let judged = site.intent.skip.is_none()
        && site
            .intent
            .templates
            .iter()
            .any(|one| one.skip.is_none() && one.ours.is_some());
    let any_written = is_any_written(site.subject, site.intent, write);
    if judged && any_written {
        rollout::deadline(site, &windows, &mut edits, &mut withheld);
    }
    if judged && (any_written || rollout::asked_now(site, write)) {
        rollout::strategy(site, &mut edits, &mut withheld);
    }
    (edits, withheld)
}

/// The value at `path` of an object, `null` counting as absent.
fn present<'a>(object: &'a Value, path: &FieldPath) -> Option<&'a Value> {
    path.find(object).filter(|value| !value.is_null())
}
