//! What the owner of an object wants: which containers serve, or why not, and every wanted value with its source.

pub mod fault;
mod foreign;
mod layers;
mod placement;
mod service;
mod skip;
mod source;

use crate::annotations::{self, Annotations, Rollout, Setting, StartupProbe, Trouble};
use crate::facts::{Facts, Mode};
use crate::knowledge::{Part, Recognition, Server};
use crate::subject::{Accelerators, Container, PodTemplate, Subject};
use crate::words::{FieldPath, Seconds};

pub use foreign::foreign;
pub use layers::Layers;
pub use service::Service;
pub use skip::{Skip, SkipReason};
pub use source::{Source, Sourced};

/// What the owner of an object wants.
#[derive(Debug)]
pub struct Intent<'a> {
    /// Why the object as a whole is neither edited nor judged.
    pub skip: Option<Skip>,
    /// The mode that holds: the namespace's, or the weaker one that the object asks for.
    pub mode: Mode,
    /// Whether the object asked for a weaker mode, and got it.
    pub stepped_down: bool,
    /// The templates, as in the subject.
    pub templates: Vec<TemplateIntent<'a>>,
    /// The rollout that was asked for.
    pub rollout: Option<Sourced<Rollout>>,
    /// Annotations and labels of ours that say nothing.
    pub troubles: Vec<(FieldPath, Trouble)>,
    /// Annotations that the mode's overrides disregard, by key.
    pub ignored: Vec<(FieldPath, &'static str)>,
    /// Keys of ours that stand on the object's metadata only, by template.
    pub strays: Vec<Stray>,
}

/// A key of ours on the metadata of an object that its template lacks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stray {
    /// The key.
    pub key: String,
    /// Where it stands.
    pub path: FieldPath,
    /// The template that lacks it, by its place in [`Intent::templates`].
    pub template: usize,
}

/// What the owner wants of one pod template.
#[derive(Debug)]
pub struct TemplateIntent<'a> {
    /// The template.
    pub template: &'a PodTemplate<'a>,
    /// The annotations that hold for it.
    pub layers: Layers,
    /// Who asks for an accelerator.
    pub accelerators: Accelerators,
    /// Why it is ours: the resource, claim or annotation.
    pub ours: Option<String>,
    /// Why it is neither edited nor judged.
    pub skip: Option<Skip>,
    /// Its containers, as in the template.
    pub containers: Vec<ContainerIntent<'a>>,
    /// What says that its pods run on spot capacity only.
    pub spot: Option<String>,
    /// Why no startup probe may be injected, from no source: peers wait for Ready.
    pub ready_gate: Option<String>,
    /// Why nothing at all is edited: what the pods will be is decided at run time.
    pub hands_off: Option<String>,
    /// Why no preset becomes a startup probe.
    pub no_preset: Option<String>,
    /// Why no existing handler is copied into a startup probe.
    pub no_copy: Option<String>,
    /// Whether a mesh proxy captures the pod's traffic.
    pub mesh: bool,
}

/// What the owner wants of one container.
#[derive(Debug)]
pub struct ContainerIntent<'a> {
    /// The container.
    pub container: &'a Container<'a>,
    /// Whether it serves.
    pub service: Service,
    /// What is known of what it runs.
    pub recognition: Recognition<'a>,
    /// L: the longest start declared.
    pub declared: Option<Sourced<Seconds>>,
    /// The longest start measured.
    pub measured: Option<Seconds>,
    /// The startup probe that was asked for.
    pub startup_probe: Option<Sourced<StartupProbe>>,
    /// The floor for timeouts that was asked for.
    pub probe_timeout: Option<Sourced<Setting>>,
    /// The sleep before SIGTERM that was asked for.
    pub prestop_sleep: Option<Sourced<Setting>>,
    /// The longest request in flight that was declared.
    pub drain_time: Option<Sourced<Setting>>,
}

impl<'a> ContainerIntent<'a> {
    /// The server it runs, if it is a known one.
    pub fn server(&self) -> Option<&Server<'a>> {
        match &self.recognition {
            Recognition::Server(server) => Some(server),
            _ => None,
        }
    }

    /// Whether it serves.
    pub fn serves(&self) -> bool {
        matches!(self.service, Service::Serves(_))
    }
}

impl<'a> TemplateIntent<'a> {
    /// Whether it is judged, and edited where that is due.
    pub fn is_judged(&self) -> bool {
        self.skip.is_none() && self.ours.is_some()
    }

    /// The containers that serve.
    pub fn serving(&self) -> impl Iterator<Item = &ContainerIntent<'a>> {
        self.containers
            .iter()
            .filter(|container| container.serves())
    }
}

impl Intent<'_> {
    /// Whether an annotation cannot be read.
    pub fn malformed(&self) -> bool {
        self.troubles
            .iter()
            .any(|(_, trouble)| trouble.kind == annotations::TroubleKind::Malformed)
    }
}

/// Resolves what the owner of an object wants. `rules` are the ids that `allow.` may name.
pub fn resolve<'a>(subject: &'a Subject<'a>, facts: &'a Facts, rules: &[&str]) -> Intent<'a> {
    let metadata = annotations::read(subject.annotations(), rules);
    let namespace = facts
        .namespace_defaults(&subject.namespace)
        .map(|defaults| {
            annotations::read(Some(&serde_json::Value::Object(defaults.clone())), rules)
        });
    let mut intent = Intent {
        skip: None,
        mode: facts.mode,
        stepped_down: false,
        templates: Vec::with_capacity(subject.templates.len()),
        rollout: metadata.rollout.map(|value| Sourced {
            value,
            source: Source::Metadata(annotations::ROLLOUT),
        }),
        troubles: Vec::new(),
        ignored: Vec::new(),
        strays: Vec::new(),
    };
    intent
        .troubles
        .extend(troubles_at(&FieldPath::root(), &metadata, subject.labels()));
    for (index, template) in subject.templates.iter().enumerate() {
        let own = if subject.is_pod() {
            metadata.clone()
        } else {
            annotations::read(template.annotations(), rules)
        };
        if !subject.is_pod() {
            intent
                .troubles
                .extend(troubles_at(&template.path, &own, template.labels()));
            let leads = leads(subject, template);
            intent.strays.extend(strays(index, leads, &metadata, &own));
            intent.rollout = intent.rollout.or_else(|| {
                own.rollout.map(|value| Sourced {
                    value,
                    source: Source::Template(annotations::ROLLOUT),
                })
            });
        }
        let outer = if subject.is_pod() {
            Annotations::default()
        } else {
            metadata.clone()
        };
        let layers = Layers::new(own, outer, namespace.clone().unwrap_or_default());
        intent
            .templates
            .push(template_intent(subject, template, layers, facts));
    }
    let of_namespace = namespace.and_then(|defaults| defaults.rollout);
    intent.rollout = intent.rollout.or_else(|| {
        of_namespace.map(|value| Sourced {
            value,
            source: Source::Namespace(annotations::ROLLOUT),
        })
    });
    intent
        .troubles
        .extend(layers::names_without_container(subject, &intent.templates));
    settle_mode(&mut intent, facts);
    settle_skips(subject, &mut intent, facts);
    intent
}

fn template_intent<'a>(
    subject: &'a Subject<'a>,
    template: &'a PodTemplate<'a>,
    layers: Layers,
    facts: &'a Facts,
) -> TemplateIntent<'a> {
    let accelerators = crate::subject::accelerators(template, &subject.namespace, facts);
    let ours = service::why_ours(&layers, &accelerators);
    let containers = service::containers(subject, template, &layers, &accelerators, facts);
    let mut intent = TemplateIntent {
        template,
        layers,
        accelerators,
        ours,
        skip: None,
        containers,
        spot: placement::spot(template.spec),
        ready_gate: None,
        hands_off: None,
        no_preset: None,
        no_copy: None,
        mesh: template.annotation("sidecar.istio.io/status").is_some(),
    };
    placement::decide(subject, &mut intent);
    intent
}

/// The troubles of the annotations and labels that stand below `home`.
fn troubles_at(
    home: &FieldPath,
    annotations: &Annotations,
    labels: Option<&serde_json::Value>,
) -> Vec<(FieldPath, Trouble)> {
    let metadata = home.key("metadata");
    let at = |map: &str, trouble: &Trouble| metadata.key(map).key(&trouble.key);
    let of_annotations = annotations
        .troubles
        .iter()
        .map(|trouble| (at("annotations", trouble), trouble.clone()));
    let of_labels = annotations::labels(labels)
        .into_iter()
        .map(|trouble| (at("labels", &trouble), trouble));
    of_annotations.chain(of_labels).collect()
}

/// Whether the pods of a template may serve: the workers of a group with a leader never do.
fn leads(subject: &Subject<'_>, template: &PodTemplate<'_>) -> bool {
    template.part != Part::Worker || !subject.templates.iter().any(|one| one.part == Part::Leader)
}

/// The keys that the template lacks. Pods that never serve need to know only whether they are left alone.
fn strays(template: usize, leads: bool, metadata: &Annotations, own: &Annotations) -> Vec<Stray> {
    let home = FieldPath::of(&["metadata", "annotations"]);
    let useful = |key: &str| match key {
        annotations::ROLLOUT | annotations::CHANGES => false,
        annotations::ACCELERATOR | annotations::MODE | annotations::SKIP => true,
        _ => leads,
    };
    let unclear = |key: &str| metadata.troubles.iter().any(|trouble| trouble.key == key);
    metadata
        .keys
        .iter()
        .filter(|key| useful(key) && !own.keys.contains(key) && !unclear(key))
        .map(|key| Stray {
            key: key.clone(),
            path: home.key(key),
            template,
        })
        .collect()
}

/// The object may ask for a weaker mode, unless the operator of the cluster says otherwise.
fn settle_mode(intent: &mut Intent<'_>, facts: &Facts) {
    let asked = intent
        .templates
        .iter()
        .filter_map(|one| one.layers.mode())
        .min_by_key(|asked| asked.value);
    let Some(asked) = asked.filter(|asked| asked.value < facts.mode) else {
        return;
    };
    if facts.config.overrides(facts.mode).step_down {
        intent.mode = asked.value;
        intent.stepped_down = true;
    } else {
        intent
            .ignored
            .push((asked.source_path(intent), annotations::MODE));
    }
}

fn settle_skips(subject: &Subject<'_>, intent: &mut Intent<'_>, facts: &Facts) {
    let may_skip = facts.config.overrides(facts.mode).skip;
    for index in 0..intent.templates.len() {
        let template = &intent.templates[index];
        if let Some(asked) = template.layers.skip().filter(|_| !may_skip) {
            let path = asked.source_path(intent);
            intent.ignored.push((path, annotations::SKIP));
        }
        let skip = skip::of_template(subject, &intent.templates[index], may_skip);
        intent.templates[index].skip = skip;
    }
    if intent.templates.is_empty() && subject.unreadable.is_empty() {
        intent.skip = Some(Skip::new(SkipReason::Fragment, "there is no pod template"));
    } else if intent
        .templates
        .iter()
        .all(|template| template.skip.is_some())
    {
        intent.skip = intent
            .templates
            .iter()
            .find_map(|template| template.skip.clone());
    }
}
