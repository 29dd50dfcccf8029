//! The objects of the input, judged.

use std::mem;

use serde_json::Value;

use super::input::Text;
use crate::admit::{Decision, Outcome, admit};
use crate::facts::Facts;
use crate::report::{self, Entry};
use crate::review::{Kind, Operation, Request};
use crate::subject::group_and_kind;

/// Judges the objects of one input, and leaves them as they are.
pub(super) fn of_text(text: &mut Text, facts: &Facts) -> Vec<Entry> {
    let objects = 0..text.manifest.objects.len();
    objects
        .filter_map(|index| one(text, index, |request| Some(admit(request, facts))))
        .collect()
}

/// What is decided of one of the objects of an input, if `decide` decides it.
pub(super) fn one(
    text: &mut Text,
    index: usize,
    decide: impl FnOnce(&Request) -> Option<Decision>,
) -> Option<Entry> {
    let value = mem::take(&mut text.manifest.objects[index].value);
    let (kind, namespace, name) = called(&value);
    let is_review = group_and_kind(&value) == Some(("admission.k8s.io", "AdmissionReview"));
    let request = request(value, &namespace);
    let decision = decide(&request);
    text.manifest.objects[index].value = request.object.unwrap_or_default();
    let mut decision = decision?;
    if is_review {
        let why = "an AdmissionReview is answered by warmgate admit";
        decision.outcome = Outcome::NotChecked(why.to_owned());
    }
    let object = &text.manifest.objects[index];
    let places = decision.findings.iter();
    let places = places.map(|finding| text.manifest.position(object, &finding.path));
    Some(Entry {
        file: text.input.name(),
        document: object.document,
        line: object.line,
        kind,
        name,
        namespace,
        places: places.collect(),
        decision,
    })
}

/// The kind of an object, its namespace and its name, as far as it says them.
fn called(object: &Value) -> (String, Option<String>, Option<String>) {
    let member = |pointer: &str| {
        let text = object.pointer(pointer).and_then(Value::as_str);
        text.filter(|text| !text.is_empty()).map(str::to_owned)
    };
    let name = member("/metadata/name")
        .or_else(|| member("/metadata/generateName").map(|prefix| format!("{prefix}*")));
    let kind = member("/kind").unwrap_or_default();
    (kind, member("/metadata/namespace"), name)
}

/// What an object is called in reports: `Deployment ml/llama`.
pub(super) fn title(object: &Value) -> String {
    let (kind, namespace, name) = called(object);
    report::title(&kind, namespace.as_deref(), name.as_deref())
}

/// The request that creates an object of a file.
pub(super) fn request(object: Value, namespace: &Option<String>) -> Request {
    let (group, kind) = group_and_kind(&object).unwrap_or_default();
    Request {
        kind: Kind {
            group: group.to_owned(),
            version: String::new(),
            kind: kind.to_owned(),
        },
        namespace: namespace.clone().unwrap_or_default(),
        operation: Operation::Create,
        object: Some(object),
        ..Request::default()
    }
}
