//! Where the kinds of Kubernetes keep their pod templates.

use serde::{Deserialize, Deserializer};

use super::KnowledgeError;
use super::data::Data;
use super::pattern;
use super::rows::Source;
use crate::words::FieldPath;

/// A kind that holds pod templates.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Workload {
    /// The API group, empty for the core group.
    pub group: String,
    /// The kind.
    pub kind: String,
    /// Its templates.
    pub templates: Vec<Template>,
    /// Whether it runs to an end.
    #[serde(default)]
    pub batch: bool,
    /// Whether its templates can change after creation.
    #[serde(default = "yes")]
    pub template_mutable: bool,
    /// Whether it is judged and never edited.
    #[serde(default)]
    pub check_only: bool,
    /// The field that bounds a rollout in seconds.
    #[serde(default, deserialize_with = "optional_path")]
    pub progress_deadline: Option<FieldPath>,
    /// The field that says how a rollout replaces pods.
    #[serde(default, deserialize_with = "optional_path")]
    pub strategy: Option<FieldPath>,
    /// The field that counts its pods or groups.
    #[serde(default, deserialize_with = "optional_path")]
    pub replicas: Option<FieldPath>,
    /// Whether the API server fills the defaults of pods in before admission; it does so for its own kinds only.
    #[serde(default)]
    pub server_defaults: bool,
    #[serde(rename = "source")]
    _source: Source,
}

impl Workload {
    /// Whether it is the Pod itself.
    pub fn is_pod(&self) -> bool {
        self.kind == "Pod" && self.group.is_empty()
    }
}

/// A pod template of a kind.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Template {
    /// What holds the template's metadata and spec; the root for a Pod.
    #[serde(deserialize_with = "path")]
    pub path: FieldPath,
    /// Whose template it is.
    pub part: Part,
}

/// Whose template a template is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Part {
    /// Of all pods alike.
    Main,
    /// Of the pod that leads a group.
    Leader,
    /// Of the pods that follow, and of the leader where it has no template of its own.
    Worker,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct PodlessRow {
    group: String,
    kinds: Vec<String>,
    #[serde(rename = "source")]
    _source: Source,
}

/// The kinds with pods, and those without.
#[derive(Debug)]
pub(super) struct Workloads {
    workloads: Vec<Workload>,
    podless: Vec<PodlessRow>,
}

impl Workloads {
    /// The lists that this room reads.
    pub(super) const LISTS: [&str; 2] = ["workloads", "podless"];

    /// Reads them.
    pub(super) fn read(data: &Data) -> Result<Self, KnowledgeError> {
        Ok(Self {
            workloads: data.rows("workloads")?,
            podless: data.rows("podless")?,
        })
    }

    pub(super) fn all(&self) -> &[Workload] {
        &self.workloads
    }

    pub(super) fn find(&self, group: &str, kind: &str) -> Option<&Workload> {
        self.workloads
            .iter()
            .find(|workload| workload.group == group && workload.kind == kind)
    }

    pub(super) fn holds_no_pods(&self, group: &str, kind: &str) -> bool {
        self.find(group, kind).is_none()
            && self
                .podless
                .iter()
                .any(|row| pattern::matches(&row.group, group) && pattern::any(&row.kinds, kind))
    }
}

fn yes() -> bool {
    true
}

fn path<'de, D: Deserializer<'de>>(deserializer: D) -> Result<FieldPath, D::Error> {
    let text = String::deserialize(deserializer)?;
    let keys: Vec<&str> = text.split('.').filter(|key| !key.is_empty()).collect();
    Ok(FieldPath::of(&keys))
}

fn optional_path<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<FieldPath>, D::Error> {
    path(deserializer).map(Some)
}
