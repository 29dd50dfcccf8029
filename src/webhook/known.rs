//! What the files say, as the last good ones said it.

use std::sync::Arc;

use serde::de::DeserializeOwned;

use crate::facts::{Cluster, Config, Facts, Mode, Origin, Version};
use crate::knowledge::{Knowledge, KnowledgeError};
use crate::manifest::{Manifest, ReadError};
use crate::review::Kind;

/// Why a file is not taken.
#[derive(Debug, thiserror::Error)]
pub(super) enum KnownError {
    #[error("it is not UTF-8")]
    Encoding(#[source] std::str::Utf8Error),
    #[error("it is neither YAML nor JSON")]
    Syntax(#[source] ReadError),
    #[error("it has more than one document")]
    Documents,
    #[error("it does not have the form")]
    Form(#[source] serde_json::Error),
    #[error("kubernetesVersion {0:?} is no version: write 1.37")]
    Version(String),
    #[error("its knowledge cannot be used")]
    Knowledge(#[source] KnowledgeError),
}

/// Everything that is known besides an object and the mode of its namespace.
#[derive(Clone)]
pub(super) struct Known {
    kubernetes: Version,
    cluster: Arc<Cluster>,
    config: Arc<Config>,
    knowledge: Arc<Knowledge>,
}

impl Known {
    /// What is known without any file.
    pub(super) fn builtin() -> Self {
        let facts = Facts::new(Mode::Audit, Origin::Admission);
        Self {
            kubernetes: facts.kubernetes,
            cluster: facts.cluster,
            config: facts.config,
            knowledge: facts.knowledge,
        }
    }

    /// The same with another facts file.
    pub(super) fn with_facts(&self, bytes: &[u8]) -> Result<Self, KnownError> {
        let cluster: Cluster = parse("facts", bytes)?;
        let kubernetes = match &cluster.kubernetes_version {
            None => Version::NEWEST,
            Some(text) => Version::parse(text).ok_or_else(|| KnownError::Version(text.clone()))?,
        };
        Ok(Self {
            kubernetes,
            cluster: Arc::new(cluster),
            ..self.clone()
        })
    }

    /// The same with another config file.
    pub(super) fn with_config(&self, bytes: &[u8]) -> Result<Self, KnownError> {
        let config: Config = parse("config", bytes)?;
        Ok(Self {
            knowledge: config.knowledge().map_err(KnownError::Knowledge)?,
            config: Arc::new(config),
            ..self.clone()
        })
    }

    /// The name of a kind, if it is known.
    pub(super) fn kind(&self, kind: &Kind) -> Option<&str> {
        let workload = self.knowledge.workload(&kind.group, &kind.kind)?;
        Some(&workload.kind)
    }

    /// What is known of an object in a namespace of this mode.
    pub(super) fn facts(&self, mode: Mode) -> Facts {
        Facts {
            mode,
            origin: Origin::Admission,
            kubernetes: self.kubernetes,
            cluster: Arc::clone(&self.cluster),
            config: Arc::clone(&self.config),
            knowledge: Arc::clone(&self.knowledge),
            neighbours: None,
        }
    }
}

/// Reads a file of one YAML or JSON document; an empty one says nothing.
fn parse<T: Default + DeserializeOwned>(file: &str, bytes: &[u8]) -> Result<T, KnownError> {
    let text = std::str::from_utf8(bytes).map_err(KnownError::Encoding)?;
    let manifest = Manifest::read(file, text);
    if let Some(error) = manifest.errors.into_iter().next() {
        return Err(KnownError::Syntax(error));
    }
    let mut objects = manifest.objects.into_iter();
    match (objects.next(), objects.next()) {
        (None, _) => Ok(T::default()),
        (Some(object), None) => serde_json::from_value(object.value).map_err(KnownError::Form),
        (Some(_), Some(_)) => Err(KnownError::Documents),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn yaml_and_json_are_read_and_nothing_else() {
        let known = Known::builtin();
        for text in [
            "# The controller writes it.\nkubernetesVersion: \"1.31\"\nstarts:\n  a/b/c: 700\n",
            r#"{"kubernetesVersion": "v1.31.2", "starts": {"a/b/c": 700}}"#,
        ] {
            let known = known.with_facts(text.as_bytes()).unwrap();
            let facts = known.facts(Mode::Fix);
            assert_eq!(
                (facts.mode, facts.kubernetes),
                (Mode::Fix, Version { minor: 31 })
            );
            assert_eq!(facts.cluster.starts["a/b/c"], 700);
        }
        for text in ["", "# nothing\n", "---\n"] {
            let facts = known.with_facts(text.as_bytes()).unwrap().facts(Mode::Fix);
            assert_eq!(*facts.cluster, Cluster::default());
        }
        for bytes in [
            "a: [".as_bytes(),
            b"\xff",
            b"[]",
            b"{}\n---\n{}\n",
            b"typo: 1",
            b"kubernetesVersion: two",
        ] {
            assert!(known.with_facts(bytes).is_err(), "{bytes:?}");
        }
    }

    #[test]
    fn a_file_changes_its_own_part_only() {
        let known = Known::builtin();
        let known = known.with_config(b"limits: {maxGrace: 60}").unwrap();
        let known = known.with_facts(b"kubernetesVersion: '1.30'").unwrap();
        let facts = known.facts(Mode::Warn);
        assert_eq!(facts.config.limits.max_grace, 60);
        assert_eq!(facts.kubernetes.minor, 30);
        let facts = known.with_config(b"").unwrap().facts(Mode::Warn);
        assert_eq!(
            facts.config.limits.max_grace,
            Config::default().limits.max_grace
        );
        assert_eq!(facts.kubernetes.minor, 30);
    }
}
