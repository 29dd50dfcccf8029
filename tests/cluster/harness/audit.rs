//! What the API server writes of every request.

use std::fs;
use std::path::Path;

use serde_json::Value;

use super::fault::{Context, Outcome};

/// One request and its answer.
#[derive(Clone, Debug)]
pub(crate) struct Record(Value);

impl Record {
    /// The whole record.
    pub(crate) fn value(&self) -> &Value {
        &self.0
    }

    /// Whether it was a `verb` on a `resource` in `namespace`.
    pub(crate) fn is(&self, verb: &str, resource: &str, namespace: &str) -> bool {
        let object = &self.0["objectRef"];
        self.0["verb"] == verb
            && object["resource"] == resource
            && object["namespace"] == namespace
            && object["subresource"].is_null()
    }

    /// The annotation `key`: `authorization.k8s.io/decision`, a webhook's own, or which webhook patched what in which round
    /// (`patch.webhook.admission.k8s.io/round_0_index_0`).
    pub(crate) fn annotation(&self, key: &str) -> Option<&str> {
        self.0["annotations"][key].as_str()
    }
}

/// Reads the audit log at `path`, oldest first. A line that is only half written yet is left out.
///
/// # Errors
///
/// There is none.
pub(crate) fn read(path: &Path) -> Outcome<Vec<Record>> {
    let text = fs::read_to_string(path).context(path.display())?;
    let lines = text
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok());
    Ok(lines.map(Record).collect())
}
