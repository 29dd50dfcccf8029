//! The annotations that hold for a template: its own, else the object's, else the namespace's.

use super::{Source, Sourced, TemplateIntent};
use crate::annotations::{
    self, Annotations, PerContainer, Setting, StartupProbe, StepDown, Trouble, TroubleKind,
};
use crate::facts::Mode;
use crate::subject::Subject;
use crate::words::{FieldPath, Seconds, clip};

/// The annotations that hold for a template, the nearest first.
#[derive(Clone, Debug, Default)]
pub struct Layers {
    template: Annotations,
    metadata: Annotations,
    namespace: Annotations,
}

impl Layers {
    pub(super) fn new(
        template: Annotations,
        metadata: Annotations,
        namespace: Annotations,
    ) -> Self {
        Self {
            template,
            metadata,
            namespace,
        }
    }

    /// The template's own annotations.
    pub fn template(&self) -> &Annotations {
        &self.template
    }

    /// L, for a container.
    pub fn max_startup_time(&self, container: &str) -> Option<Sourced<Seconds>> {
        self.per_container(annotations::MAX_STARTUP_TIME, container, |layer| {
            &layer.max_startup_time
        })
    }

    /// The startup probe asked for, for a container.
    pub fn startup_probe(&self, container: &str) -> Option<Sourced<StartupProbe>> {
        self.per_container(annotations::STARTUP_PROBE, container, |layer| {
            &layer.startup_probe
        })
    }

    /// The floor for timeouts, for a container.
    pub fn probe_timeout(&self, container: &str) -> Option<Sourced<Setting>> {
        self.per_container(annotations::PROBE_TIMEOUT, container, |layer| {
            &layer.probe_timeout
        })
    }

    /// The sleep before SIGTERM, for a container.
    pub fn prestop_sleep(&self, container: &str) -> Option<Sourced<Setting>> {
        self.per_container(annotations::PRESTOP_SLEEP, container, |layer| {
            &layer.prestop_sleep
        })
    }

    /// The longest request in flight, for a container.
    pub fn drain_time(&self, container: &str) -> Option<Sourced<Setting>> {
        self.per_container(annotations::DRAIN_TIME, container, |layer| {
            &layer.drain_time
        })
    }

    /// The weaker mode that the object asks for.
    pub fn mode(&self) -> Option<Sourced<Mode>> {
        self.object(annotations::MODE, |layer| {
            layer.mode.map(|mode| match mode {
                StepDown::Audit => Mode::Audit,
                StepDown::Fix => Mode::Fix,
                StepDown::Warn => Mode::Warn,
            })
        })
    }

    /// Why the owner wants the object left alone.
    pub fn skip(&self) -> Option<Sourced<String>> {
        self.object(annotations::SKIP, |layer| layer.skip.clone())
    }

    /// Whether the owner says that this is an accelerator workload; `false` wins.
    pub fn accelerator(&self) -> Option<bool> {
        let said = [self.template.accelerator, self.metadata.accelerator];
        if said.contains(&Some(false)) {
            Some(false)
        } else {
            said.into_iter().flatten().next()
        }
    }

    /// Which containers serve, where the owner says so.
    pub fn containers(&self) -> Option<Vec<String>> {
        let layers = [&self.template, &self.metadata, &self.namespace];
        layers
            .into_iter()
            .find_map(|layer| layer.containers.clone())
    }

    /// The reason for which a rule is silenced here, and the key that says so.
    pub fn allows(&self, rule: &str) -> Option<&str> {
        let layers = [&self.template, &self.metadata, &self.namespace];
        layers
            .into_iter()
            .find_map(|layer| layer.allow.get(rule))
            .map(String::as_str)
    }

    /// The key that opts the object in, if one stands on the object or its template.
    pub fn opt_in(&self) -> Option<&'static str> {
        let layers = [&self.template, &self.metadata];
        let any = |has: fn(&Annotations) -> bool| layers.iter().any(|layer| has(layer));
        if any(|layer| !layer.max_startup_time.is_empty()) {
            Some(annotations::MAX_STARTUP_TIME)
        } else if any(|layer| !layer.startup_probe.is_empty()) {
            Some(annotations::STARTUP_PROBE)
        } else if any(|layer| layer.accelerator == Some(true)) {
            Some(annotations::ACCELERATOR)
        } else {
            None
        }
    }

    /// Whether a value of the object names the container.
    pub fn names(&self, container: &str) -> bool {
        let layers = [&self.template, &self.metadata];
        layers
            .into_iter()
            .any(|layer| layer.named_containers().any(|(_, name)| name == container))
    }

    fn object<T>(
        &self,
        key: &'static str,
        pick: impl Fn(&Annotations) -> Option<T>,
    ) -> Option<Sourced<T>> {
        let own = pick(&self.template).map(|value| Sourced {
            value,
            source: Source::Template(key),
        });
        own.or_else(|| {
            pick(&self.metadata).map(|value| Sourced {
                value,
                source: Source::Metadata(key),
            })
        })
    }

    fn per_container<T: Clone>(
        &self,
        key: &'static str,
        container: &str,
        pick: impl Fn(&Annotations) -> &PerContainer<T>,
    ) -> Option<Sourced<T>> {
        let layers = [
            (&self.template, Source::Template(key)),
            (&self.metadata, Source::Metadata(key)),
            (&self.namespace, Source::Namespace(key)),
        ];
        layers.into_iter().find_map(|(layer, source)| {
            Some(Sourced {
                value: pick(layer).get(container)?.clone(),
                source,
            })
        })
    }
}

/// Values that name a container which no template has, or a port that their container does not declare.
pub(super) fn names_without_container(
    subject: &Subject<'_>,
    templates: &[TemplateIntent<'_>],
) -> Vec<(FieldPath, Trouble)> {
    let mut troubles = Vec::new();
    for template in templates {
        let layers = &template.layers;
        let homes = [
            (&layers.template, template.template.path.clone()),
            (&layers.metadata, FieldPath::root()),
        ];
        for (layer, home) in homes {
            for (key, name) in layer.named_containers() {
                if !subject
                    .templates
                    .iter()
                    .any(|one| one.staying().any(|container| container.name == name))
                {
                    let why = format!(
                        "names the container {:?}, which no pod template has: name one of {}",
                        clip(name, 40),
                        clip(&container_names(subject), 80)
                    );
                    push_once(&mut troubles, &home, key, why);
                }
            }
        }
        for container in template
            .containers
            .iter()
            .filter(|container| container.serves())
        {
            let Some(asked) = &container.startup_probe else {
                continue;
            };
            let StartupProbe::Handler(handler) = &asked.value else {
                continue;
            };
            let Some(name) = handler.port_name() else {
                continue;
            };
            let declared = container.container.port_names().any(|port| port == name);
            if !declared && asked.source.is_object() {
                let why = format!(
                    "asks the port {:?}, which {} does not declare: name a declared port or write its number",
                    clip(name, 40),
                    container.container.label()
                );
                let home = if matches!(asked.source, Source::Metadata(_)) {
                    FieldPath::root()
                } else {
                    template.template.path.clone()
                };
                push_once(&mut troubles, &home, annotations::STARTUP_PROBE, why);
            }
        }
    }
    troubles
}

fn push_once(
    troubles: &mut Vec<(FieldPath, Trouble)>,
    home: &FieldPath,
    key: &str,
    message: String,
) {
    let path = home.keys(&["metadata", "annotations", key]);
    let trouble = Trouble {
        key: key.to_owned(),
        kind: TroubleKind::Malformed,
        message,
    };
    if !troubles.contains(&(path.clone(), trouble.clone())) {
        troubles.push((path, trouble));
    }
}

fn container_names(subject: &Subject<'_>) -> String {
    let names: Vec<&str> = subject
        .templates
        .iter()
        .flat_map(|one| one.staying())
        .map(|container| container.name.as_str())
        .collect();
    names.join(", ")
}
