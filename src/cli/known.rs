//! What is known besides the objects: from the facts file, the configuration and the arguments.

use std::sync::Arc;

use super::args::{Beside, BesideFiles};
use super::input::Text;
use super::{CliError, input};
use crate::facts::{self, Cluster, Facts, Mode, Origin};

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
        let (file, bytes) = input::file(path)?;
        let read = facts.with_facts_file(&file, &bytes);
        facts = read.map_err(|source| CliError::Beside { file, source })?;
    }
    if let Some(path) = &args.config {
        let (file, bytes) = input::file(path)?;
        let read = facts.with_config_file(&file, &bytes);
        facts = read.map_err(|source| CliError::Beside { file, source })?;
    }
    Ok(facts)
}
