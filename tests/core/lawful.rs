//! What an edit may do, said without the code that makes edits: only paths of the allow-list change, nothing the owner set
//! is lowered, dropped or moved, and what is added is valid for an API server.

use serde_json::Value;

/// The keys under which probes keep their handler.
const HANDLERS: [&str; 4] = ["exec", "grpc", "httpGet", "tcpSocket"];
pub(crate) const MARK: &str = "warmgate.io/changes";
const ROLLOUT: &str = "warmgate.io/rollout";
const TIMEOUT_FLOOR: &str = "warmgate.io/probe-timeout";
const STARTUP_TIME: &str = "warmgate.io/max-startup-time";

/// One difference between two documents; `null` counts as absent. What is added or removed as a whole comes as one.
pub(crate) struct Change<'v> {
    pub(crate) path: Vec<String>,
    pub(crate) old: Option<&'v Value>,
    pub(crate) new: Option<&'v Value>,
}

/// Every difference between two documents.
pub(crate) fn changes<'v>(before: &'v Value, after: &'v Value) -> Vec<Change<'v>> {
    let mut found = Vec::new();
    walk(Some(before), Some(after), &mut Vec::new(), &mut found);
    found
}

fn walk<'v>(
    before: Option<&'v Value>,
    after: Option<&'v Value>,
    path: &mut Vec<String>,
    found: &mut Vec<Change<'v>>,
) {
    match (before, after) {
        (Some(Value::Object(old)), Some(Value::Object(new))) => {
            let added = new.keys().filter(|key| !old.contains_key(*key));
            for key in old.keys().chain(added) {
                path.push(key.clone());
                walk(old.get(key), new.get(key), path, found);
                path.pop();
            }
        }
        (Some(Value::Array(old)), Some(Value::Array(new))) if old.len() == new.len() => {
            for (index, (old, new)) in old.iter().zip(new).enumerate() {
                path.push(index.to_string());
                walk(Some(old), Some(new), path, found);
                path.pop();
            }
        }
        (Some(old), Some(new)) if same(old, new) => {}
        _ => found.push(Change {
            path: path.clone(),
            old: before.filter(|value| !value.is_null()),
            new: after.filter(|value| !value.is_null()),
        }),
    }
}

/// Whether two values are the same to a reader of JSON, to whom `3.0` is `3` and order means nothing.
pub(crate) fn same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => {
            one == other || one.as_f64() == other.as_f64()
        }
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| same(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            one.len() == other.len()
                && one
                    .iter()
                    .all(|(key, value)| other.get(key).is_some_and(|other| same(value, other)))
        }
        _ => one == other,
    }
}

/// Whether two values are written alike, byte for byte.
pub(crate) fn identical(one: &Value, other: &Value) -> bool {
    let (one, other) = (one.to_string(), other.to_string());
    one == other
}

/// The changes that no edit may make, each with the reason.
pub(crate) fn unlawful(before: &Value, after: &Value) -> Vec<String> {
    unlawful_under(&Value::Null, before, after)
}

/// The same where the namespace has default annotations: two of them are floors.
pub(crate) fn unlawful_under(defaults: &Value, before: &Value, after: &Value) -> Vec<String> {
    let judge = Judge {
        defaults,
        before,
        after,
    };
    changes(before, after)
        .iter()
        .filter_map(|change| {
            Some(format!(
                "{}: {}",
                pointer(&change.path),
                judge.objection(change)?
            ))
        })
        .collect()
}

/// Whether a change is the mark on an object, or the copy of one of its annotations into its template.
pub(crate) fn is_our_annotation(change: &Change<'_>, before: &Value) -> bool {
    let path: Vec<&str> = change.path.iter().map(String::as_str).collect();
    // A missing parent is added together with the annotations.
    if let ([.., "metadata" | "annotations"], None, Some(Value::Object(members))) =
        (path.as_slice(), change.old, change.new)
    {
        let inside = |(key, value): (&String, &Value)| {
            let mut path = change.path.clone();
            path.push(key.clone());
            is_our_annotation(
                &Change {
                    path,
                    old: None,
                    new: Some(value),
                },
                before,
            )
        };
        return !members.is_empty() && members.iter().all(inside);
    }
    let [place @ .., "metadata", "annotations", key] = path.as_slice() else {
        return false;
    };
    let home: &[&str] = if place.first() == Some(&"items") {
        &place[..2.min(place.len())]
    } else {
        &[]
    };
    if *key == MARK {
        return place == home && change.new.is_none_or(Value::is_string);
    }
    let mut own = home
        .iter()
        .map(|step| (*step).to_owned())
        .collect::<Vec<_>>();
    own.extend([
        "metadata".to_owned(),
        "annotations".to_owned(),
        (*key).to_owned(),
    ]);
    let is_copy = at(before, &own).is_some_and(|value| change.new == Some(value));
    place != home
        && is_ours(key)
        && is_copy
        && (change.old.is_none() || recorded(&change.path, before).is_some())
}

fn is_ours(key: &str) -> bool {
    key.starts_with("warmgate.io/") || key.starts_with("allow.warmgate.io/")
}

/// What the record on an object says of a field, or of one around it.
fn recorded(path: &[String], object: &Value) -> Option<Value> {
    let text = object
        .pointer("/metadata/annotations/warmgate.io~1changes")?
        .as_str()?;
    let records: Value = serde_json::from_str(text).ok()?;
    let name = named(path, object);
    let covers = |key: &str| {
        name.strip_prefix(key)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
    };
    records
        .as_object()?
        .iter()
        .find(|(key, _)| covers(key))
        .map(|(_, record)| record.clone())
}

/// A path with the names of containers in place of their numbers, as the record writes it.
fn named(path: &[String], object: &Value) -> String {
    let mut text = String::new();
    for (depth, step) in path.iter().enumerate() {
        let here = at(object, &path[..depth]);
        if here.is_some_and(Value::is_array) {
            let name = at(object, &path[..=depth]).and_then(|item| item.get("name")?.as_str());
            text.push_str(&format!("[{}]", name.unwrap_or(step)));
        } else if step.contains(['.', '/']) {
            text.push_str(&format!("[{step}]"));
        } else {
            let dot = if text.is_empty() { "" } else { "." };
            text.push_str(&format!("{dot}{step}"));
        }
    }
    text
}

/// The value at a path.
pub(crate) fn at<'v>(document: &'v Value, path: &[String]) -> Option<&'v Value> {
    path.iter().try_fold(document, |value, step| match value {
        Value::Array(items) => items.get(step.parse::<usize>().ok()?),
        value => value.get(step),
    })
}

/// A path as a JSON pointer.
pub(crate) fn pointer(path: &[String]) -> String {
    path.iter()
        .map(|step| format!("/{}", step.replace('~', "~0").replace('/', "~1")))
        .collect()
}

/// The steps of a JSON pointer.
pub(crate) fn steps(pointer: &str) -> Vec<String> {
    let unescape = |step: &str| step.replace("~1", "/").replace("~0", "~");
    pointer.split('/').skip(1).map(unescape).collect()
}

/// Why an operation of a patch may not be used at all.
pub(crate) fn objection_to(operation: &Value, object: &Value) -> Option<String> {
    let path = steps(operation["path"].as_str().unwrap_or_default());
    let pointer = pointer(&path);
    let [parents @ .., name] = path.as_slice() else {
        return Some("it replaces the whole object".to_owned());
    };
    let parent = at(object, parents);
    if !parent.is_some_and(Value::is_object) {
        return Some(format!("{pointer}: its parent is not there"));
    }
    let keys: Vec<&str> = path.iter().map(String::as_str).collect();
    if !is_allowed_path(&keys) {
        return Some(format!("{pointer}: not among the paths that may change"));
    }
    match operation["op"].as_str() {
        Some("add") => {
            let replaced = at(object, &path).is_some_and(Value::is_object);
            let is_map = matches!(
                name.as_str(),
                "annotations" | "lifecycle" | "metadata" | "startupProbe"
            );
            let is_ours = recorded(&path, object).is_some();
            (replaced && is_map && !is_ours)
                .then(|| format!("{pointer}: replaces a map that is there"))
        }
        Some("remove") => {
            let is_ours = name == MARK || recorded(&path, object).is_some();
            (!is_ours).then(|| format!("{pointer}: takes out what is not recorded as ours"))
        }
        other => Some(format!("{pointer}: {other:?} is not used")),
    }
}

/// Where kinds keep their pod templates; a Pod is its own.
const TEMPLATES: [&[&str]; 5] = [
    &[],
    &["spec", "template"],
    &["spec", "jobTemplate", "spec", "template"],
    &["spec", "leaderWorkerTemplate", "leaderTemplate"],
    &["spec", "leaderWorkerTemplate", "workerTemplate"],
];

/// Whether an edit may write, or take out, a field.
pub(crate) fn is_allowed_path(keys: &[&str]) -> bool {
    let in_template = |place: &&[&str]| {
        let below = keys.strip_prefix(*place);
        below.is_some_and(is_allowed_in_template)
    };
    match keys {
        ["spec", "progressDeadlineSeconds"] => true,
        ["spec", "strategy", rest @ ..] => matches!(
            rest,
            [] | ["type"] | ["rollingUpdate"] | ["rollingUpdate", "maxSurge" | "maxUnavailable"]
        ),
        _ => TEMPLATES.iter().any(in_template),
    }
}

fn is_allowed_in_template(keys: &[&str]) -> bool {
    let is_number = |step: &str| step.bytes().all(|byte| byte.is_ascii_digit());
    match keys {
        ["metadata"] | ["metadata", "annotations"] => true,
        ["metadata", "annotations", key] => is_ours(key),
        ["spec", "terminationGracePeriodSeconds"] => true,
        ["spec", "containers" | "initContainers", number, rest @ ..] if is_number(number) => {
            matches!(
                rest,
                ["startupProbe", ..]
                    | ["livenessProbe" | "readinessProbe", "timeoutSeconds"]
                    | ["lifecycle"]
                    | ["lifecycle", "preStop", ..]
            )
        }
        _ => false,
    }
}

struct Judge<'v> {
    defaults: &'v Value,
    before: &'v Value,
    after: &'v Value,
}

impl Judge<'_> {
    fn declares(&self, key: &str) -> bool {
        declares(self.before, key) || self.defaults.get(key).is_some()
    }

    fn objection(&self, change: &Change<'_>) -> Option<String> {
        if is_our_annotation(change, self.before) {
            return None;
        }
        let path: Vec<&str> = change.path.iter().map(String::as_str).collect();
        if let Some(record) = recorded(&change.path, self.before) {
            return self.objection_to_renewal(change, &record);
        }
        let Some(new) = change.new else {
            return Some("removed".to_owned());
        };
        if let Some(field) = inside_container(&path, self.before) {
            return self.objection_in_container(change, new, field);
        }
        self.objection_outside(change, new, &path)
    }

    /// What was ours may be made anew or taken out, but never fall below what stood there before.
    fn objection_to_renewal(&self, change: &Change<'_>, record: &Value) -> Option<String> {
        let was = record.get("was").and_then(Value::as_i64);
        match (change.new, was) {
            (None, Some(was)) => Some(format!("removed, and {was} stood there before us")),
            (Some(new), Some(was)) if new.as_i64().is_none_or(|new| new < was) => {
                Some(format!("{new}, and {was} stood there before us"))
            }
            _ => self.invalid_around(change),
        }
    }

    /// Whether the probe or hook in which a renewal happened is valid still.
    fn invalid_around(&self, change: &Change<'_>) -> Option<String> {
        let place = change.path.iter().position(|step| step == "startupProbe")?;
        let probe = at(self.after, &change.path[..=place])?;
        invalid_probe(probe)
    }

    fn objection_in_container(
        &self,
        change: &Change<'_>,
        new: &Value,
        field: &[&str],
    ) -> Option<String> {
        let path = &change.path;
        match (field, change.old) {
            (["startupProbe"], None) => invalid_probe(new),
            (["startupProbe"], Some(_)) => Some("the owner's, not to be changed".to_owned()),
            (["startupProbe", "failureThreshold"], old)
                if is_owned(self.before) && self.declares(STARTUP_TIME) =>
            {
                not_more(old, new)
            }
            (["livenessProbe" | "readinessProbe", "timeoutSeconds"], old) => {
                let floor = self.declares(TIMEOUT_FLOOR) && old.is_some();
                if floor && not_more(old, new).is_none() {
                    None
                } else {
                    not_raised(old, new, 1)
                }
            }
            (["lifecycle"], None) => match new.as_object() {
                Some(hooks) if hooks.len() == 1 && hooks.contains_key("preStop") => {
                    self.invalid_pre_stop(&new["preStop"], &path[..path.len() - 3])
                }
                _ => Some(format!("only a preStop may be added, not {new}")),
            },
            (["lifecycle", "preStop"], None) => self.invalid_pre_stop(new, &path[..path.len() - 4]),
            _ => Some("not among the paths that may change".to_owned()),
        }
    }

    fn objection_outside(&self, change: &Change<'_>, new: &Value, path: &[&str]) -> Option<String> {
        let parent = at(self.before, &change.path[..path.len().saturating_sub(1)]);
        match path {
            [.., "terminationGracePeriodSeconds"]
                if parent.is_some_and(|spec| spec.get("containers").is_some()) =>
            {
                let hooked = parent.is_some_and(has_hook);
                if hooked && change.old.is_some() && not_more(change.old, new).is_none() {
                    None
                } else {
                    not_raised(change.old, new, 30)
                }
            }
            [.., "spec", "progressDeadlineSeconds"] => not_raised(change.old, new, 600),
            _ if path.windows(2).any(|two| two == ["spec", "strategy"])
                && self.declares(ROLLOUT) =>
            {
                None
            }
            _ => Some("not among the paths that may change".to_owned()),
        }
    }

    fn invalid_pre_stop(&self, hook: &Value, pod: &[String]) -> Option<String> {
        let sleep = hook.get("sleep")?;
        let mut path = pod.to_vec();
        path.push("terminationGracePeriodSeconds".to_owned());
        let grace = at(self.after, &path)
            .filter(|grace| !grace.is_null())
            .map_or(Some(30), Value::as_i64);
        let seconds = sleep.get("seconds").and_then(Value::as_i64);
        match (seconds, grace) {
            (Some(seconds), Some(grace)) if (1..=grace).contains(&seconds) => None,
            _ => Some(format!(
                "the API server refuses {sleep} with a grace period of {grace:?}"
            )),
        }
    }
}

/// Why a number is no raise of what stood there; `None` if it is.
fn not_more(old: Option<&Value>, new: &Value) -> Option<String> {
    match (old.and_then(Value::as_i64), new.as_i64()) {
        (Some(old), Some(new)) if new > old => None,
        // The API server reads 0 as the default of 3.
        (None, Some(new)) if new > 3 => None,
        _ => Some(format!("{old:?} to {new} is no raise")),
    }
}

/// Why a number is not what counts as unset and raised; `None` if it is.
fn not_raised(old: Option<&Value>, new: &Value, default: i64) -> Option<String> {
    let Some(new) = new.as_i64() else {
        return Some(format!("{new} is no number"));
    };
    // The API server fills in the default of a timeout that is 0 as well.
    let unset =
        |old: &Value| old.as_i64() == Some(default) || (default == 1 && old.as_i64() == Some(0));
    match old {
        Some(old) if !unset(old) => Some(format!("{old} is the owner's, not to be changed")),
        _ => (new < default).then(|| format!("{new} is lower than the default {default}")),
    }
}

/// Whether an annotation of that key stands anywhere in a document.
fn declares(value: &Value, key: &str) -> bool {
    match value {
        Value::Object(members) => {
            let here = value
                .get("metadata")
                .and_then(|it| it.get("annotations"))
                .is_some_and(|it| it.get(key).is_some());
            here || members.values().any(|value| declares(value, key))
        }
        Value::Array(items) => items.iter().any(|value| declares(value, key)),
        _ => false,
    }
}

fn is_owned(document: &Value) -> bool {
    let owners = document
        .pointer("/metadata/ownerReferences")
        .and_then(Value::as_array);
    owners
        .into_iter()
        .flatten()
        .any(|owner| owner["controller"] == true)
}

/// Whether a container of a pod spec has a preStop hook.
fn has_hook(spec: &Value) -> bool {
    ["containers", "initContainers"]
        .into_iter()
        .filter_map(|list| spec.get(list)?.as_array())
        .flatten()
        .any(|container| {
            container
                .pointer("/lifecycle/preStop")
                .is_some_and(|hook| !hook.is_null())
        })
}

/// The path below a container of a pod, or `None` if it does not lead into one.
fn inside_container<'p, 's>(path: &'p [&'s str], document: &Value) -> Option<&'p [&'s str]> {
    let place = path
        .iter()
        .position(|step| matches!(*step, "containers" | "initContainers"))?;
    let steps: Vec<String> = path[..=place]
        .iter()
        .map(|step| (*step).to_owned())
        .collect();
    (place + 1 < path.len() && at(document, &steps)?.is_array()).then(|| &path[place + 2..])
}

fn invalid_probe(probe: &Value) -> Option<String> {
    let handlers = HANDLERS
        .into_iter()
        .filter(|key| probe.get(key).is_some_and(|it| !it.is_null()));
    if handlers.count() != 1 {
        return Some(format!("a probe needs one handler: {probe}"));
    }
    let refused = [
        "failureThreshold",
        "periodSeconds",
        "terminationGracePeriodSeconds",
        "timeoutSeconds",
    ]
    .into_iter()
    .find(|name| {
        probe
            .get(name)
            .is_some_and(|value| value.as_i64().is_none_or(|value| value < 1))
    });
    refused.map(|name| format!("the API server refuses {name} {}", probe[name]))
}
