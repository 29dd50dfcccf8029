//! Bytes to an AdmissionReview v1 and back.
//!
//! Only what is judged is read; the object stays the JSON that came in.

use std::collections::BTreeMap;

use json_patch::Patch;
use serde_json::Value;

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
    /// The object as it would be stored; `None` where there is none or where it cannot be read.
    pub object: Option<Value>,
    /// The object as it is stored, on UPDATE and DELETE.
    pub old_object: Option<Value>,
    /// Why the request has a shape that is not understood; then it is allowed, unpatched and counted.
    pub not_understood: Option<String>,
}

/// Group, version and kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
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
    /// What the audit log records, by key.
    pub audit: BTreeMap<String, String>,
}
