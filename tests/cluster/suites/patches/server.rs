//! The part of an API server that a mutating webhook meets, as a program of its own: `tools/patches`.

use std::path::PathBuf;
use std::process::Command;

use json_patch::Patch;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use warmgate::subject::group_and_kind;

use super::reviews::{NAMESPACE, Review};
use crate::harness::command::run;
use crate::harness::fault::Fault;
use crate::harness::steps::Steps;
use crate::harness::tools::Tools;
use crate::harness::versions;

/// What the program is asked.
#[derive(Serialize)]
pub(super) struct Question<'q> {
    namespace: &'q str,
    object: &'q Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    old: Option<&'q Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    patch: Option<&'q Patch>,
    /// JSON pointers to the pod templates of a custom kind.
    templates: Vec<String>,
}

/// What the program answers.
#[derive(Deserialize)]
pub(super) struct Answer {
    /// Whether the patch could be applied.
    pub(super) applied: bool,
    /// Why there is no object: the patch does not apply, or what it makes cannot be decoded.
    pub(super) refused: Option<String>,
    /// The object as the next webhook is shown it, with defaults.
    pub(super) object: Option<Value>,
    /// What is stored, as a webhook is shown it.
    pub(super) old: Option<Value>,
    /// The fields that the kind does not have.
    #[serde(default)]
    pub(super) unknown: Vec<String>,
    /// Why the object would not be stored.
    pub(super) invalid: Option<String>,
}

impl<'q> Question<'q> {
    /// What becomes of the object of a review, patched or not.
    pub(super) fn of(review: &'q Review, patch: Option<&'q Patch>) -> Self {
        let request = &review.request;
        let object = request.object.as_ref().unwrap_or(&Value::Null);
        let (group, kind) = group_and_kind(object).unwrap_or_default();
        let workload = review.facts.knowledge.workload(group, kind);
        let templates = workload.iter().flat_map(|workload| &workload.templates);
        Self {
            namespace: match request.namespace.as_str() {
                "" => NAMESPACE,
                namespace => namespace,
            },
            object,
            old: request.old_object.as_ref(),
            patch,
            templates: templates
                .map(|template| template.path.pointer())
                .filter(|pointer| !pointer.is_empty())
                .collect(),
        }
    }
}

impl Answer {
    /// Whether it is an object of its kind.
    pub(super) fn is_decoded(&self) -> bool {
        self.refused.is_none()
    }

    /// Whether it would be stored.
    pub(super) fn is_valid(&self) -> bool {
        self.is_decoded() && self.invalid.is_none()
    }
}

/// The built program.
pub(super) struct Server(PathBuf);

impl Server {
    /// Builds it from the chosen release of Kubernetes.
    pub(super) fn build() -> Self {
        let program = versions::chosen()
            .map_err(Fault::new)
            .and_then(|kubernetes| Tools::patches(kubernetes, &Steps::new("patches")));
        Self(program.unwrap_or_else(|fault| panic!("{fault}")))
    }

    /// Gives the answer to each question.
    pub(super) fn ask<'q>(&self, questions: impl Iterator<Item = Question<'q>>) -> Vec<Answer> {
        let lines: Vec<_> = questions
            .map(|question| {
                serde_json::to_string(&question).unwrap_or_else(|error| panic!("{error}"))
            })
            .collect();
        let text = lines.join("\n");
        let done = run(&mut Command::new(&self.0), Some(&text));
        let said = done.unwrap_or_else(|fault| panic!("{fault}")).must();
        let answers: Vec<Answer> = said
            .lines()
            .map(|line| {
                serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))
            })
            .collect();
        assert_eq!(answers.len(), lines.len(), "a question has no answer");
        answers
    }
}
