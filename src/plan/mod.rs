//! What to change: edits that fill what the owner left open, one kind a file, and the patch that makes them.
//!
//! An edit adds what is absent or raises what counts as unset; nothing the owner set is lowered, dropped or moved.

mod annotations;
mod edit;
mod handler;
mod needed;
mod own;
mod patch;
mod place;
mod probes;
mod record;
mod renew;
mod rollout;
mod startup;
mod termination;
mod undo;
mod written;

use std::collections::HashSet;

use json_patch::Patch;
use serde_json::Value;

use crate::annotations::{CHANGES, MODE, SKIP};
use crate::facts::{Facts, Origin};
use crate::intent::{Intent, SkipReason, TemplateIntent};
use crate::subject::{ApplyRecord, PodTemplate, Subject, Update};
use crate::words::{FieldPath, Segment};

pub use edit::{Edit, EditKind, Why, Withheld};
pub(crate) use own::without_ours;
pub use own::{Own, own_values};
pub(crate) use rollout::{DEFAULT_DEADLINE, NO_DEADLINE, is_no_surge, min_ready, needed_deadline};
pub(crate) use startup::{rhythm, wanted_window, window as startup_window};
pub(crate) use termination::{DEFAULT_GRACE, drain, grace_for};
pub use undo::{Left, NoUndo, Stays, Undo, undo};

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
    reach: &'s Reach,
}

impl Site<'_> {
    /// Whether a field must stay as it is, present or not, because somebody applied it by name and would put it back.
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
    let reach = Reach::of(subject, write);
    let mut own = own_values(subject, &applied);
    own.extend(renew::left_behind(subject, &applied, write, &reach, &own));
    let mut plan = Plan {
        own,
        ..Plan::default()
    };
    let site = Site {
        subject,
        intent,
        facts,
        applied: &applied,
        reach: &reach,
    };
    match said_extent(&site, rules, &plan.own) {
        Extent::Nothing(why) => plan.left_alone = why,
        Extent::AnnotationsOnly => {
            let edits = annotations::copies(&site);
            let staying = plan.own.clone();
            patch::build(subject, facts, edits, &mut plan, &staying, &[]);
        }
        Extent::All if plan.own.is_empty() && subject.annotation(CHANGES).is_none() => {
            let (edits, withheld) = wanted(&site);
            plan.withheld = withheld;
            patch::build(subject, facts, edits, &mut plan, &[], &[]);
        }
        Extent::All => renew::renew(&site, write, rules, &mut plan),
    }
    plan
}

/// What is done with an object. A copy of ours in a template that may be written says only what the object still says itself:
/// with the owner's `skip` its copy goes.
fn said_extent(arrived: &Site<'_>, rules: &[&str], own: &[Own]) -> Extent {
    let has_own = !own.is_empty() && arrived.reach.any_template();
    let of = |site: &Site<'_>| extent(site.subject, site.intent, site.facts, has_own);
    let decides = |own: &&Own| {
        let key = own.path.segments().last();
        own.kind == EditKind::Annotation
            && matches!(key, Some(Segment::Key(key)) if key == MODE || key == SKIP)
            && arrived.reach.reaches(own)
    };
    let copies: Vec<Own> = own.iter().filter(decides).cloned().collect();
    let said = (!copies.is_empty())
        .then(|| renew::without_ours(arrived, &copies, rules, of))
        .flatten();
    said.unwrap_or_else(|| of(arrived))
}

/// What is done with an object. `has_own` says whether it carries values of ours in a template that may be written.
fn extent(subject: &Subject<'_>, intent: &Intent<'_>, facts: &Facts, has_own: bool) -> Extent {
    if subject.workload.check_only {
        return Extent::Nothing(None);
    }
    if subject.controller.is_some() && !subject.is_pod() {
        return Extent::Nothing(Some(
            "a controller owns it and would put its own values back; its pods are mended",
        ));
    }
    if subject.templates.iter().any(is_badly_named) {
        return Extent::Nothing(Some(
            "two containers have the same name, or one a bracket in it, which the API server refuses",
        ));
    }
    let strict = facts.origin == Origin::File || intent.mode == crate::facts::Mode::Enforce;
    if strict && intent.malformed() && !(subject.is_pod() && subject.controller.is_some()) {
        return Extent::Nothing(Some("an annotation cannot be read"));
    }
    let stepped_below = intent.stepped_down && !intent.mode.edits();
    let edits_here = facts.origin == Origin::Admission && !stepped_below;
    match intent.skip.as_ref().map(|skip| skip.reason) {
        Some(SkipReason::SkipAnnotation) => Extent::AnnotationsOnly,
        // What they were made for is gone, and nobody looks after them any more.
        Some(_) if has_own && edits_here => Extent::All,
        Some(SkipReason::OptedOut) => Extent::AnnotationsOnly,
        Some(_) => Extent::Nothing(None),
        None if stepped_below => Extent::AnnotationsOnly,
        None => Extent::All,
    }
}

/// Whether two containers of a pod have one name, or one has a name that `changes` could not be read back from
/// (`pkg/apis/core/validation/validation.go`: names are DNS labels, and those of init containers count too).
fn is_badly_named(template: &PodTemplate<'_>) -> bool {
    let mut names = HashSet::new();
    let mut named = template.containers.iter().map(|one| one.name.as_str());
    named.any(|name| name.contains(['[', ']']) || !names.insert(name))
}

/// What may be written now.
struct Reach {
    /// Per template: an update that does not change it would roll a whole fleet.
    templates: Vec<bool>,
    /// The rollout's strategy: also where its annotation on the object changes.
    rollout: bool,
    /// The rollout's deadline: also where the time that it waits for a ready pod changes. No pod is made anew for either.
    deadline: bool,
}

impl Reach {
    fn of(subject: &Subject<'_>, write: Write<'_>) -> Self {
        let templates = match write {
            Write::Create => vec![true; subject.templates.len()],
            Write::Update(update) => {
                let changed = |template| {
                    subject.workload.template_mutable && update.changes_template(template)
                };
                subject.templates.iter().map(changed).collect()
            }
        };
        let any = templates.contains(&true);
        Self {
            rollout: any || rollout::asked_now(subject, write),
            deadline: any || rollout::waits_otherwise(subject, write),
            templates,
        }
    }

    /// The same for another version of the object, which may have other templates.
    fn seen_from(&self, subject: &Subject<'_>, other: &Subject<'_>) -> Self {
        let reached = |template: &PodTemplate<'_>| {
            let same = |one: &PodTemplate<'_>| one.path == template.path;
            let index = subject.templates.iter().position(same);
            index.is_some_and(|index| self.templates[index])
        };
        Self {
            templates: other.templates.iter().map(reached).collect(),
            ..*self
        }
    }

    fn any_template(&self) -> bool {
        self.templates.contains(&true)
    }

    fn reaches(&self, own: &Own) -> bool {
        match (own.kind, own.template) {
            (EditKind::Rollout, _) => self.rollout,
            (EditKind::ProgressDeadline, _) => self.deadline,
            (_, Some(index)) => self.templates.get(index) == Some(&true),
            (_, None) => self.any_template(),
        }
    }
}

/// All edits that the object needs, as if none had been made yet.
fn wanted(site: &Site<'_>) -> (Vec<Edit>, Vec<Withheld>) {
    let mut edits = annotations::copies(site);
    let mut withheld = Vec::new();
    let mut windows = Vec::new();
    let templates = site.intent.templates.iter().zip(&site.reach.templates);
    for (template, reached) in templates.filter(|(template, _)| template.is_judged()) {
        if *reached && template.hands_off.is_none() {
            probes::timeouts(site, template, &mut edits);
            let ending = termination::plan(site, template, &mut edits, &mut withheld);
            let planned = startup::plan(site, template, &ending, &mut edits, &mut withheld);
            windows.extend(planned);
        } else {
            windows.extend(startup::standing_windows(template));
        }
    }
    if !site.intent.templates.iter().any(TemplateIntent::is_judged) {
        return (edits, withheld);
    }
    if site.reach.deadline {
        rollout::deadline(site, &windows, &mut edits, &mut withheld);
    }
    if site.reach.rollout {
        rollout::strategy(site, &mut edits, &mut withheld);
    }
    (edits, withheld)
}

/// The value at `path` of an object, `null` counting as absent.
fn present<'a>(object: &'a Value, path: &FieldPath) -> Option<&'a Value> {
    path.find(object).filter(|value| !value.is_null())
}
