//! What is known of model servers, accelerators and workload kinds: data with sources, and its readers.

use std::sync::{Arc, LazyLock};

use serde_json::Value;

/// The servers, accelerators and kinds that are known.
#[derive(Debug)]
pub struct Knowledge {}

/// Why data is no knowledge.
#[derive(Debug, thiserror::Error)]
#[error("{place}: {why}")]
pub struct KnowledgeError {
    place: String,
    why: String,
}

impl Knowledge {
    /// The embedded data, read once.
    pub fn builtin() -> Arc<Self> {
        static BUILTIN: LazyLock<Arc<Knowledge>> = LazyLock::new(|| Arc::new(Knowledge {}));
        Arc::clone(&BUILTIN)
    }

    /// This knowledge extended by data of the same format.
    ///
    /// # Errors
    /// Says which entry does not have the format.
    pub fn with(&self, _extra: &Value) -> Result<Self, KnowledgeError> {
        Ok(Self {})
    }
}
