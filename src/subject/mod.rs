//! What an object is: its kind, its owner, its pod templates and their containers.
//!
//! Nothing is changed and nothing is re-serialised: every piece is read on its own, at its own path, so a piece that does not
//! read becomes an [`Unreadable`] and the rest is judged.

mod accelerator;
mod apply_record;
mod container;
mod hook;
mod probe;
mod quantity;
mod raw;
mod reader;
mod script;
mod template;
mod update;

use serde_json::Value;

use crate::knowledge::{Knowledge, Workload};
use crate::words::FieldPath;

pub use accelerator::{Accelerators, accelerators};
pub use apply_record::ApplyRecord;
pub use container::{ClaimUse, Container, Place};
pub use hook::{Hook, Length};
pub use probe::{Handler, Port, Probe, Role};
pub use template::PodTemplate;
pub use update::Update;

/// An object of a kind that holds pods.
#[derive(Debug)]
pub struct Subject<'a> {
    /// The JSON it was read from.
    pub object: &'a Value,
    /// What is known of its kind.
    pub workload: &'a Workload,
    /// Everything that is known.
    pub knowledge: &'a Knowledge,
    /// Its name, or its `generateName` with a `*` behind it.
    pub name: String,
    /// Its namespace, from the request where the object has none; empty where neither says one.
    pub namespace: String,
    /// The controller that owns it.
    pub controller: Option<Owner>,
    /// Its pod templates, in the order of the kind's table row; a Pod is its own template.
    pub templates: Vec<PodTemplate<'a>>,
    /// What could not be read.
    pub unreadable: Vec<Unreadable>,
}

/// The controller that owns an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owner {
    /// Its API group.
    pub group: String,
    /// Its kind.
    pub kind: String,
    /// Its name.
    pub name: String,
}

/// A piece of an object that does not have the shape the API gives it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreadable {
    /// Where it stands.
    pub path: FieldPath,
    /// The container it belongs to.
    pub container: Option<String>,
    /// What is wrong with it.
    pub why: String,
}

/// The most containers, and the most device claims, that the pods of one object may have. Several looks go over all of them for
/// each of them; pods that somebody runs have a tenth of it.
const MOST: usize = 128;

/// Why an object is no subject.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoSubject {
    /// A kind that is known to hold no pods.
    HoldsNoPods(String),
    /// JSON that is no Kubernetes object.
    NoObject,
    /// A kind nobody told us about.
    UnknownKind(String),
    /// More of something than is looked at: what, and how many are looked at.
    TooMany(&'static str, usize),
}

impl<'a> Subject<'a> {
    /// Reads an object; `namespace` is the one of the request, for objects that leave it out.
    ///
    /// # Errors
    /// [`NoSubject`] says why there is nothing to judge.
    pub fn read(
        object: &'a Value,
        namespace: &str,
        knowledge: &'a Knowledge,
    ) -> Result<Self, NoSubject> {
        let (group, kind) = group_and_kind(object).ok_or(NoSubject::NoObject)?;
        let Some(workload) = knowledge.workload(group, kind) else {
            return Err(if knowledge.holds_no_pods(group, kind) {
                NoSubject::HoldsNoPods(kind.to_owned())
            } else {
                NoSubject::UnknownKind(kind.to_owned())
            });
        };
        let metadata = object.get("metadata");
        let text = |key: &str| {
            metadata
                .and_then(|metadata| raw::text(metadata, key))
                .filter(|text| !text.is_empty())
        };
        let name = match (text("name"), text("generateName")) {
            (Some(name), _) => name.to_owned(),
            (None, Some(prefix)) => format!("{prefix}*"),
            (None, None) => String::new(),
        };
        for list in ["containers", "initContainers", "resourceClaims"] {
            if template::count(object, workload, list) > MOST {
                return Err(NoSubject::TooMany(list, MOST));
            }
        }
        let mut unreadable = Vec::new();
        let templates = template::read_all(object, workload, &mut unreadable);
        Ok(Self {
            object,
            workload,
            knowledge,
            name,
            namespace: text("namespace").unwrap_or(namespace).to_owned(),
            controller: metadata.and_then(controller_of),
            templates,
            unreadable,
        })
    }

    /// Whether the object is a Pod itself.
    pub fn is_pod(&self) -> bool {
        self.workload.is_pod()
    }

    /// `metadata.annotations` as it stands.
    pub fn annotations(&self) -> Option<&'a Value> {
        self.object.get("metadata")?.get("annotations")
    }

    /// `metadata.labels` as it stands.
    pub fn labels(&self) -> Option<&'a Value> {
        self.object.get("metadata")?.get("labels")
    }

    /// One annotation of the object.
    pub fn annotation(&self, key: &str) -> Option<&'a str> {
        raw::text(self.annotations()?, key)
    }

    /// One label of the object.
    pub fn label(&self, key: &str) -> Option<&'a str> {
        raw::text(self.labels()?, key)
    }

    /// The whole number at a path of the object.
    pub fn number(&self, path: &FieldPath) -> Option<i64> {
        path.find(self.object)?.as_i64()
    }

    /// Whether the owner is of one of these kinds.
    pub fn owned_by(&self, kinds: &[&str]) -> bool {
        self.controller
            .as_ref()
            .is_some_and(|owner| kinds.contains(&owner.kind.as_str()))
    }
}

/// Group and kind of an object, from `apiVersion` and `kind`.
pub fn group_and_kind(object: &Value) -> Option<(&str, &str)> {
    let kind = raw::text(object, "kind").filter(|kind| !kind.is_empty())?;
    let version = raw::text(object, "apiVersion")?;
    Some((version.split_once('/').map_or("", |(group, _)| group), kind))
}

fn controller_of(metadata: &Value) -> Option<Owner> {
    let owners = metadata.get("ownerReferences")?.as_array()?;
    let owner = owners
        .iter()
        .find(|owner| owner.get("controller").and_then(Value::as_bool) == Some(true))?;
    let (group, kind) = group_and_kind(owner)?;
    Some(Owner {
        group: group.to_owned(),
        kind: kind.to_owned(),
        name: raw::text(owner, "name").unwrap_or_default().to_owned(),
    })
}
