//! What was changed against what should have been.

use serde_json::{Map, Value};

use super::expectation::{Fix, ValueWish, WindowWish};
use super::show;
use crate::lawful::{changes, is_our_annotation, pointer, same};

/// The reasons against a fix. `same_text` says whether the text of the document stayed as it was.
pub(super) fn reasons(wish: &Fix, before: &Value, after: &Value, same_text: bool) -> Vec<String> {
    let all = changes(before, after);
    let changed: Vec<String> = all
        .iter()
        .filter(|change| !is_our_annotation(change, before))
        .map(|change| pointer(&change.path))
        .collect();
    let mut reasons = Vec::new();
    if wish.leave_alone {
        if let Some(path) = changed.first() {
            reasons.push(format!("it should be left alone, but {path} is changed"));
        } else if all.is_empty() && !same_text {
            reasons.push("it should be left alone, but its text is changed".to_owned());
        }
    }
    if let Some(only) = &wish.only {
        let allowed = |path: &String| {
            only.iter()
                .any(|prefix| format!("{path}/").starts_with(&format!("{prefix}/")))
        };
        let outside = changed.iter().filter(|path| !allowed(path));
        reasons.extend(outside.map(|path| format!("{path} should stay as it is")));
    }
    for wish in &wish.values {
        reasons.extend(value_reasons(wish, before, after));
    }
    for wish in &wish.windows {
        reasons.extend(window_reason(wish, after));
    }
    reasons
}

fn value_reasons(wish: &ValueWish, before: &Value, after: &Value) -> Vec<String> {
    let path = wish.path.as_str();
    let value = after.pointer(path);
    let here = format!("{path} is {}", show(value));
    let alike = |wanted: &Value| {
        value.is_some_and(|value| same(&normal(path, wanted), &normal(path, value)))
    };
    let number = value.and_then(Value::as_i64);
    let mut reasons = Vec::new();
    if wish.absent && value.is_some_and(|value| !value.is_null()) {
        reasons.push(format!("{here}, not absent"));
    }
    let was = before.pointer(path);
    let is_unchanged = match (was, value) {
        (Some(was), Some(value)) => same(was, value),
        (was, value) => was.is_none() && value.is_none(),
    };
    if wish.unchanged && !is_unchanged {
        reasons.push(format!("{here}, it was {}", show(was)));
    }
    if let Some(wanted) = wish.equals.as_ref().filter(|wanted| !alike(wanted)) {
        reasons.push(format!("{here}, not {wanted}"));
    }
    if wish
        .one_of
        .as_ref()
        .is_some_and(|wanted| !wanted.iter().any(alike))
    {
        reasons.push(format!("{here}, not one of those wanted"));
    }
    if let Some(text) = &wish.contains
        && !value
            .and_then(Value::as_str)
            .is_some_and(|value| value.contains(text.as_str()))
    {
        reasons.push(format!("{here}, without {text:?}"));
    }
    if let Some(least) = wish
        .at_least
        .filter(|least| number.is_none_or(|number| number < *least))
    {
        reasons.push(format!("{here}, not at least {least}"));
    }
    if let Some(most) = wish
        .at_most
        .filter(|most| number.is_none_or(|number| number > *most))
    {
        reasons.push(format!("{here}, not at most {most}"));
    }
    reasons
}

fn window_reason(wish: &WindowWish, after: &Value) -> Option<String> {
    let path = &wish.path;
    let Some(probe) = after.pointer(path).and_then(Value::as_object) else {
        return Some(format!("{path} is {}", show(after.pointer(path))));
    };
    let window = window(probe);
    let most = wish.at_most.unwrap_or(2 * wish.at_least);
    let fits = (wish.at_least..=most).contains(&window);
    (!fits).then(|| {
        format!(
            "the window of {path} is {window}, not {} to {most}",
            wish.at_least
        )
    })
}

/// Seconds that a server has in every phase of the kubelet's grid.
fn window(probe: &Map<String, Value>) -> i64 {
    let number = |key: &str, default: i64| {
        let value = probe.get(key).and_then(Value::as_i64);
        value.filter(|value| *value != 0).unwrap_or(default)
    };
    let (delay, period) = (
        number("initialDelaySeconds", 0),
        number("periodSeconds", 10),
    );
    (delay - 1).max(0) + (number("failureThreshold", 3) - 1) * period
}

/// A handler with the API's defaults left out, so that writing them or not is the same.
fn normal(path: &str, value: &Value) -> Value {
    let mut value = value.clone();
    let Some(members) = value.as_object_mut() else {
        return value;
    };
    if path.ends_with("/httpGet") {
        members.retain(|key, value| key != "scheme" || value != "HTTP");
        members.entry("path").or_insert_with(|| "/".into());
    }
    if path.ends_with("/grpc") {
        members.retain(|key, value| key != "service" || value != "");
    }
    value
}
