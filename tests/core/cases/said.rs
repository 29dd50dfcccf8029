//! What was said against what should have been.

use serde_json::Value;
use warmgate::rules;
use warmgate::words::Severity;

use super::expectation::Said;
use crate::lawful::MARK;

/// A finding, of `check` or read off an answer of the webhook.
#[derive(Debug)]
pub(super) struct Spoken {
    pub(super) rule: String,
    pub(super) severity: Severity,
    pub(super) container: Option<String>,
    pub(super) message: String,
}

/// The reasons against what was said of an object with this outcome. `after` is the mended object.
pub(super) fn reasons(wish: &Said, spoken: &[Spoken], outcome: &str, after: &Value) -> Vec<String> {
    let mut reasons = outcome_reason(wish, spoken, outcome);
    reasons.extend(unknown_rules(wish));
    // A finding keeps its severity where the mode of the object, or its owner, turns the refusal into a warning.
    let refuses = |one: &&Spoken| {
        one.severity == Severity::Deny && (outcome == "denied" || !denies(&one.rule))
    };
    let (refusals, others): (Vec<_>, Vec<_>) = spoken.iter().partition(refuses);
    let of = |severity: Severity, rule: &str| {
        others.iter().any(|one| {
            one.rule == rule && (one.severity == Severity::Note) == (severity == Severity::Note)
        })
    };
    for rule in wish
        .deny
        .iter()
        .filter(|rule| !refusals.iter().any(|one| one.rule == **rule))
    {
        reasons.push(format!("no refusal {rule}"));
    }
    for one in refusals.iter().filter(|one| !wish.deny.contains(&one.rule)) {
        reasons.push(format!(
            "the refusal {} should not be there: {}",
            one.rule, one.message
        ));
    }
    for rule in wish
        .warn
        .iter()
        .flatten()
        .filter(|rule| !of(Severity::Warn, rule))
    {
        reasons.push(format!("no warning {rule}"));
    }
    for rule in wish.note.iter().filter(|rule| !of(Severity::Note, rule)) {
        reasons.push(format!("no note {rule}"));
    }
    for one in spoken.iter().filter(|one| wish.silent.contains(&one.rule)) {
        reasons.push(format!("{} should not be said: {}", one.rule, one.message));
    }
    if let Some(wanted) = &wish.warn {
        let welcome = |rule: &String| wanted.contains(rule) || wish.may_warn.contains(rule);
        let warnings = others.iter().filter(|one| one.severity != Severity::Note);
        let unwelcome = warnings.filter(|one| !welcome(&one.rule));
        reasons.extend(unwelcome.map(|one| {
            format!(
                "the warning {} should not be there: {}",
                one.rule, one.message
            )
        }));
    }
    reasons.extend(text_reasons(wish, spoken, after));
    reasons
}

fn outcome_reason(wish: &Said, spoken: &[Spoken], outcome: &str) -> Vec<String> {
    let wanted = match (&wish.outcome, wish.allowed) {
        (Some(outcome), _) => outcome.as_str(),
        (None, Some(false)) => "denied",
        (None, _) => "allowed",
    };
    let accepted: &[&str] = match wanted {
        "skipped" => &["skipped", "allowed"],
        "not-checked" => &["not-checked", "skipped", "nothing"],
        other => &[other],
    };
    if accepted.contains(&outcome) {
        return Vec::new();
    }
    let fatal = spoken.iter().filter(|one| one.severity == Severity::Deny);
    let rules: Vec<&str> = fatal.map(|one| one.rule.as_str()).collect();
    vec![format!("{outcome}, not {wanted} ({})", rules.join(", "))]
}

/// Names in a wish that no rule has: such a wish could never fail.
fn unknown_rules(wish: &Said) -> Vec<String> {
    let said = [
        &wish.deny,
        &wish.may_warn,
        &wish.note,
        &wish.silent,
        &wish.recorded,
    ];
    let named = said.into_iter().flatten().chain(wish.warn.iter().flatten());
    let named = named
        .chain(wish.containers.keys())
        .chain(wish.message_contains.keys());
    named
        .filter(|rule| rules::find(rule).is_none())
        .map(|rule| format!("the expectation names the rule {rule}, which does not exist"))
        .collect()
}

fn text_reasons(wish: &Said, spoken: &[Spoken], after: &Value) -> Vec<String> {
    let mut reasons = Vec::new();
    for (rule, names) in &wish.containers {
        let of_rule = spoken.iter().filter(|one| one.rule == *rule);
        let mut found: Vec<&str> = of_rule
            .map(|one| one.container.as_deref().unwrap_or("none"))
            .collect();
        found.sort_unstable();
        found.dedup();
        let mut wanted: Vec<&str> = names.iter().map(String::as_str).collect();
        wanted.sort_unstable();
        if found != wanted {
            reasons.push(format!("{rule} is said of {found:?}, not of {wanted:?}"));
        }
    }
    for (rule, texts) in &wish.message_contains {
        let of_rule: Vec<&Spoken> = spoken.iter().filter(|one| one.rule == *rule).collect();
        for text in texts {
            if !of_rule
                .iter()
                .any(|one| one.message.contains(text.as_str()))
            {
                let said = of_rule.first().map(|one| one.message.as_str());
                reasons.push(format!(
                    "the message of {rule} does not name {text}: {said:?}"
                ));
            }
        }
    }
    let marks = marks(after);
    for text in &wish.hidden {
        if spoken.iter().any(|one| one.message.contains(text.as_str())) {
            reasons.push("a message shows a value that is to be kept secret".to_owned());
        }
        if marks.iter().any(|mark| mark.contains(text.as_str())) {
            reasons.push(format!(
                "the annotation {MARK} shows a value that is to be kept secret"
            ));
        }
    }
    reasons
}

/// Whether a rule is of severity deny.
fn denies(rule: &str) -> bool {
    rules::find(rule).is_some_and(|rule| rule.severity == Severity::Deny)
}

/// Every record of ours in a document.
fn marks(value: &Value) -> Vec<&str> {
    match value {
        Value::Object(members) => {
            let own = members.get(MARK).and_then(Value::as_str);
            own.into_iter()
                .chain(members.values().flat_map(marks))
                .collect()
        }
        Value::Array(items) => items.iter().flat_map(marks).collect(),
        _ => Vec::new(),
    }
}
