//! The two files that widen what is known: the facts of a cluster, which the controller writes, and the config, which the
//! operator of warmgate writes. Both are one YAML or JSON document; an empty one says nothing.

use std::sync::Arc;

use serde::de::DeserializeOwned;

use super::{Cluster, Config, Facts, Version};
use crate::knowledge::KnowledgeError;
use crate::manifest::{Manifest, ReadError};

/// Why a file of facts or of the config is not taken.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// It is no text.
    #[error("it is not UTF-8")]
    Encoding(#[source] std::str::Utf8Error),
    /// It cannot be read.
    #[error("it is neither YAML nor JSON")]
    Syntax(#[source] ReadError),
    /// One document is read, and a second would be passed in silence.
    #[error("it has {0} documents, one is read")]
    Documents(usize),
    /// A member is unknown, or its value is of another kind.
    #[error("it does not have the form that it should")]
    Form(#[source] serde_json::Error),
    /// The servers, accelerators or kinds that it adds cannot be used.
    #[error("its knowledge cannot be used")]
    Knowledge(#[source] KnowledgeError),
}

impl Facts {
    /// The same with what a facts file says instead of what another one said. Without a version in it the newest is taken
    /// for granted. `file` is its name in errors.
    ///
    /// # Errors
    /// Says why the file is not taken.
    pub fn with_facts_file(&self, file: &str, bytes: &[u8]) -> Result<Self, FileError> {
        let cluster: Cluster = parse(file, bytes)?;
        Ok(Self {
            kubernetes: cluster.kubernetes_version.unwrap_or(Version::NEWEST),
            cluster: Arc::new(cluster),
            ..self.clone()
        })
    }

    /// The same with what a config file says instead of what another one said. `file` is its name in errors.
    ///
    /// # Errors
    /// Says why the file is not taken.
    pub fn with_config_file(&self, file: &str, bytes: &[u8]) -> Result<Self, FileError> {
        let config: Config = parse(file, bytes)?;
        Ok(Self {
            knowledge: config.knowledge().map_err(FileError::Knowledge)?,
            config: Arc::new(config),
            ..self.clone()
        })
    }
}

fn parse<T: Default + DeserializeOwned>(file: &str, bytes: &[u8]) -> Result<T, FileError> {
    let text = std::str::from_utf8(bytes).map_err(FileError::Encoding)?;
    let manifest = Manifest::read(file, text);
    if let Some(error) = manifest.errors.into_iter().next() {
        return Err(FileError::Syntax(error));
    }
    let mut objects = manifest.objects;
    match objects.len() {
        0 => Ok(T::default()),
        1 => serde_json::from_value(objects.remove(0).value).map_err(FileError::Form),
        documents => Err(FileError::Documents(documents)),
    }
}

#[cfg(test)]
mod tests {
    use std::error::Error;

    use super::super::{Mode, Origin};
    use super::*;
    use crate::words::Severity;

    fn facts() -> Facts {
        Facts::new(Mode::Fix, Origin::Admission)
    }

    #[test]
    fn yaml_and_json_are_read_and_nothing_else() {
        for text in [
            "# The controller writes it.\nkubernetesVersion: \"1.31\"\nstarts:\n  a/b/c: 700\n",
            r#"{"kubernetesVersion": "v1.31.2", "starts": {"a/b/c": 700}}"#,
        ] {
            let facts = facts().with_facts_file("f", text.as_bytes()).unwrap();
            assert_eq!(facts.mode, Mode::Fix);
            assert_eq!(facts.kubernetes, Version { minor: 31 });
            assert_eq!(facts.cluster.starts["a/b/c"], 700);
        }
        for text in ["", "# nothing\n", "---\n"] {
            let facts = facts().with_facts_file("f", text.as_bytes()).unwrap();
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
            let read = facts().with_facts_file("f", bytes);
            assert!(read.is_err(), "{bytes:?}");
        }
    }

    #[test]
    fn a_file_changes_its_own_part_only() {
        let known = facts()
            .with_config_file("c", b"limits: {maxGrace: 60}")
            .unwrap();
        let known = known
            .with_facts_file("f", b"kubernetesVersion: '1.30'")
            .unwrap();
        assert_eq!(known.config.limits.max_grace, 60);
        assert_eq!(known.kubernetes.minor, 30);
        let known = known.with_config_file("c", b"").unwrap();
        assert_eq!(*known.config, Config::default());
        assert_eq!(known.kubernetes.minor, 30);
        let known = known.with_facts_file("f", b"").unwrap();
        assert_eq!(known.kubernetes, Version::NEWEST);
    }

    #[test]
    fn a_version_that_yaml_takes_for_a_number_is_told() {
        let read = facts().with_facts_file("f", b"kubernetesVersion: 1.30\n");
        let error = read.unwrap_err().source().unwrap().to_string();
        assert!(error.contains("in quotes"), "{error}");
    }

    #[test]
    fn a_config_says_what_it_may_and_nothing_else() {
        let text = "overrides: {enforce: {skip: false, allow: [warn, note], stepDown: false}}";
        let known = facts().with_config_file("c", text.as_bytes()).unwrap();
        let enforce = known.config.overrides(Mode::Enforce);
        assert_eq!(enforce.allow, [Severity::Warn, Severity::Note]);
        assert!(!enforce.skip && !enforce.step_down);
        assert!(known.config.overrides(Mode::Fix).skip);
        for text in [
            "overrides: {strict: {skip: false}}",
            "overrides: {enforce: {allow: [warning]}}",
            "limits: {maxGrace: -1}",
            "defaults: {prestopSleep: 0}",
            "defaults: {startupWindow: 100000}",
            "defaults: {drainTime: 1.5}",
            "edits: {startupProbe: 1}",
        ] {
            let read = facts().with_config_file("c", text.as_bytes());
            assert!(read.is_err(), "{text}");
        }
    }
}
