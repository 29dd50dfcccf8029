//! What gives a container an accelerator.

use std::collections::HashSet;

use serde::Deserialize;

use super::KnowledgeError;
use super::data::Data;
use super::pattern;
use super::rows::Source;

/// What a DeviceClass hands out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DeviceClass {
    /// Devices that compute.
    Accelerator,
    /// Network interfaces, crypto engines, monitoring, channels between accelerators.
    Other,
    /// Nobody knows.
    Unknown,
}

/// Names and patterns of what computes.
#[derive(Debug)]
pub(super) struct Accelerators {
    pub(super) exact: HashSet<String>,
    pub(super) patterns: Vec<String>,
    pub(super) none: Vec<String>,
    classes: Vec<String>,
    other_classes: Vec<String>,
    pub(super) fractions: Vec<String>,
    pub(super) fraction_containers: Vec<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct NamesRow {
    names: Vec<String>,
    #[serde(rename = "source")]
    _source: Source,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct AnnotationsRow {
    annotations: Vec<String>,
    #[serde(rename = "source")]
    _source: Source,
}

impl Accelerators {
    /// The lists that this room reads.
    pub(super) const LISTS: [&str; 6] = [
        "accelerators",
        "notAccelerators",
        "deviceClasses",
        "otherDeviceClasses",
        "fractions",
        "fractionContainers",
    ];

    /// Reads them.
    pub(super) fn read(data: &Data) -> Result<Self, KnowledgeError> {
        let (patterns, exact) = names(data, "accelerators")?
            .into_iter()
            .partition(|name: &String| name.contains('*'));
        let exact: Vec<String> = exact;
        Ok(Self {
            exact: exact.into_iter().collect(),
            patterns,
            none: names(data, "notAccelerators")?,
            classes: names(data, "deviceClasses")?,
            other_classes: names(data, "otherDeviceClasses")?,
            fractions: annotations(data, "fractions")?,
            fraction_containers: annotations(data, "fractionContainers")?,
        })
    }

    pub(super) fn holds(&self, resource: &str) -> bool {
        (self.exact.contains(resource) || pattern::any(&self.patterns, resource))
            && !pattern::any(&self.none, resource)
    }

    pub(super) fn class(&self, class: &str) -> DeviceClass {
        if pattern::any(&self.other_classes, class) {
            DeviceClass::Other
        } else if pattern::any(&self.classes, class) {
            DeviceClass::Accelerator
        } else {
            DeviceClass::Unknown
        }
    }
}

fn names(data: &Data, list: &str) -> Result<Vec<String>, KnowledgeError> {
    let rows: Vec<NamesRow> = data.rows(list)?;
    Ok(rows.into_iter().flat_map(|row| row.names).collect())
}

fn annotations(data: &Data, list: &str) -> Result<Vec<String>, KnowledgeError> {
    let rows: Vec<AnnotationsRow> = data.rows(list)?;
    Ok(rows.into_iter().flat_map(|row| row.annotations).collect())
}
