//! The one function that every shell calls.

mod refusal;
mod request;
mod response;

use json_patch::Patch;
use serde_json::Value;

use crate::facts::{Facts, Mode, Origin};
use crate::intent::{self, Skip, SkipReason};
use crate::plan::{self, Edit, Plan, Withheld, Write};
use crate::review::Request;
use crate::rules::{self, Case};
use crate::subject::{NoSubject, Subject, Update};
use crate::words::{Finding, Severity};

/// Which question of the API server is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Endpoint {
    /// What should be changed?
    Mutate,
    /// May the final object be stored?
    Validate,
}

impl Endpoint {
    /// The word of the URL path.
    pub fn word(self) -> &'static str {
        match self {
            Self::Mutate => "mutate",
            Self::Validate => "validate",
        }
    }
}

/// What is said of the object as it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Nothing that must fail was found, or nobody stands there to be refused.
    Allowed,
    /// It cannot work.
    Denied,
    /// A kind that is not known, or no Kubernetes object at all, and which.
    NotChecked(String),
    /// Neither edited nor judged.
    Skipped(Skip),
}

impl Outcome {
    /// The word that metrics and reports use.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Allowed => "allowed",
            Self::Denied => "denied",
            Self::NotChecked(_) => "not-checked",
            Self::Skipped(_) => "skipped",
        }
    }
}

/// The judgement of one object.
#[derive(Clone, Debug)]
pub struct Decision {
    /// What is said of the object as it stands.
    pub outcome: Outcome,
    /// The mode that held: the namespace's, or the weaker one that the object asked for.
    pub mode: Mode,
    /// Why the webhook refuses the object; only in mode `enforce`.
    pub refusal: Option<String>,
    /// What mends it; empty in an admission where the mode edits nothing.
    pub patch: Patch,
    /// The edits of the patch; where the mode edits nothing, those that a fix would make.
    pub edits: Vec<Edit>,
    /// What was wanted and is not done, and why.
    pub withheld: Vec<Withheld>,
    /// Why nothing is edited, where something could have been.
    pub left_alone: Option<&'static str>,
    /// What is wrong with it, the gravest first.
    pub findings: Vec<Finding>,
    /// Whether a controller owns the object, so that nobody stands there to be told.
    pub owned: bool,
    /// The object's name, or its `generateName` with a `*` behind it.
    pub name: String,
}

impl Decision {
    fn untouched(outcome: Outcome, mode: Mode) -> Self {
        Self {
            outcome,
            mode,
            refusal: None,
            patch: Patch::default(),
            edits: Vec::new(),
            withheld: Vec::new(),
            left_alone: None,
            findings: Vec::new(),
            owned: false,
            name: String::new(),
        }
    }

    fn skipped(reason: SkipReason, detail: impl Into<String>, mode: Mode) -> Self {
        Self::untouched(Outcome::Skipped(Skip::new(reason, detail)), mode)
    }
}

/// Judges one object: what mends it, what is wrong with it, and whether it is refused.
pub fn admit(request: &Request, facts: &Facts) -> Decision {
    if let Some(skip) = request::out_of_scope(request, facts) {
        return Decision::untouched(Outcome::Skipped(skip), facts.mode);
    }
    let Some(object) = &request.object else {
        return Decision::skipped(SkipReason::OutOfScope, "there is no object", facts.mode);
    };
    let write = match request::write(request) {
        Ok(write) => write,
        Err(skip) => return Decision::untouched(Outcome::Skipped(skip), facts.mode),
    };
    let mut decision = judge(object, &request.namespace, facts, write);
    if facts.origin == Origin::Admission {
        decision.refusal = refusal::refusal(&decision, object, &request.namespace, facts, write);
        if !facts.mode.edits() {
            decision.patch = Patch::default();
        }
    }
    decision
}

/// Judges an object by itself.
fn judge(object: &Value, namespace: &str, facts: &Facts, write: Write<'_>) -> Decision {
    let subject = match Subject::read(object, namespace, &facts.knowledge) {
        Ok(subject) => subject,
        Err(NoSubject::HoldsNoPods(kind)) => {
            return Decision::untouched(
                Outcome::NotChecked(format!("a {kind} holds no pods")),
                facts.mode,
            );
        }
        Err(NoSubject::NoObject) => {
            return Decision::untouched(
                Outcome::NotChecked("not a Kubernetes object".to_owned()),
                facts.mode,
            );
        }
        Err(NoSubject::UnknownKind(kind)) => {
            return Decision::untouched(
                Outcome::NotChecked(format!("the kind {kind} is not known")),
                facts.mode,
            );
        }
        Err(NoSubject::TooMany(what, most)) => {
            return Decision::untouched(
                Outcome::NotChecked(format!("it has more than {most} {what}")),
                facts.mode,
            );
        }
    };
    if let Some(skip) = request::never_ours(&subject, facts) {
        return Decision {
            name: subject.name.clone(),
            ..Decision::untouched(Outcome::Skipped(skip), facts.mode)
        };
    }
    let intent = intent::resolve(&subject, facts, rules::ids());
    let plan = plan::make(&subject, &intent, facts, write, rules::ids());
    let findings = rules::run(&Case {
        subject: &subject,
        intent: &intent,
        plan: &plan,
        facts,
        write,
    });
    let owned = subject.controller.is_some();
    let fatal = findings
        .iter()
        .any(|finding| finding.severity == Severity::Deny);
    let outcome = match &intent.skip {
        _ if fatal && !owned && !intent.stepped_down => Outcome::Denied,
        Some(skip) => Outcome::Skipped(skip.clone()),
        None => Outcome::Allowed,
    };
    let Plan {
        edits,
        withheld,
        patch,
        left_alone,
        ..
    } = plan;
    Decision {
        outcome,
        mode: intent.mode,
        refusal: None,
        patch,
        edits,
        withheld,
        left_alone,
        findings,
        owned,
        name: subject.name.clone(),
    }
}

fn update(old: &Value) -> Write<'_> {
    Write::Update(Update { old })
}
