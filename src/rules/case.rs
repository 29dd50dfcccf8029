//! All that a rule may look at.

use serde_json::Value;

use super::Rule;
use crate::facts::Facts;
use crate::intent::fault::{self, Fault};
use crate::intent::{ContainerIntent, Intent, TemplateIntent};
use crate::plan::{Plan, Write};
use crate::subject::{Probe, Role, Subject};
use crate::words::{FieldPath, Finding, Severity};

/// An object, judged as it arrives.
#[derive(Debug)]
pub struct Case<'a> {
    /// What it is.
    pub subject: &'a Subject<'a>,
    /// What its owner wants.
    pub intent: &'a Intent<'a>,
    /// What would be changed, and what is withheld.
    pub plan: &'a Plan,
    /// What else is known.
    pub facts: &'a Facts,
    /// How it is written.
    pub write: Write<'a>,
}

impl<'a> Case<'a> {
    /// The templates that are judged: ours, and not skipped.
    pub(super) fn templates(&self) -> impl Iterator<Item = &'a TemplateIntent<'a>> + use<'a> {
        self.intent
            .templates
            .iter()
            .filter(|template| template.is_judged())
    }

    /// The containers that serve, each with its template.
    pub(super) fn serving(
        &self,
    ) -> impl Iterator<Item = (&'a TemplateIntent<'a>, &'a ContainerIntent<'a>)> + use<'a> {
        self.templates().flat_map(|template| {
            template
                .serving()
                .map(move |container| (template, container))
        })
    }

    /// The probes of one role of the containers that serve.
    pub(super) fn probes(
        &self,
        role: Role,
    ) -> impl Iterator<Item = (&'a TemplateIntent<'a>, &'a ContainerIntent<'a>, &'a Probe)> + use<'a>
    {
        self.serving()
            .filter_map(move |(template, one)| Some((template, one, one.container.probe(role)?)))
    }

    /// All probes of the containers that serve.
    pub(super) fn all_probes(
        &self,
    ) -> impl Iterator<
        Item = (
            &'a TemplateIntent<'a>,
            &'a ContainerIntent<'a>,
            Role,
            &'a Probe,
        ),
    > + use<'a> {
        self.serving().flat_map(|(template, one)| {
            Role::ALL
                .into_iter()
                .filter_map(move |role| Some((template, one, role, one.container.probe(role)?)))
        })
    }

    /// Everything that is wrong with the handlers of the containers that serve.
    pub(super) fn faults(
        &self,
    ) -> impl Iterator<Item = (&'a ContainerIntent<'a>, Role, &'a Probe, Fault)> + use<'a> {
        self.all_probes().flat_map(|(template, one, role, probe)| {
            let faults = fault::faults(template, one, &probe.handler);
            faults
                .into_iter()
                .map(move |fault| (one, role, probe, fault))
        })
    }

    /// The judged container that a field stands in, with its template.
    pub(super) fn container_at(
        &self,
        path: &FieldPath,
    ) -> Option<(&'a TemplateIntent<'a>, &'a ContainerIntent<'a>)> {
        self.serving()
            .find(|(_, one)| path.starts_with(&one.container.path))
    }

    /// The value at a path of the object; `null` counts as absent.
    pub(super) fn value(&self, path: &FieldPath) -> Option<&'a Value> {
        path.find(self.subject.object)
            .filter(|value| !value.is_null())
    }

    /// Whether the object is a Pod that a controller made: nobody stands there to be told.
    pub(super) fn is_owned_pod(&self) -> bool {
        self.subject.is_pod() && self.subject.controller.is_some()
    }

    /// `replicas` as it stands, default 1.
    pub(super) fn replicas(&self) -> Option<i64> {
        let path = self.subject.workload.replicas.as_ref()?;
        Some(self.subject.number(path).unwrap_or(1))
    }
}

impl Rule {
    /// A finding of this rule about a container, at one of its fields. The message is put behind the field's short name:
    /// `containers[engine].livenessProbe MESSAGE`.
    pub(super) fn about(
        &self,
        container: &ContainerIntent<'_>,
        field: &[&str],
        message: &str,
    ) -> Finding {
        let label = container.container.label();
        let place = field
            .iter()
            .fold(label, |place, key| format!("{place}.{key}"));
        Finding {
            container: Some(container.container.name.clone()),
            ..self.at(
                container.container.path.keys(field),
                format!("{place} {message}"),
            )
        }
    }

    /// A finding of this rule at a field.
    pub(super) fn at(&self, path: FieldPath, message: String) -> Finding {
        Finding {
            rule: self.id,
            severity: self.severity,
            container: None,
            path,
            message,
            help: None,
        }
    }
}

/// The same finding, less or more grave.
pub(super) fn with_severity(finding: Finding, severity: Severity) -> Finding {
    Finding {
        severity,
        ..finding
    }
}
