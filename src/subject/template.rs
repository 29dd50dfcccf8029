//! A pod template: what every pod of an object is made from. A Pod is its own template.

use serde_json::Value;

use super::container::{Container, Place};
use super::{Unreadable, raw};
use crate::knowledge::{Part, Workload};
use crate::words::{FieldPath, type_of};

/// A pod template, read at its place in the object.
#[derive(Debug)]
pub struct PodTemplate<'a> {
    /// Which pods are made from it, where a kind has several templates.
    pub part: Part,
    /// Where it stands: the root for a Pod.
    pub path: FieldPath,
    /// Its JSON, with `metadata` and `spec`.
    pub raw: &'a Value,
    /// Its `spec`; always a map.
    pub spec: &'a Value,
    /// Its containers: init containers first, in the order in which the kubelet starts them.
    pub containers: Vec<Container<'a>>,
}

impl<'a> PodTemplate<'a> {
    /// Where the pod spec stands.
    pub fn spec_path(&self) -> FieldPath {
        self.path.key("spec")
    }

    /// `metadata.annotations` as it stands.
    pub fn annotations(&self) -> Option<&'a Value> {
        self.raw.get("metadata")?.get("annotations")
    }

    /// One annotation.
    pub fn annotation(&self, key: &str) -> Option<&'a str> {
        raw::text(self.annotations()?, key)
    }

    /// `metadata.labels` as it stands.
    pub fn labels(&self) -> Option<&'a Value> {
        self.raw.get("metadata")?.get("labels")
    }

    /// One label.
    pub fn label(&self, key: &str) -> Option<&'a str> {
        raw::text(self.labels()?, key)
    }

    /// `terminationGracePeriodSeconds` as it stands.
    pub fn grace(&self) -> Option<i64> {
        raw::member(self.spec, "terminationGracePeriodSeconds")?.as_i64()
    }

    /// `activeDeadlineSeconds` as it stands.
    pub fn active_deadline(&self) -> Option<i64> {
        raw::member(self.spec, "activeDeadlineSeconds")?.as_i64()
    }

    /// `restartPolicy`, default Always.
    pub fn restart_policy(&self) -> &'a str {
        raw::text(self.spec, "restartPolicy")
            .filter(|policy| !policy.is_empty())
            .unwrap_or("Always")
    }

    /// Whether the pod uses the node's network.
    pub fn host_network(&self) -> bool {
        self.spec.get("hostNetwork").and_then(Value::as_bool) == Some(true)
    }

    /// Whether the pod runs on Windows, as its spec says.
    pub fn is_windows(&self) -> bool {
        let os = self.spec.get("os").and_then(|os| raw::text(os, "name"));
        let selected = self
            .spec
            .get("nodeSelector")
            .and_then(|selector| raw::text(selector, "kubernetes.io/os"));
        os.or(selected) == Some("windows")
    }

    /// The container of that name.
    pub fn container(&self, name: &str) -> Option<&Container<'a>> {
        self.containers
            .iter()
            .find(|container| container.name == name)
    }

    /// The containers that stay: regular ones and sidecars.
    pub fn staying(&self) -> impl Iterator<Item = &Container<'a>> {
        self.containers
            .iter()
            .filter(|container| container.place != Place::Init)
    }
}

/// How many items a list in the pod specs of an object has, all of its templates together.
pub(super) fn count(object: &Value, workload: &Workload, list: &str) -> usize {
    let items = workload.templates.iter().map(|place| {
        let spec = place.path.key("spec").find(object);
        spec.map_or(0, |spec| raw::items(spec, list).len())
    });
    items.sum()
}

/// Reads the templates that the kind has; one that is absent is left out, one that does not read is told.
pub(super) fn read_all<'a>(
    object: &'a Value,
    workload: &Workload,
    unreadable: &mut Vec<Unreadable>,
) -> Vec<PodTemplate<'a>> {
    let mut templates = Vec::new();
    for place in &workload.templates {
        let Some(value) = place.path.find(object).filter(|value| !value.is_null()) else {
            continue;
        };
        let spec_path = place.path.key("spec");
        let spec = match value.get("spec") {
            Some(spec) if spec.is_object() => spec,
            other => {
                let what = other.map_or("missing", type_of);
                let why = format!("is {what}, not a pod spec");
                unreadable.push(Unreadable {
                    path: spec_path,
                    container: None,
                    why,
                });
                continue;
            }
        };
        let mut containers = Vec::new();
        for (list, is_init) in [("initContainers", true), ("containers", false)] {
            let path = spec_path.key(list);
            match raw::member(spec, list) {
                None => {}
                Some(Value::Array(items)) => {
                    for (index, item) in items.iter().enumerate() {
                        containers.extend(Container::read(
                            item,
                            path.index(index),
                            is_init,
                            unreadable,
                        ));
                    }
                }
                Some(other) => {
                    let why = format!("is {}, not a list of containers", type_of(other));
                    unreadable.push(Unreadable {
                        path,
                        container: None,
                        why,
                    });
                }
            }
        }
        for field in ["terminationGracePeriodSeconds", "activeDeadlineSeconds"] {
            if let Some(value) = raw::member(spec, field).filter(|value| value.as_i64().is_none()) {
                let why = format!("is {}, not whole seconds", type_of(value));
                unreadable.push(Unreadable {
                    path: spec_path.key(field),
                    container: None,
                    why,
                });
            }
        }
        templates.push(PodTemplate {
            part: place.part,
            path: place.path.clone(),
            raw: value,
            spec,
            containers,
        });
    }
    templates
}
