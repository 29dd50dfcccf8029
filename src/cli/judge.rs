//! The objects of the input, judged.

use serde_json::Value;

use super::input::Text;
use super::progress;
use crate::admit::{Outcome, admit};
use crate::facts::Facts;
use crate::manifest::Object;
use crate::report::{self, Entry};
use crate::review::{Kind, Operation, Request};
use crate::subject::group_and_kind;

/// Judges all objects, in parallel; the order is that of the input.
pub(super) fn all(texts: &[Text], facts: &Facts) -> Vec<Vec<Entry>> {
    progress::over("judging", texts, |text| of_text(text, facts))
}

/// Judges the objects of one input.
pub(super) fn of_text(text: &Text, facts: &Facts) -> Vec<Entry> {
    let file = text.input.name();
    let entry = |object| one(&file, text, object, facts);
    text.manifest.objects.iter().map(entry).collect()
}

fn one(file: &str, text: &Text, object: &Object, facts: &Facts) -> Entry {
    let value = &object.value;
    let (kind, namespace, name) = called(value);
    let mut decision = admit(&request(value, &namespace), facts);
    if group_and_kind(value) == Some(("admission.k8s.io", "AdmissionReview")) {
        let why = "an AdmissionReview is answered by warmgate admit";
        decision.outcome = Outcome::NotChecked(why.to_owned());
    }
    let places = decision.findings.iter();
    let places = places.map(|finding| text.manifest.position(object, &finding.path));
    Entry {
        file: file.to_owned(),
        document: object.document,
        line: object.line,
        kind,
        name,
        namespace,
        places: places.collect(),
        decision,
    }
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
pub(super) fn request(object: &Value, namespace: &Option<String>) -> Request {
    let (group, kind) = group_and_kind(object).unwrap_or_default();
    Request {
        kind: Kind {
            group: group.to_owned(),
            version: String::new(),
            kind: kind.to_owned(),
        },
        namespace: namespace.clone().unwrap_or_default(),
        operation: Operation::Create,
        object: Some(object.clone()),
        ..Request::default()
    }
}
