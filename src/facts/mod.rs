//! What a caller knows besides the object.
//!
//! The webhook reads it from a mounted file that the controller keeps, the command line from `--facts` and `--config`. Facts
//! may widen an edit or raise a warning; a refusal never rests on them.

mod neighbours;

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::knowledge::{Knowledge, KnowledgeError};
use crate::words::Seconds;

pub use neighbours::collect;

/// The rung of the ladder that a namespace stands on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
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
    /// The names of Services, by namespace.
    pub services: BTreeMap<String, Vec<String>>,
    /// The `spec.selector` of PodDisruptionBudgets, by namespace.
    pub disruption_budgets: BTreeMap<String, Vec<Value>>,
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

    /// These facts with what was read from a facts file; a version that it names holds.
    pub fn with_cluster(self, cluster: Arc<Cluster>) -> Self {
        let named = cluster
            .kubernetes_version
            .as_deref()
            .and_then(Version::parse);
        Self {
            kubernetes: named.unwrap_or(self.kubernetes),
            cluster,
            ..self
        }
    }

    /// The annotations of a namespace: defaults for the objects in it.
    pub fn namespace_defaults(&self, namespace: &str) -> Option<&Map<String, Value>> {
        self.cluster.namespaces.get(namespace)
    }

    /// The longest start measured of a container of a workload.
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
            .map(|seconds| Seconds(*seconds))
    }
}

/// The facts file.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Cluster {
    /// The version of the API server, `1.37`.
    pub kubernetes_version: Option<String>,
    /// The annotations of namespaces, by name.
    pub namespaces: BTreeMap<String, Map<String, Value>>,
    /// The longest start measured in seconds, by `namespace/workload/container`.
    pub starts: BTreeMap<String, i64>,
    /// What device claims ask for.
    pub claims: Claims,
}

/// The config file: what the operator of warmgate decided.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Config {
    /// Bounds above which a warning is given.
    pub limits: Limits,
    /// Values that hold where nobody declared any.
    pub defaults: Defaults,
    /// Which edits are made.
    pub edits: Edits,
    /// What objects may not step out of, by mode.
    pub overrides: BTreeMap<String, Override>,
    /// The namespace that warmgate itself runs in: nothing in it is judged.
    pub own_namespace: Option<String>,
    /// More servers, accelerators and kinds, in the format of the built-in data.
    pub knowledge: Option<Value>,
}

/// Bounds above which a warning is given.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Limits {
    /// Seconds: the longest start that may be declared without a warning.
    pub max_startup_time: i64,
    /// Seconds: the longest grace period without a note.
    pub max_grace: i64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_startup_time: 4 * 60 * 60,
            max_grace: 600,
        }
    }
}

/// Values that hold where nobody declared any, in seconds.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Defaults {
    /// The startup window where no start time is declared. Without a declaration a short window is a new way to die, so
    /// it is an hour.
    pub startup_window: i64,
    /// The floor for probe timeouts that nobody set.
    pub probe_timeout: i64,
    /// The sleep before SIGTERM.
    pub prestop_sleep: i64,
    /// The longest request in flight.
    pub drain_time: i64,
}

impl Default for Defaults {
    fn default() -> Self {
        Self {
            startup_window: 3600,
            probe_timeout: 5,
            prestop_sleep: 15,
            drain_time: 60,
        }
    }
}

/// Which edits are made.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Edits {
    /// Startup probes, their windows and their grace.
    pub startup_probe: bool,
    /// Liveness and readiness timeouts.
    pub probe_timeouts: bool,
    /// preStop sleeps.
    pub pre_stop: bool,
    /// Grace periods.
    pub grace_period: bool,
    /// Progress deadlines.
    pub progress_deadline: bool,
    /// Rollout strategies that their owners asked for.
    pub rollout: bool,
}

impl Default for Edits {
    fn default() -> Self {
        Self {
            startup_probe: true,
            probe_timeouts: true,
            pre_stop: true,
            grace_period: true,
            progress_deadline: true,
            rollout: true,
        }
    }
}

/// What an object in a namespace of one mode may do to its own judgement.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Override {
    /// Whether `skip` works.
    pub skip: bool,
    /// The severities that `allow.` silences.
    pub allow: Vec<String>,
    /// Whether `mode` works.
    pub step_down: bool,
}

impl Default for Override {
    fn default() -> Self {
        Self {
            skip: true,
            allow: vec!["deny".to_owned(), "warn".to_owned(), "note".to_owned()],
            step_down: true,
        }
    }
}

impl Config {
    /// What holds in a mode.
    pub fn overrides(&self, mode: Mode) -> Override {
        self.overrides.get(mode.word()).cloned().unwrap_or_default()
    }

    /// The built-in knowledge extended by that of this config.
    ///
    /// # Errors
    /// Says which entry does not have the format of the built-in data.
    pub fn knowledge(&self) -> Result<Arc<Knowledge>, KnowledgeError> {
        match &self.knowledge {
            None => Ok(Knowledge::builtin()),
            Some(extra) => Knowledge::builtin().with(extra).map(Arc::new),
        }
    }
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
