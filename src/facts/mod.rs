//! What a caller knows besides the object.
//!
//! The webhook reads it from a mounted file that the controller keeps, the command line from `--facts` and `--config`. Facts
//! may widen an edit or raise a warning; a refusal never rests on them.

mod config;
mod file;
mod neighbours;
mod selectors;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde::Deserialize;
use serde::de::{Deserializer, Error, Unexpected, Visitor};
use serde_json::{Map, Value};

use crate::knowledge::Knowledge;
use crate::words::Seconds;

pub use config::{Config, Defaults, Edits, Limits, Override};
pub use file::FileError;
pub use neighbours::{collect, speaks_of_others};
pub use selectors::Selectors;

/// The rung of the ladder that a namespace stands on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// Findings go to the audit log only.
    Audit,
    /// Findings are shown.
    Warn,
    /// What can be mended is mended, the rest is shown.
    Fix,
    /// What cannot be mended and cannot work is refused.
    Enforce,
}

impl Mode {
    /// All modes, the weakest first.
    pub const ALL: [Self; 4] = [Self::Audit, Self::Warn, Self::Fix, Self::Enforce];

    /// The word of the namespace label and of the URL path.
    pub fn word(self) -> &'static str {
        match self {
            Self::Audit => "audit",
            Self::Enforce => "enforce",
            Self::Fix => "fix",
            Self::Warn => "warn",
        }
    }

    /// The mode that `word` names.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|mode| mode.word() == word)
    }

    /// Whether objects are edited.
    pub fn edits(self) -> bool {
        self >= Self::Fix
    }
}

/// A Kubernetes version, `1.minor`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version {
    /// The minor version.
    pub minor: u32,
}

impl Version {
    /// The newest version whose behaviour is known.
    pub const NEWEST: Self = Self { minor: 37 };

    /// The first version whose API server has the `sleep` action on by default (KEP-3960, beta in 1.30).
    pub const NATIVE_SLEEP: Self = Self { minor: 30 };

    /// Reads `1.37`, `v1.37.2` or `1.37.2-gke.100`.
    pub fn parse(text: &str) -> Option<Self> {
        let rest = text.strip_prefix('v').unwrap_or(text).strip_prefix("1.")?;
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let (minor, behind) = rest.split_at(digits);
        let well_formed = behind.is_empty() || behind.starts_with(['.', '-', '+']);
        minor
            .parse()
            .ok()
            .filter(|_| well_formed)
            .map(|minor| Self { minor })
    }
}

impl<'de> Deserialize<'de> for Version {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InQuotes;

        impl Visitor<'_> for InQuotes {
            type Value = Version;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                // YAML reads 1.30 without them as the number 1.3.
                f.write_str("a version in quotes, \"1.37\"")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Version, E> {
                let other = || E::invalid_value(Unexpected::Str(text), &self);
                Version::parse(text).ok_or_else(other)
            }
        }

        deserializer.deserialize_str(InQuotes)
    }
}

/// Where the object comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// An API server asks: defaults are filled in, apply records may be there, edits are recorded in `changes`.
    Admission,
    /// A file: the owner adopts what is written, so nothing is recorded.
    File,
}

/// What device claims ask for, as far as it is known.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Claims {
    /// The requests of `ResourceClaimTemplate`s, by `namespace/name`.
    pub templates: BTreeMap<String, Vec<DeviceRequest>>,
    /// The requests of `ResourceClaim`s, by `namespace/name`.
    pub claims: BTreeMap<String, Vec<DeviceRequest>>,
}

/// One request of a device claim. A container may use all requests of a claim, or one by its name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct DeviceRequest {
    /// Its name.
    pub name: String,
    /// The device classes that satisfy it.
    pub classes: Vec<String>,
    /// Whether it looks at devices that others use: that is monitoring, not computing.
    pub admin_access: bool,
}

/// What stands beside the object in the same input; only `check` and `fix` know it.
#[derive(Clone, Debug, Default)]
pub struct Neighbours {
    /// The names of Services with an address of their own, by namespace.
    pub services: BTreeMap<String, Vec<String>>,
    /// The `spec.selector` of PodDisruptionBudgets, by namespace.
    pub disruption_budgets: BTreeMap<String, Selectors>,
}

/// What a caller knows besides the object. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Facts {
    /// The mode of the object's namespace.
    pub mode: Mode,
    /// Where the object comes from.
    pub origin: Origin,
    /// The version of the API server, and so of the kubelets.
    pub kubernetes: Version,
    /// Everything that was read from the facts file.
    pub cluster: Arc<Cluster>,
    /// What the operator of warmgate decided.
    pub config: Arc<Config>,
    /// The servers, accelerators and kinds that are known.
    pub knowledge: Arc<Knowledge>,
    /// What stands beside the object; `None` in the webhook, which sees one object at a time.
    pub neighbours: Option<Arc<Neighbours>>,
}

impl Facts {
    /// What is known without any file.
    pub fn new(mode: Mode, origin: Origin) -> Self {
        Self {
            mode,
            origin,
            kubernetes: Version::NEWEST,
            cluster: Arc::default(),
            config: Arc::default(),
            knowledge: Knowledge::builtin(),
            neighbours: None,
        }
    }

    /// The annotations of a namespace: defaults for the objects in it.
    pub fn namespace_defaults(&self, namespace: &str) -> Option<&Map<String, Value>> {
        self.cluster.namespaces.get(namespace)
    }

    /// The longest start measured of a container of a workload, a day at most.
    pub fn longest_start(
        &self,
        namespace: &str,
        workload: &str,
        container: &str,
    ) -> Option<Seconds> {
        let key = format!("{namespace}/{workload}/{container}");
        self.cluster
            .starts
            .get(&key)
            .map(|seconds| Seconds((*seconds).clamp(0, Seconds::DAY.0)))
    }
}

/// The facts file.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Cluster {
    /// The version of the API server, `"1.37"`.
    pub kubernetes_version: Option<Version>,
    /// The annotations of namespaces, by name.
    pub namespaces: BTreeMap<String, Map<String, Value>>,
    /// The longest start measured in seconds, by `namespace/workload/container`.
    pub starts: BTreeMap<String, i64>,
    /// What device claims ask for.
    pub claims: Claims,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_as_servers_write_them() {
        for text in ["1.30", "v1.30.4", "1.30+", "1.30.2-gke.100"] {
            assert_eq!(Version::parse(text), Some(Version { minor: 30 }), "{text}");
        }
        for text in ["", "1", "1.", "2.30", "1.x", "1.30x"] {
            assert_eq!(Version::parse(text), None, "{text}");
        }
    }
}
