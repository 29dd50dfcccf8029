//! Updates of objects that carry values of ours.

use serde_json::{Map, Value, json};
use warmgate::admit::admit;
use warmgate::facts::Mode;
use warmgate::words::Severity;

use super::{ensure, mended, namespace_defaults};
use crate::generate::{Update, drawn_update};
use crate::lawful::{Change, MARK, at, changes, pointer, same, unlawful_under};

const HANDLERS: [&str; 5] = ["exec", "grpc", "httpGet", "sleep", "tcpSocket"];

pub(super) fn nothing_that_the_owner_said_since_is_weakened(bytes: &[u8]) -> Result<(), String> {
    let update = drawn_update(bytes);
    let (decision, after) = mended(&update.request(), &update.facts())?;
    // The API server refuses a Job whose template changes, whatever is done about it.
    let is_refused = update.new["kind"] == "Job";
    if decision.patch.0.is_empty() || !decision.mode.edits() || is_refused {
        return Ok(());
    }
    let owners = owners_version(&update);
    let reasons = unlawful_under(&namespace_defaults(&update.drawn), &owners, &after);
    ensure(reasons.is_empty(), || {
        format!(
            "{reasons:?}\nof {}\nolds {}\nnew {}\npatch {}",
            owners,
            update.old,
            update.new,
            json!(decision.patch)
        )
    })
}

pub(super) fn a_template_that_is_not_changed_is_not_written(bytes: &[u8]) -> Result<(), String> {
    let update = drawn_update(bytes);
    let patch = admit(&update.request(), &update.facts()).patch;
    for operation in &patch.0 {
        let path = operation.path().to_string();
        let template = TEMPLATES
            .iter()
            .find(|place| path.starts_with(&format!("{place}/")));
        let unchanged =
            template.is_some_and(|place| update.old.pointer(place) == update.new.pointer(place));
        ensure(!unchanged, || {
            format!("{path}\nold {}\nnew {}", update.old, update.new)
        })?;
    }
    Ok(())
}

const TEMPLATES: [&str; 4] = [
    "/spec/template",
    "/spec/jobTemplate",
    "/spec/leaderWorkerTemplate/leaderTemplate",
    "/spec/leaderWorkerTemplate/workerTemplate",
];

pub(super) fn nobody_is_refused_for_a_value_of_ours(bytes: &[u8]) -> Result<(), String> {
    let update = drawn_update(bytes);
    let decision = admit(&update.request(), &update.drawn.admission(Mode::Enforce));
    let ours: Vec<String> = ours(&update)
        .iter()
        .map(|(path, _, _)| pointer(path))
        .collect();
    for finding in decision
        .findings
        .iter()
        .filter(|finding| finding.severity == Severity::Deny)
    {
        let path = finding.path.pointer();
        let is_ours = ours
            .iter()
            .any(|one| path == *one || path.starts_with(&format!("{one}/")));
        ensure(!is_ours, || {
            format!("{}\nold {}\nnew {}", finding.line(), update.old, update.new)
        })?;
    }
    Ok(())
}

/// The new version as it would be had we never written anything: what we wrote and nobody has touched since is taken back.
pub(super) fn owners_version(update: &Update) -> Value {
    let mut owners = update.new.clone();
    for (path, was, members) in ours(update) {
        let (parent, key) = path.split_at(path.len() - 1);
        let Some(parent) = owners
            .pointer_mut(&pointer(parent))
            .and_then(Value::as_object_mut)
        else {
            continue;
        };
        match (members, was) {
            (Some(members), _) => {
                if let Some(inner) = parent.get_mut(&key[0]).and_then(Value::as_object_mut) {
                    inner.retain(|member, _| !members.contains(member));
                }
            }
            (None, Some(was)) => drop(parent.insert(key[0].clone(), was)),
            (None, None) => drop(parent.shift_remove(&key[0])),
        }
    }
    if let Some(annotations) = owners
        .pointer_mut("/metadata/annotations")
        .and_then(Value::as_object_mut)
    {
        annotations.shift_remove(MARK);
    }
    owners
}

/// What we wrote into the old version and still stands in the new one: where, what stood there before, and the members that
/// are ours where the owner has set a handler beside ours.
type Ours = (Vec<String>, Option<Value>, Option<Vec<String>>);

fn ours(update: &Update) -> Vec<Ours> {
    let marked = update.new["metadata"]["annotations"][MARK].is_string();
    if !marked {
        return Vec::new();
    }
    written(&update.owners, &update.old)
        .into_iter()
        .filter_map(|(path, was, wrote)| {
            let path = same_place(&path, &update.old, &update.new)?;
            let stands = at(&update.new, &path)?;
            if same(stands, &wrote) {
                return Some((path, was, None));
            }
            beside(stands.as_object()?, wrote.as_object()?)
                .map(|members| (path, was, Some(members)))
        })
        .collect()
}

/// Every field that we wrote: where, what stood there, and what we wrote.
fn written(owners: &Value, old: &Value) -> Vec<(Vec<String>, Option<Value>, Value)> {
    changes(owners, old).iter().flat_map(fields).collect()
}

/// A change as the fields that it is made of: a parent may have been made with it.
fn fields(change: &Change<'_>) -> Vec<(Vec<String>, Option<Value>, Value)> {
    let Some(new) = change.new else {
        return Vec::new();
    };
    let is_parent = matches!(
        change.path.last().map(String::as_str),
        Some("annotations" | "lifecycle" | "metadata" | "rollingUpdate" | "strategy")
    );
    match new {
        Value::Object(members) if is_parent => members
            .iter()
            .flat_map(|(key, value)| {
                let mut path = change.path.clone();
                path.push(key.clone());
                let old = change.old.and_then(|old| old.get(key));
                fields(&Change {
                    path,
                    old,
                    new: Some(value),
                })
            })
            .collect(),
        value => vec![(change.path.clone(), change.old.cloned(), value.clone())],
    }
}

/// The path of the same field in another version: containers are found again by their names.
fn same_place(path: &[String], old: &Value, new: &Value) -> Option<Vec<String>> {
    let mut found: Vec<String> = Vec::new();
    for (depth, step) in path.iter().enumerate() {
        let step = match at(new, &found)? {
            Value::Array(items) => {
                let name = at(old, &path[..=depth])?.get("name")?;
                items
                    .iter()
                    .position(|item| item.get("name") == Some(name))?
                    .to_string()
            }
            _ => step.clone(),
        };
        found.push(step);
    }
    Some(found)
}

/// The members that are ours where another handler has come to stand beside ours.
fn beside(stands: &Map<String, Value>, wrote: &Map<String, Value>) -> Option<Vec<String>> {
    let handler = wrote.keys().find(|key| HANDLERS.contains(&key.as_str()))?;
    let kept = |key: &String| {
        stands
            .get(key)
            .is_some_and(|value| same(value, &wrote[key]))
    };
    let another = stands
        .iter()
        .any(|(key, value)| HANDLERS.contains(&key.as_str()) && key != handler && !value.is_null());
    (another && kept(handler)).then(|| wrote.keys().filter(|key| kept(key)).cloned().collect())
}
