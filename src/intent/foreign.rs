//! Objects that are none of our business, which can be told before anything else is asked of them.

use serde_json::Value;

use super::skip::{self, Skip};
use crate::annotations;
use crate::facts::Facts;
use crate::subject::{self, Accelerators, Subject};

/// Why an object is skipped that has no key of ours and asks for no accelerator, nor for any claim that could be one. Such an object
/// is neither edited nor judged, and what is known of namespaces and of other objects changes nothing of that. `None` says that
/// [`super::resolve`] must be asked.
pub fn foreign(subject: &Subject<'_>, facts: &Facts) -> Option<Skip> {
    // What a controller owns is left alone for that, which is said of it.
    let owned = subject.controller.is_some() && !subject.is_pod();
    if owned || speaks_of_us(subject.annotations()) || is_labelled(subject.labels()) {
        return None;
    }
    for template in &subject.templates {
        if speaks_of_us(template.annotations()) || is_labelled(template.labels()) {
            return None;
        }
        let claims = template.containers.iter().any(|one| !one.claims.is_empty());
        let asks = || {
            let found = subject::accelerators(template, &subject.namespace, facts);
            found != Accelerators::default()
        };
        if claims || asks() {
            return None;
        }
    }
    let first = subject.templates.first()?;
    Some(skip::fragment(first).unwrap_or_else(skip::not_ours))
}

/// Whether annotations have a key of ours, or are no map, of which something is to be said.
fn speaks_of_us(annotations: Option<&Value>) -> bool {
    match annotations {
        None | Some(Value::Null) => false,
        Some(Value::Object(members)) => members.keys().any(|key| annotations::is_ours(key)),
        Some(_) => true,
    }
}

fn is_labelled(labels: Option<&Value>) -> bool {
    let members = labels.and_then(Value::as_object);
    members.is_some_and(|members| members.keys().any(|key| annotations::is_ours(key)))
}
