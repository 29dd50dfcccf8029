//! The config file: what the operator of warmgate decided.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::de::{Error, Unexpected};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::Mode;
use crate::knowledge::{Knowledge, KnowledgeError};
use crate::words::{Seconds, Severity};

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
    pub overrides: BTreeMap<Mode, Override>,
    /// The namespace that warmgate itself runs in: nothing in it is judged.
    pub own_namespace: Option<String>,
    /// More servers, accelerators and kinds, in the format of the built-in data.
    pub knowledge: Option<Value>,
}

/// Bounds above which a warning is given. Both are at most a day.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Limits {
    /// Seconds: the longest start that may be declared without a warning.
    #[serde(deserialize_with = "seconds")]
    pub max_startup_time: i64,
    /// Seconds: the longest grace period without a note.
    #[serde(deserialize_with = "seconds")]
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

/// Values that hold where nobody declared any, in seconds, from 1 s to a day as in annotations.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Defaults {
    /// The startup window where no start time is declared. Without a declaration a short window is a new way to die, so
    /// it is an hour.
    #[serde(deserialize_with = "seconds")]
    pub startup_window: i64,
    /// The floor for probe timeouts that nobody set.
    #[serde(deserialize_with = "seconds")]
    pub probe_timeout: i64,
    /// The sleep before SIGTERM.
    #[serde(deserialize_with = "seconds")]
    pub prestop_sleep: i64,
    /// The longest request in flight.
    #[serde(deserialize_with = "seconds")]
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
    pub allow: Vec<Severity>,
    /// Whether `mode` works.
    pub step_down: bool,
}

impl Default for Override {
    fn default() -> Self {
        Self {
            skip: true,
            allow: vec![Severity::Deny, Severity::Warn, Severity::Note],
            step_down: true,
        }
    }
}

impl Config {
    /// What holds in a mode.
    pub fn overrides(&self, mode: Mode) -> Override {
        self.overrides.get(&mode).cloned().unwrap_or_default()
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

/// Reads seconds that may end up in an object: the API server would refuse one with a negative number in it, and the owner could
/// do nothing about it.
fn seconds<'de, D: Deserializer<'de>>(deserializer: D) -> Result<i64, D::Error> {
    let seconds = i64::deserialize(deserializer)?;
    if (1..=Seconds::DAY.0).contains(&seconds) {
        Ok(seconds)
    } else {
        let given = Unexpected::Signed(seconds);
        Err(D::Error::invalid_value(given, &"seconds from 1 to 86400"))
    }
}
