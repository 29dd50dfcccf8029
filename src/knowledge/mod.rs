//! What is known of model servers, accelerators and workload kinds: data with sources, and its readers.
//!
//! The data lies in `knowledge/*.yaml`, whose heads describe the format. It is embedded and read once; a config extends it in
//! the same format. [`Knowledge::recognise`] says which server a container runs and how it is set up.

mod accelerators;
mod address;
mod commands;
mod conditions;
mod data;
mod env;
mod expansion;
mod image;
mod inputs;
mod pattern;
mod preset;
mod recognise;
mod redirection;
mod registration;
mod rows;
mod script;
mod server;
mod servers;
mod settle;
mod steps;
mod variables;
mod workloads;

use std::sync::{Arc, LazyLock};

use serde_json::Value;

use crate::manifest::Manifest;

use accelerators::Accelerators;
use data::Data;
use servers::Servers;
use workloads::Workloads;

pub use accelerators::DeviceClass;
pub use env::EnvValue;
pub use preset::{PathRow, Preset, WhileLoading};
pub use recognise::{Launch, Recognition};
pub use server::{Bind, Evidence, Group, Known, PresetHandler, Server};
pub use workloads::{Part, Template, Workload};

/// The embedded data files.
const FILES: [(&str, &str); 3] = [
    (
        "knowledge/accelerators.yaml",
        include_str!("../../knowledge/accelerators.yaml"),
    ),
    (
        "knowledge/servers.yaml",
        include_str!("../../knowledge/servers.yaml"),
    ),
    (
        "knowledge/workloads.yaml",
        include_str!("../../knowledge/workloads.yaml"),
    ),
];

/// The servers, accelerators and kinds that are known.
#[derive(Debug)]
pub struct Knowledge {
    data: Data,
    accelerators: Accelerators,
    servers: Servers,
    workloads: Workloads,
}

/// Why data is no knowledge.
#[derive(Debug, thiserror::Error)]
#[error("{place}: {why}")]
pub struct KnowledgeError {
    place: String,
    why: String,
}

impl KnowledgeError {
    fn new(place: impl Into<String>, why: impl Into<String>) -> Self {
        Self {
            place: place.into(),
            why: why.into(),
        }
    }
}

impl Knowledge {
    /// The embedded data, read once.
    pub fn builtin() -> Arc<Self> {
        static BUILTIN: LazyLock<Arc<Knowledge>> = LazyLock::new(|| {
            let read = Knowledge::embedded().expect("the embedded data has its own format");
            Arc::new(read)
        });
        Arc::clone(&BUILTIN)
    }

    /// This knowledge extended by data of the same format: one map with the lists of all data files.
    ///
    /// # Errors
    /// Says which entry does not have the format.
    pub fn with(&self, extra: &Value) -> Result<Self, KnowledgeError> {
        let extra = Data::of(extra, &lists())?;
        // Read alone first, so that an error names the place in the config.
        Accelerators::read(&extra)?;
        Workloads::read(&extra)?;
        Servers::read_part(&extra)?;
        let mut data = self.data.clone();
        data.extend(&extra);
        Self::read(data)
    }

    fn embedded() -> Result<Self, KnowledgeError> {
        let mut data = Data::default();
        for (file, text) in FILES {
            let manifest = Manifest::read(file, text);
            if let Some(error) = manifest.errors.first() {
                return Err(KnowledgeError::new(file, error.to_string()));
            }
            for object in &manifest.objects {
                data.join(Data::of(&object.value, &lists())?);
            }
        }
        Self::read(data)
    }

    fn read(data: Data) -> Result<Self, KnowledgeError> {
        Ok(Self {
            accelerators: Accelerators::read(&data)?,
            servers: Servers::read(&data)?,
            workloads: Workloads::read(&data)?,
            data,
        })
    }

    /// Whether a resource of this name is a device that computes, or a slice of one.
    pub fn accelerator(&self, resource: &str) -> bool {
        self.accelerators.holds(resource)
    }

    /// What a DeviceClass of this name hands out.
    pub fn device_class(&self, class: &str) -> DeviceClass {
        self.accelerators.class(class)
    }

    /// The pod annotations that ask for a part of an accelerator, where no resource does.
    pub fn fraction_annotations(&self) -> &[String] {
        &self.accelerators.fractions
    }

    /// The pod annotations that name the container which gets that part; without one it is the first.
    pub fn fraction_container_annotations(&self) -> &[String] {
        &self.accelerators.fraction_containers
    }

    /// Where a kind keeps its pod templates; `group` is empty for the core group.
    pub fn workload(&self, group: &str, kind: &str) -> Option<&Workload> {
        self.workloads.find(group, kind)
    }

    /// All kinds that hold pod templates, in the order of the data.
    pub fn workloads(&self) -> &[Workload] {
        self.workloads.all()
    }

    /// What the API server is told to ask us about: the file `templates/_registration.tpl` of the chart.
    pub fn registration(&self) -> String {
        registration::registration(self)
    }

    /// Whether a kind is known to hold no pods.
    pub fn holds_no_pods(&self, group: &str, kind: &str) -> bool {
        self.workloads.holds_no_pods(group, kind)
    }

    /// The presets, those of a config first.
    pub fn presets(&self) -> &[Preset] {
        &self.servers.presets
    }

    /// Which server a container runs, if it runs one.
    pub fn recognise<'k>(&'k self, launch: &Launch<'_>) -> Recognition<'k> {
        self.servers.recognise(launch)
    }
}

/// The names of all lists.
fn lists() -> Vec<&'static str> {
    [&Accelerators::LISTS[..], &Servers::LISTS, &Workloads::LISTS].concat()
}
