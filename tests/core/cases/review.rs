//! A case that is a review: both endpoints, then again on the object as patched.

use serde_json::{Value, json};
use warmgate::admit::{Decision, Endpoint, admit};
use warmgate::facts::{Facts, Mode, Origin};
use warmgate::review::{Request, Response};
use warmgate::rules;
use warmgate::words::Severity;

use super::expectation::{Expectation, Fix, PatchWish, Review, Said};
use super::judge::apply;
use super::said::{self, Spoken};
use super::{Trouble, best_of, fix};
use crate::lawful::{same, unlawful};

/// Both answers to a review, and those to the review of the patched object.
struct Seen {
    before: Value,
    after: Value,
    mutated: Response,
    validated: Response,
    still_allowed: bool,
    dry_run_alike: bool,
}

pub(super) fn judge(review: &Value, wanted: &Expectation) -> Result<Vec<String>, Trouble> {
    let wishes: Vec<Review> = wanted.documents(1)?;
    let decision = ask(review)?;
    let before = review["request"]["object"].clone();
    let mutated = decision.response(Endpoint::Mutate);
    let validated = decision.response(Endpoint::Validate);
    let mut after = before.clone();
    apply(&mut after, &mutated.patch).map_err(|reason| format!("the patch of mutate: {reason}"))?;
    let mut reasons: Vec<String> = unlawful(&before, &after)
        .into_iter()
        .map(|reason| format!("mutate may not: {reason}"))
        .collect();
    if !validated.patch.0.is_empty() {
        reasons.push("validate answers with a patch".to_owned());
    }
    let again = ask(&with(review, "object", after.clone()))?;
    if !again.response(Endpoint::Mutate).patch.0.is_empty() {
        reasons.push(format!(
            "a second mutate patches again: {}",
            json!(again.patch)
        ));
    }
    let wet = ask(&with(review, "dryRun", json!(false)))?;
    let seen = Seen {
        dry_run_alike: same(&json!(wet.patch), &json!(mutated.patch)),
        still_allowed: again.response(Endpoint::Validate).allowed,
        before,
        after,
        mutated,
        validated,
    };
    let wish = &wishes[0];
    reasons.extend(best_of(wish, &wish.alternatives, |wish| {
        Ok(against(wish, &seen))
    })?);
    Ok(reasons)
}

fn ask(review: &Value) -> Result<Decision, Trouble> {
    let request = Request::from_value(review).map_err(|error| error.to_string())?;
    Ok(admit(
        &request,
        &Facts::new(Mode::Enforce, Origin::Admission),
    ))
}

fn with(review: &Value, member: &str, value: Value) -> Value {
    let mut review = review.clone();
    review["request"][member] = value;
    review
}

fn against(wish: &Review, seen: &Seen) -> Vec<String> {
    let mutate = &wish.mutate;
    let mut reasons = Vec::new();
    if seen.mutated.allowed != mutate.allowed.unwrap_or(true) {
        reasons.push(format!("mutate answers allowed: {}", seen.mutated.allowed));
    }
    match (mutate.patch, seen.mutated.patch.0.first()) {
        (Some(PatchWish::None), Some(_)) => {
            reasons.push(format!("mutate patches: {}", json!(seen.mutated.patch)))
        }
        (Some(PatchWish::Required), None) => reasons.push("mutate does not patch".to_owned()),
        _ => {}
    }
    let fix = Fix {
        values: mutate.values.clone(),
        windows: mutate.windows.clone(),
        only: mutate.only.clone(),
        ..Fix::default()
    };
    reasons.extend(fix::reasons(&fix, &seen.before, &seen.after, true));
    if mutate.dry_run_alike && !seen.dry_run_alike {
        reasons.push("mutate patches otherwise without dryRun".to_owned());
    }
    reasons.extend(said_reasons(&wish.validate, seen));
    let after_fix = wish.after_fix.as_deref().map(|after| after == "allowed");
    if seen.still_allowed != after_fix.or(wish.validate.allowed).unwrap_or(true) {
        reasons.push(format!(
            "after the patch validate answers allowed: {}",
            seen.still_allowed
        ));
    }
    reasons
}

fn said_reasons(wish: &Said, seen: &Seen) -> Vec<String> {
    let response = &seen.validated;
    let outcome = if response.allowed {
        "allowed"
    } else {
        "denied"
    };
    let mut reasons = said::reasons(wish, &spoken(response), outcome, &seen.after);
    let audit = json!(response.audit).to_string();
    let missing = wish
        .recorded
        .iter()
        .filter(|rule| !audit.contains(rule.as_str()));
    reasons.extend(missing.map(|rule| format!("{rule} is in no audit annotation")));
    reasons
}

/// Warnings and the refusal of an answer, in the form of findings.
fn spoken(response: &Response) -> Vec<Spoken> {
    let mut spoken = Vec::new();
    for warning in &response.warnings {
        let rule = rules_in(warning)
            .pop()
            .unwrap_or_else(|| format!("(none) {warning}"));
        let is_note = rules::find(&rule).is_some_and(|rule| rule.severity == Severity::Note);
        let severity = if is_note {
            Severity::Note
        } else {
            Severity::Warn
        };
        spoken.push(Spoken {
            rule,
            severity,
            container: None,
            message: warning.clone(),
        });
    }
    let refusal = response.message.iter().flat_map(|message| {
        rules_in(message)
            .into_iter()
            .map(move |rule| (rule, message))
    });
    spoken.extend(refusal.map(|(rule, message)| Spoken {
        rule,
        severity: Severity::Deny,
        container: None,
        message: message.clone(),
    }));
    spoken
}

/// The rules that a line names: `[rule]` after a space (`containers[engine]` has none before it).
fn rules_in(line: &str) -> Vec<String> {
    let named = line
        .split(" [")
        .skip(1)
        .filter_map(|rest| rest.split_once(']'));
    named
        .map(|(rule, _)| rule.to_owned())
        .filter(|rule| rules::find(rule).is_some())
        .collect()
}
