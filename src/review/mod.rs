//! Bytes to an AdmissionReview v1 and back (`k8s.io/api/admission/v1`).
//!
//! Only what is judged is read; the object stays the JSON that came in, but for the API server's record of who wrote which
//! field. A review whose uid can be read is always answered: what else is wrong with it makes it
//! [not understood](Request::not_understood), and that blocks nobody.

mod answer;
mod envelope;
mod object;
mod read;

use std::collections::BTreeMap;

use json_patch::Patch;
use serde::Deserialize;
use serde_json::Value;

pub use answer::{answer, failure};
pub use read::{ReviewError, read};

/// The version of the API that is spoken.
const API_VERSION: &str = "admission.k8s.io/v1";

/// The kind of every body, asked and answered.
const KIND: &str = "AdmissionReview";

/// What the API server asks about one write.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// Names the request; every answer repeats it.
    pub uid: String,
    /// What is written, as the webhook's rules name it.
    pub kind: Kind,
    /// Set where a part of the object is written (`status`, `scale`).
    pub sub_resource: Option<String>,
    /// The object's name; empty where the API server has yet to make one from `generateName`.
    pub name: String,
    /// The namespace of the request; the object itself may lack it.
    pub namespace: String,
    /// What is done with the object.
    pub operation: Operation,
    /// Whether the write is only tried.
    pub dry_run: bool,
    /// The object as it would be stored; `None` where there is none, where it cannot be read, and where it is never judged:
    /// with an operation other than CREATE and UPDATE, and with a subresource. Its `metadata.managedFields` is empty where no
    /// entry of it is an apply's.
    pub object: Option<Value>,
    /// The object as it is stored, on UPDATE.
    pub old_object: Option<Value>,
    /// Why the request has a shape that is not understood; then it is allowed, unpatched and counted.
    pub not_understood: Option<String>,
}

impl Request {
    /// Reads an AdmissionReview that was parsed already, from YAML for one.
    ///
    /// # Errors
    /// The same as those of [`read`].
    pub fn from_value(review: &Value) -> Result<Self, ReviewError> {
        read(review.to_string().as_bytes())
    }
}

/// Group, version and kind.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Kind {
    /// The API group; empty for the core group.
    pub group: String,
    /// The version.
    pub version: String,
    /// The kind.
    pub kind: String,
}

/// What is done with an object.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Operation {
    /// It is new.
    #[default]
    Create,
    /// It is changed.
    Update,
    /// Anything else: none of it is judged.
    Other,
}

/// What the API server is told.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Response {
    /// Whether the write may go on.
    pub allowed: bool,
    /// Why not, for the user; with it the HTTP code 403 of the answer to the user.
    pub message: Option<String>,
    /// The edits; an empty patch is left out together with its type.
    pub patch: Patch,
    /// What kubectl prints.
    pub warnings: Vec<String>,
    /// What the audit log records. The API server puts the webhook's name and a `/` before each key, so a key is the name
    /// part of a qualified name: at most 63 letters, digits, `-`, `_` and `.`.
    pub audit: BTreeMap<String, String>,
}
