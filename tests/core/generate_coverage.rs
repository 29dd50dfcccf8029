//! Whether everything that can happen is drawn.

use std::collections::BTreeSet;

use serde_json::Value;
use warmgate::admit::{Decision, Outcome, admit};
use warmgate::intent::SkipReason;
use warmgate::plan::{EditKind, Why};
use warmgate::rules::RULES;

use crate::generate::{drawn, drawn_update, draws};
use crate::lawful::{identical, same};

const DRAWS: usize = 20_000;

#[test]
fn every_edit_rule_and_reason_is_drawn() {
    let mut missing = wanted();
    for bytes in draws().take(DRAWS) {
        for decision in decisions(&bytes) {
            for word in words(&decision) {
                missing.remove(word.as_str());
            }
        }
        if missing.is_empty() {
            break;
        }
    }
    assert!(missing.is_empty(), "never drawn: {missing:?}");
}

/// Everything that a decision can show.
fn wanted() -> BTreeSet<String> {
    let edits = EditKind::ALL
        .iter()
        .map(|kind| format!("edit {}", kind.word()));
    let rules = RULES.iter().map(|rule| format!("rule {}", rule.id));
    let skips = SkipReason::ALL
        .iter()
        .map(|reason| format!("skip {}", reason.word()));
    let withheld = WITHHELD.iter().map(|why| format!("withheld {why}"));
    edits.chain(rules).chain(skips).chain(withheld).collect()
}

fn words(decision: &Decision) -> Vec<String> {
    let edits = decision
        .edits
        .iter()
        .map(|edit| format!("edit {}", edit.kind.word()));
    let rules = decision
        .findings
        .iter()
        .map(|finding| format!("rule {}", finding.rule));
    let withheld = decision
        .withheld
        .iter()
        .map(|withheld| format!("withheld {}", word(&withheld.why)));
    let skip = match &decision.outcome {
        Outcome::Skipped(skip) => Some(format!("skip {}", skip.reason.word())),
        _ => None,
    };
    edits.chain(rules).chain(withheld).chain(skip).collect()
}

const WITHHELD: [&str; 8] = [
    "applied",
    "bad handler",
    "behind mesh",
    "exceeds grace",
    "no sleep",
    "owner's none",
    "owner's value",
    "ready gate",
];

fn word(why: &Why) -> &'static str {
    match why {
        Why::Applied => "applied",
        Why::BadHandler(_) => "bad handler",
        Why::BehindMesh => "behind mesh",
        Why::ExceedsGrace(..) => "exceeds grace",
        Why::NoSleep => "no sleep",
        Why::OwnersNone => "owner's none",
        Why::OwnersValue(..) => "owner's value",
        Why::ReadyGate(_) => "ready gate",
    }
}

#[test]
fn every_second_object_is_strange() {
    let (mut strange, mut unknown, mut order, mut types) = (0, 0, 0, 0);
    for bytes in draws().take(2_000) {
        let drawn = drawn(&bytes);
        if identical(&drawn.plain, &drawn.object) {
            continue;
        }
        strange += 1;
        if same(&drawn.plain, &drawn.object) {
            order += 1;
        } else if keeps_everything(&drawn.plain, &drawn.object) {
            unknown += 1;
        } else {
            types += 1;
        }
    }
    assert!(
        (800..1_200).contains(&strange),
        "{strange} of 2000 are strange"
    );
    assert!(
        unknown > 100 && order > 50 && types > 100,
        "unknown fields {unknown}, order {order}, types {types}"
    );
}

/// Whether everything of one object stands in another, which may have more.
fn keeps_everything(plain: &Value, strange: &Value) -> bool {
    match (plain, strange) {
        (Value::Object(plain), Value::Object(strange)) => plain.iter().all(|(key, value)| {
            strange
                .get(key)
                .is_some_and(|other| keeps_everything(value, other))
        }),
        (Value::Array(plain), Value::Array(strange)) => {
            plain.len() == strange.len()
                && plain
                    .iter()
                    .zip(strange)
                    .all(|(one, other)| keeps_everything(one, other))
        }
        _ => plain == strange,
    }
}

/// The decisions on both requests that bytes can make: of a new object, and of an update.
fn decisions(bytes: &[u8]) -> [Decision; 2] {
    let (drawn, update) = (drawn(bytes), drawn_update(bytes));
    [
        admit(&drawn.create(), &drawn.facts),
        admit(&update.request(), &update.facts()),
    ]
}
