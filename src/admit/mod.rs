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
}

/// Judges one object: what mends it, what is wrong with it, and whether it is refused.
pub fn admit(request: &Request, facts: &Facts) -> Decision {
    let (object, write) = match scope(request, facts) {
        Ok(judged) => judged,
        Err(decision) => return *decision,
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

/// What [`admit`] decides, where nothing that other objects say can change it: the object holds no pods, is never judged, or is
/// foreign to us.
pub fn settled(request: &Request, facts: &Facts) -> Option<Decision> {
    let read = scope(request, facts)
        .and_then(|(object, _)| subject(object, &request.namespace, facts).map(drop));
    read.err().map(|decision| *decision)
}

/// The object that is judged and how it is written, or the decision on what is let through unread.
fn scope<'r>(request: &'r Request, facts: &Facts) -> Result<(&'r Value, Write<'r>), Box<Decision>> {
    let skip = |skip| Decision::untouched(Outcome::Skipped(skip), facts.mode);
    if let Some(out_of_scope) = request::out_of_scope(request, facts) {
        return Err(Box::new(skip(out_of_scope)));
    }
    let Some(object) = &request.object else {
        let why = Skip::new(SkipReason::OutOfScope, "there is no object");
        return Err(Box::new(skip(why)));
    };
    match request::write(request) {
        Ok(write) => Ok((object, write)),
        Err(why) => Err(Box::new(skip(why))),
    }
}

/// What is judged of an object, or the decision on one of which nothing is.
fn subject<'o>(
    object: &'o Value,
    namespace: &str,
    facts: &'o Facts,
) -> Result<Subject<'o>, Box<Decision>> {
    let subject = match Subject::read(object, namespace, &facts.knowledge) {
        Ok(subject) => subject,
        Err(why) => {
            let findings = match &why {
                NoSubject::HoldsNoPods(kind) if facts.origin == Origin::File => {
                    rules::of_defaults(kind, object)
                }
                _ => Vec::new(),
            };
            let why = match why {
                NoSubject::HoldsNoPods(kind) => format!("a {kind} holds no pods"),
                NoSubject::NoObject => "not a Kubernetes object".to_owned(),
                NoSubject::TooMany(what, most) => format!("it has more than {most} {what}"),
                NoSubject::UnknownKind(kind) => format!("the kind {kind} is not known"),
            };
            return Err(Box::new(Decision {
                findings,
                ..Decision::untouched(Outcome::NotChecked(why), facts.mode)
            }));
        }
    };
    if let Some(skip) = request::never_ours(&subject, facts) {
        return Err(Box::new(Decision {
            name: subject.name.clone(),
            ..Decision::untouched(Outcome::Skipped(skip), facts.mode)
        }));
    }
    if let Some(skip) = intent::foreign(&subject, facts) {
        return Err(Box::new(Decision {
            owned: subject.controller.is_some(),
            name: subject.name,
            ..Decision::untouched(Outcome::Skipped(skip), facts.mode)
        }));
    }
    Ok(subject)
}

/// Judges an object by itself.
fn judge(object: &Value, namespace: &str, facts: &Facts, write: Write<'_>) -> Decision {
    let subject = match subject(object, namespace, facts) {
        Ok(subject) => subject,
        Err(decision) => return *decision,
    };
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
