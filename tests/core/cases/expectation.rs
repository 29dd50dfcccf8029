//! What an expectation may say.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::Trouble;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Expectation {
    documents: Vec<Value>,
    #[serde(default)]
    pub(super) variants: Vec<Variant>,
}

impl Expectation {
    /// The wishes, one a document.
    pub(super) fn documents<W: DeserializeOwned>(&self, count: usize) -> Result<Vec<W>, Trouble> {
        if self.documents.len() != count {
            let spoken = self.documents.len();
            return Err(format!(
                "the expectation speaks of {spoken} documents, the case has {count}"
            ));
        }
        let wish = |value: &Value| serde_json::from_value(value.clone());
        let wishes: Result<_, _> = self.documents.iter().map(wish).collect();
        wishes.map_err(|error| format!("the expectation is wrong: {error}"))
    }
}

/// The same file with other arguments of `check`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Variant {
    pub(super) args: Vec<String>,
    pub(super) documents: Vec<Document>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Document {
    #[serde(default)]
    pub(super) fix: Fix,
    #[serde(default)]
    pub(super) check: Said,
    #[serde(default)]
    pub(super) after_fix: Option<String>,
    #[serde(default)]
    pub(super) alternatives: Vec<Self>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Review {
    #[serde(default)]
    pub(super) mutate: Mutate,
    #[serde(default)]
    pub(super) validate: Said,
    #[serde(default)]
    pub(super) after_fix: Option<String>,
    #[serde(default)]
    pub(super) alternatives: Vec<Self>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Mutate {
    #[serde(default)]
    pub(super) allowed: Option<bool>,
    #[serde(default)]
    pub(super) patch: Option<PatchWish>,
    #[serde(default)]
    pub(super) dry_run_alike: bool,
    #[serde(default)]
    pub(super) values: Vec<ValueWish>,
    #[serde(default)]
    pub(super) windows: Vec<WindowWish>,
    #[serde(default)]
    pub(super) only: Option<Vec<String>>,
}

#[derive(Clone, Copy, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub(super) enum PatchWish {
    None,
    Required,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Fix {
    #[serde(default)]
    pub(super) leave_alone: bool,
    #[serde(default)]
    pub(super) values: Vec<ValueWish>,
    #[serde(default)]
    pub(super) windows: Vec<WindowWish>,
    #[serde(default)]
    pub(super) only: Option<Vec<String>>,
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ValueWish {
    pub(super) path: String,
    #[serde(default)]
    pub(super) equals: Option<Value>,
    #[serde(default)]
    pub(super) one_of: Option<Vec<Value>>,
    #[serde(default)]
    pub(super) contains: Option<String>,
    #[serde(default)]
    pub(super) at_least: Option<i64>,
    #[serde(default)]
    pub(super) at_most: Option<i64>,
    #[serde(default)]
    pub(super) absent: bool,
    #[serde(default)]
    pub(super) unchanged: bool,
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WindowWish {
    pub(super) path: String,
    pub(super) at_least: i64,
    #[serde(default)]
    pub(super) at_most: Option<i64>,
}

/// What is said of an object: by `check`, or by the validating webhook.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Said {
    #[serde(default)]
    pub(super) allowed: Option<bool>,
    #[serde(default)]
    pub(super) outcome: Option<String>,
    #[serde(default)]
    pub(super) deny: Vec<String>,
    #[serde(default)]
    pub(super) warn: Option<Vec<String>>,
    #[serde(default)]
    pub(super) may_warn: Vec<String>,
    #[serde(default)]
    pub(super) note: Vec<String>,
    #[serde(default)]
    pub(super) silent: Vec<String>,
    #[serde(default)]
    pub(super) containers: BTreeMap<String, Vec<String>>,
    #[serde(default)]
    pub(super) message_contains: BTreeMap<String, Vec<String>>,
    #[serde(default)]
    pub(super) hidden: Vec<String>,
    #[serde(default)]
    pub(super) recorded: Vec<String>,
}
