//! Why an object is neither edited nor judged: a closed list, seen in metrics, in `explain` and in reports.

use super::TemplateIntent;
use crate::knowledge::Recognition;
use crate::subject::{Place, PodTemplate, Role, Subject};

/// Why an object is neither edited nor judged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skip {
    /// The reason, from the closed list.
    pub reason: SkipReason,
    /// What says so.
    pub detail: String,
}

/// The closed list of reasons.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SkipReason {
    /// It ends by itself, and nobody opted it in.
    Batch,
    /// It is being deleted.
    BeingDeleted,
    /// It has no image: a piece of an object that something else completes.
    Fragment,
    /// A device plugin, operator, exporter or validator.
    Infrastructure,
    /// A person works in it.
    Interactive,
    /// Knative owns its probes and its draining.
    Knative,
    /// The node made it from a file; it runs already, whatever is said.
    MirrorPod,
    /// It neither asks for an accelerator nor opts in.
    NotOurs,
    /// The request has a shape that is not understood.
    NotUnderstood,
    /// The owner says that it is no accelerator workload.
    OptedOut,
    /// What is written is a part of the object, or it is written in a way that changes nothing that is judged.
    OutOfScope,
    /// The owner wants it left alone.
    SkipAnnotation,
    /// A namespace of the cluster itself, or our own.
    SystemNamespace,
}

impl SkipReason {
    /// All reasons.
    pub const ALL: [Self; 13] = [
        Self::Batch,
        Self::BeingDeleted,
        Self::Fragment,
        Self::Infrastructure,
        Self::Interactive,
        Self::Knative,
        Self::MirrorPod,
        Self::NotOurs,
        Self::NotUnderstood,
        Self::OptedOut,
        Self::OutOfScope,
        Self::SkipAnnotation,
        Self::SystemNamespace,
    ];

    /// The word that metrics and reports use.
    pub fn word(self) -> &'static str {
        match self {
            Self::Batch => "batch",
            Self::BeingDeleted => "being-deleted",
            Self::Fragment => "fragment",
            Self::Infrastructure => "infrastructure",
            Self::Interactive => "interactive",
            Self::Knative => "knative",
            Self::MirrorPod => "mirror-pod",
            Self::NotOurs => "not-ours",
            Self::NotUnderstood => "not-understood",
            Self::OptedOut => "opted-out",
            Self::OutOfScope => "out-of-scope",
            Self::SkipAnnotation => "skip-annotation",
            Self::SystemNamespace => "system-namespace",
        }
    }
}

impl Skip {
    /// A skip for a reason.
    pub fn new(reason: SkipReason, detail: impl Into<String>) -> Self {
        Self {
            reason,
            detail: detail.into(),
        }
    }
}

/// Labels that pods of training jobs carry, whatever their restartPolicy: Kubeflow's operators and JobSet, which the newer
/// trainer makes its pods with.
const TRAINING_LABELS: [&str; 2] = [
    "jobset.sigs.k8s.io/jobset-name",
    "training.kubeflow.org/job-name",
];

/// Labels that notebook servers carry: JupyterHub's and Kubeflow's.
const NOTEBOOK_LABELS: [&str; 2] = ["hub.jupyter.org/username", "notebook-name"];

pub(super) fn of_template(
    subject: &Subject<'_>,
    intent: &TemplateIntent<'_>,
    may_skip: bool,
) -> Option<Skip> {
    let template = intent.template;
    if let Some(skip) = fragment(template) {
        return Some(skip);
    }
    if intent.layers.accelerator() == Some(false) {
        return Some(Skip::new(
            SkipReason::OptedOut,
            "annotation warmgate.io/accelerator: false",
        ));
    }
    if intent.ours.is_none() && intent.accelerators.unresolved.is_empty() {
        return Some(not_ours());
    }
    if let Some(reason) = intent.layers.skip().filter(|_| may_skip) {
        return Some(Skip::new(
            SkipReason::SkipAnnotation,
            format!("annotation warmgate.io/skip: {}", reason.value),
        ));
    }
    if template.label("serving.knative.dev/revision").is_some() || subject.owned_by(&["Revision"]) {
        return Some(Skip::new(
            SkipReason::Knative,
            "Knative owns the probes and the draining of a revision",
        ));
    }
    if intent.layers.opt_in().is_some() {
        return None;
    }
    batch(subject, intent).or_else(|| no_server(intent))
}

/// Why nothing can be said of a template: it is a piece of one.
pub(super) fn fragment(template: &PodTemplate<'_>) -> Option<Skip> {
    template
        .containers
        .iter()
        .all(|container| container.image.is_none())
        .then(|| Skip::new(SkipReason::Fragment, "no container has an image"))
}

pub(super) fn not_ours() -> Skip {
    Skip::new(
        SkipReason::NotOurs,
        "asks for no accelerator and no annotation opts it in",
    )
}

fn batch(subject: &Subject<'_>, intent: &TemplateIntent<'_>) -> Option<Skip> {
    let template = intent.template;
    let labelled = |labels: [&'static str; 2]| {
        labels
            .into_iter()
            .find(|label| template.label(label).is_some())
    };
    let detail = if subject.workload.batch {
        format!("a {} ends by itself", subject.workload.kind)
    } else if template.restart_policy() != "Always" {
        format!("restartPolicy {}", template.restart_policy())
    } else if let Some(label) = labelled(TRAINING_LABELS) {
        format!("a training job (label {label})")
    } else if let Some(label) = labelled(NOTEBOOK_LABELS) {
        format!("a notebook (label {label})")
    } else if template.label("component") == Some("singleuser-server") {
        "a notebook (label component: singleuser-server)".to_owned()
    } else if subject.owned_by(&["Notebook"]) {
        "a notebook (owned by one)".to_owned()
    } else {
        return None;
    };
    Some(Skip::new(SkipReason::Batch, detail))
}

/// A template in which every holder of an accelerator is known to serve nobody.
fn no_server(intent: &TemplateIntent<'_>) -> Option<Skip> {
    let mut skip = None;
    let holders = intent.containers.iter().filter(|one| {
        one.container.place != Place::Init && intent.accelerators.holds(&one.container.name)
    });
    for holder in holders {
        let probed = Role::ALL
            .into_iter()
            .any(|role| holder.container.raw_probe(role).is_some());
        skip = match &holder.recognition {
            Recognition::Infrastructure(why) => {
                Some(Skip::new(SkipReason::Infrastructure, why.clone()))
            }
            Recognition::Interactive(why) => Some(Skip::new(
                SkipReason::Batch,
                format!("a person works in it ({why})"),
            )),
            Recognition::Idle(why) if !probed => {
                Some(Skip::new(SkipReason::Interactive, why.clone()))
            }
            _ => return None,
        };
    }
    skip
}
