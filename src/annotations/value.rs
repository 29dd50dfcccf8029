//! What the annotations' values mean once they are read.

use crate::words::Seconds;

/// A value that holds for every serving container, or for one that it names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PerContainer<T> {
    /// The value written without a name: it holds for every serving container that is not named.
    pub all: Option<T>,
    /// The values written as `NAME=VALUE`, in the order in which they stand; no name stands twice.
    pub named: Vec<(String, T)>,
}

impl<T> Default for PerContainer<T> {
    fn default() -> Self {
        Self {
            all: None,
            named: Vec::new(),
        }
    }
}

impl<T> PerContainer<T> {
    /// The value for `container`: the one that names it, else the one that names none.
    pub fn get(&self, container: &str) -> Option<&T> {
        self.named
            .iter()
            .find_map(|(name, value)| (name == container).then_some(value))
            .or(self.all.as_ref())
    }

    /// Whether nothing is written.
    pub fn is_empty(&self) -> bool {
        self.all.is_none() && self.named.is_empty()
    }

    /// The containers that are named.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.named.iter().map(|(name, _)| name.as_str())
    }
}

/// A length of time that the owner can also switch off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Setting {
    /// `none`: the edit is not wanted.
    Off,
    /// The length that is wanted.
    For(Seconds),
}

/// How a workload is to be rolled out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rollout {
    /// `no-surge`: maxSurge 0 and maxUnavailable 1, since there is no spare accelerator for an extra pod.
    NoSurge,
}

/// A mode that an object may step down to. `enforce` is none: only a namespace can ask for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum StepDown {
    /// Findings go to the audit log only.
    Audit,
    /// Findings are shown.
    Warn,
    /// What can be mended is mended, nothing is refused.
    Fix,
}
