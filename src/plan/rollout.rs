//! What stands outside the pod template: the deadline of a rollout and its strategy.

use serde_json::{Value, json};

use super::{Edit, EditKind, Site, Why, Withheld, Write, present};
use crate::annotations;
use crate::subject::Subject;
use crate::words::FieldPath;

/// What the API server fills in; it counts as unset (`pkg/apis/apps/v1/defaults.go`).
pub(crate) const DEFAULT_DEADLINE: i64 = 600;

/// What the API server fills in for both numbers of a rolling update.
pub(super) const DEFAULT_SURGE: &str = "25%";

/// "No deadline", as the API spells it.
pub(crate) const NO_DEADLINE: i64 = i32::MAX as i64;

/// Seconds for scheduling and the image pull, on top of the start.
const PULL: i64 = 300;

/// The progress deadline that a startup window needs: each step of a rollout may take that long. What the API's 32 bits do
/// not hold is no deadline at all.
pub(crate) fn needed_deadline(window: i64, min_ready: i64) -> i64 {
    window
        .saturating_add(min_ready)
        .saturating_add(PULL)
        .min(NO_DEADLINE)
}

/// Raises the deadline of a rollout that would be called failed while a healthy start goes on.
pub(super) fn deadline(
    site: &Site<'_>,
    windows: &[i64],
    edits: &mut Vec<Edit>,
    withheld: &mut Vec<Withheld>,
) {
    let Some(path) = site.subject.workload.progress_deadline.clone() else {
        return;
    };
    let Some(window) = windows.iter().max() else {
        return;
    };
    let min_ready = min_ready(site.subject);
    let needed = needed_deadline(*window, min_ready);
    let was = present(site.subject.object, &path).cloned();
    let current = match &was {
        None => DEFAULT_DEADLINE,
        Some(value) => match value.as_i64() {
            Some(current) => current,
            None => return,
        },
    };
    if current >= needed
        || matches!(current, 0 | NO_DEADLINE)
        || !site.facts.config.edits.progress_deadline
    {
        return;
    }
    let why = if current != DEFAULT_DEADLINE {
        Why::OwnersValue(current, needed)
    } else if site.is_applied(&path) {
        Why::Applied
    } else {
        let why = format!(
            "a start may take {window} s, 300 s more to schedule and pull, {current} s before"
        );
        edits.push(Edit {
            kind: EditKind::ProgressDeadline,
            container: None,
            path,
            value: Some(json!(needed)),
            was,
            why,
        });
        return;
    };
    withheld.push(Withheld {
        kind: EditKind::ProgressDeadline,
        container: None,
        path,
        why,
    });
}

/// Seconds for which a new pod must stay ready until it counts.
pub(crate) fn min_ready(subject: &Subject<'_>) -> i64 {
    subject.number(&min_ready_path()).unwrap_or(0)
}

fn min_ready_path() -> FieldPath {
    FieldPath::of(&["spec", "minReadySeconds"])
}

/// Whether the update changes for how long a new pod must stay ready.
pub(super) fn waits_otherwise(subject: &Subject<'_>, write: Write<'_>) -> bool {
    match write {
        Write::Create => true,
        Write::Update(update) => update.changes_field(subject.object, &min_ready_path()),
    }
}

/// Whether the update itself asks for another rollout, on the object's metadata.
pub(super) fn asked_now(subject: &Subject<'_>, write: Write<'_>) -> bool {
    let path = FieldPath::of(&["metadata", "annotations", annotations::ROLLOUT]);
    match write {
        Write::Create => true,
        Write::Update(update) => update.changes_field(subject.object, &path),
    }
}

/// Makes the rolling update that its owner asked for: one pod goes before the next comes.
pub(super) fn strategy(site: &Site<'_>, edits: &mut Vec<Edit>, withheld: &mut Vec<Withheld>) {
    let Some(path) = site
        .subject
        .workload
        .strategy
        .clone()
        .filter(|_| site.facts.config.edits.rollout)
    else {
        return;
    };
    let Some(asked) = &site.intent.rollout else {
        return;
    };
    let strategy = present(site.subject.object, &path);
    if is_no_surge(strategy) {
        return;
    }
    if !counts_as_unset(strategy) {
        withheld.push(Withheld {
            kind: EditKind::Rollout,
            container: None,
            path,
            why: Why::OwnersNone,
        });
        return;
    }
    let rolling = path.key("rollingUpdate");
    let fields = [
        (path.key("type"), json!("RollingUpdate")),
        (rolling.key("maxSurge"), json!(0)),
        (rolling.key("maxUnavailable"), json!(1)),
    ];
    let stands = |path: &FieldPath| present(site.subject.object, path);
    // Who applied by name what is wanted already puts nothing back.
    let missing: Vec<(FieldPath, Value)> = fields
        .into_iter()
        .filter(|(path, value)| stands(path) != Some(value))
        .collect();
    if missing.iter().any(|(path, _)| site.is_applied(path)) {
        withheld.push(Withheld {
            kind: EditKind::Rollout,
            container: None,
            path,
            why: Why::Applied,
        });
        return;
    }
    edits.extend(missing.into_iter().map(|(path, value)| Edit {
        kind: EditKind::Rollout,
        container: None,
        was: stands(&path).cloned(),
        path,
        value: Some(value),
        why: format!("no-surge asked for ({})", asked.source),
    }));
}

/// Whether a Deployment's strategy is what the API server fills in: a rolling update with 25 % and 25 %.
pub(crate) fn counts_as_unset(strategy: Option<&Value>) -> bool {
    let Some(strategy) = strategy else {
        return true;
    };
    let rolling = strategy
        .get("rollingUpdate")
        .filter(|value| !value.is_null());
    let kind = strategy.get("type").filter(|value| !value.is_null());
    let unset = |field: &str| {
        let value = rolling
            .and_then(|rolling| rolling.get(field))
            .filter(|value| !value.is_null());
        value.is_none_or(|value| value == DEFAULT_SURGE)
    };
    strategy.is_object()
        && kind.is_none_or(|kind| kind == "RollingUpdate")
        && unset("maxSurge")
        && unset("maxUnavailable")
}

/// Whether a rollout needs no spare accelerator: no surge, or everything is stopped first.
pub(crate) fn is_no_surge(strategy: Option<&Value>) -> bool {
    let Some(strategy) = strategy else {
        return false;
    };
    let surge = strategy.pointer("/rollingUpdate/maxSurge");
    let none = surge.is_some_and(|surge| {
        surge.as_i64() == Some(0) || matches!(surge.as_str(), Some("0" | "0%"))
    });
    none || strategy.get("type").and_then(Value::as_str) == Some("Recreate")
}
