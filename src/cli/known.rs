//! What is known besides the objects: from the facts file, the configuration and the arguments.

use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::args::{Beside, BesideFiles};
use super::input::Text;
use super::{CliError, input};
use crate::facts::{self, Cluster, Config, Facts, Mode, Origin, Version};

/// The facts for an AdmissionReview.
pub(super) fn admission(args: &Beside, mode: Mode) -> Result<Facts, CliError> {
    read(args, Facts::new(mode, Origin::Admission))
}

/// The facts for files.
pub(super) fn files(args: &BesideFiles, mode: Mode) -> Result<Facts, CliError> {
    let facts = read(&args.beside, Facts::new(mode, Origin::File))?;
    Ok(Facts {
        kubernetes: args.kubernetes_version.unwrap_or(facts.kubernetes),
        ..facts
    })
}

/// The facts, widened by what the objects of the input say of each other. What the input says counts before what the facts file
/// says: it is what will be applied.
pub(super) fn widened(facts: Facts, texts: &[Text]) -> Facts {
    let objects = texts.iter().flat_map(|text| &text.manifest.objects);
    let (more, neighbours) = facts::collect(objects.map(|object| &object.value), "");
    let mut cluster = Cluster::clone(&facts.cluster);
    cluster.extend(more);
    Facts {
        cluster: Arc::new(cluster),
        neighbours: Some(Arc::new(neighbours)),
        ..facts
    }
}

fn read(args: &Beside, mut facts: Facts) -> Result<Facts, CliError> {
    if let Some(path) = &args.facts {
        let (file, value) = input::value(path)?;
        let cluster: Cluster = typed(&file, value)?;
        if let Some(text) = &cluster.kubernetes_version {
            facts.kubernetes = Version::parse(text).ok_or_else(|| CliError::Version {
                file,
                version: text.clone(),
            })?;
        }
        facts.cluster = Arc::new(cluster);
    }
    if let Some(path) = &args.config {
        let (file, value) = input::value(path)?;
        let config: Config = typed(&file, value)?;
        facts.knowledge = config
            .knowledge()
            .map_err(|source| CliError::Knowledge { file, source })?;
        facts.config = Arc::new(config);
    }
    Ok(facts)
}

/// A file as a type; an empty one says nothing.
fn typed<T: DeserializeOwned>(file: &str, value: Value) -> Result<T, CliError> {
    let value = match value {
        Value::Null => Value::Object(Map::new()),
        value => value,
    };
    serde_json::from_value(value).map_err(|source| CliError::Form {
        file: file.to_owned(),
        source,
    })
}
