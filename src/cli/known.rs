//! What is known besides the objects: from the facts file, the configuration and the arguments.

use std::sync::Arc;

use super::args::{Beside, BesideFiles};
use super::input::Text;
use super::{CliError, input};
use crate::facts::{self, Cluster, Facts, Mode, Neighbours, Origin};

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

/// What the objects of an input say of each other.
pub(super) type Said = (Cluster, Neighbours);

/// What the objects of one text say of others.
pub(super) fn said(text: &Text) -> Said {
    let objects = text.manifest.objects.iter();
    facts::collect(objects.map(|object| &object.value), "")
}

/// The facts, widened by what the objects of the input say, in its order. That counts before what the facts file says: it is what
/// will be applied.
pub(super) fn widened(facts: Facts, said: impl IntoIterator<Item = Said>) -> Facts {
    let mut cluster = Cluster::clone(&facts.cluster);
    let mut neighbours = Neighbours::default();
    for (more, beside) in said {
        cluster.extend(more);
        neighbours.extend(beside);
    }
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
