//! A case that is a manifest: `check` and `fix`, `fix` again, and `check` of what `fix` makes.

use std::collections::HashMap;
use std::sync::Arc;

use json_patch::Patch;
use serde_json::{Value, json};
use warmgate::admit::{Decision, Outcome, admit};
use warmgate::facts::{Facts, Mode, Origin, Version, collect};
use warmgate::manifest::Manifest;
use warmgate::review::{Kind, Operation, Request};
use warmgate::subject::group_and_kind;
use warmgate::words::Segment;

use super::expectation::{Document, Expectation, Variant};
use super::said::{self, Spoken};
use super::{Trouble, best_of, fix};
use crate::lawful::{objection_to, unlawful};

/// The outcomes, the gravest first.
const OUTCOMES: [&str; 4] = ["denied", "allowed", "skipped", "not-checked"];

pub(super) fn judge(manifest: &Manifest, wanted: &Expectation) -> Result<Vec<String>, Trouble> {
    let before = documents(manifest);
    let wishes: Vec<Document> = wanted.documents(before.len())?;
    let decisions = check(manifest, &facts_of(manifest));
    let fixed_text = fixed(manifest, &decisions)?;
    let fixed_manifest = Manifest::read("", &fixed_text);
    let after = documents(&fixed_manifest);
    if after.len() != before.len() || !fixed_manifest.errors.is_empty() {
        return Err(format!(
            "fix makes {} documents of {}",
            after.len(),
            before.len()
        ));
    }
    let decisions_after = check(&fixed_manifest, &facts_of(&fixed_manifest));
    let mut reasons: Vec<String> = lost_comments(manifest.text(), &fixed_text)
        .map(|comment| format!("fix loses {comment:?}"))
        .collect();
    if fixed(&fixed_manifest, &decisions_after)? != fixed_text {
        reasons.push("a second fix changes something".to_owned());
    }
    for (number, wish) in wishes.iter().enumerate() {
        let of = |decisions: &[Decision], manifest: &Manifest| -> Vec<Decision> {
            let here = manifest
                .objects
                .iter()
                .zip(decisions)
                .filter(|(object, _)| object.document == number);
            here.map(|(_, decision)| decision.clone()).collect()
        };
        let seen = Seen {
            before: &before[number],
            after: &after[number],
            same_text: chunk(manifest.text(), number) == chunk(&fixed_text, number),
            decisions: of(&decisions, manifest),
            outcome_after: gravest(&of(&decisions_after, &fixed_manifest)),
        };
        let found = general(&seen, manifest, number);
        let found = found
            .into_iter()
            .chain(best_of(wish, &wish.alternatives, |wish| {
                Ok(against(wish, &seen))
            })?);
        reasons.extend(found.map(|reason| {
            if wishes.len() > 1 {
                format!("doc {number}: {reason}")
            } else {
                reason
            }
        }));
    }
    for variant in &wanted.variants {
        reasons.extend(judge_variant(manifest, &before, variant)?);
    }
    Ok(reasons)
}

/// A document, what was made of it and what was said of it.
struct Seen<'v> {
    before: &'v Value,
    after: &'v Value,
    same_text: bool,
    decisions: Vec<Decision>,
    outcome_after: &'static str,
}

fn facts_of(manifest: &Manifest) -> Facts {
    let (cluster, neighbours) = collect(manifest.objects.iter().map(|object| &object.value), "");
    Facts {
        cluster: Arc::new(cluster),
        neighbours: Some(Arc::new(neighbours)),
        ..Facts::new(Mode::Enforce, Origin::File)
    }
}

fn check(manifest: &Manifest, facts: &Facts) -> Vec<Decision> {
    manifest
        .objects
        .iter()
        .map(|object| admit(&request(&object.value), facts))
        .collect()
}

fn request(object: &Value) -> Request {
    let (group, kind) = group_and_kind(object).unwrap_or_default();
    Request {
        uid: "a-file".to_owned(),
        kind: Kind {
            group: group.to_owned(),
            version: String::new(),
            kind: kind.to_owned(),
        },
        operation: Operation::Create,
        object: Some(object.clone()),
        ..Request::default()
    }
}

fn fixed(manifest: &Manifest, decisions: &[Decision]) -> Result<String, Trouble> {
    let patches: Vec<(usize, &Patch)> = decisions
        .iter()
        .enumerate()
        .map(|(index, decision)| (index, &decision.patch))
        .collect();
    manifest
        .edit(&patches)
        .map_err(|error| format!("fix: {error}"))
}

/// The whole documents of a manifest; of a List only the items count.
fn documents(manifest: &Manifest) -> Vec<Value> {
    let count = manifest
        .objects
        .last()
        .map_or(0, |object| object.document + 1);
    let mut documents = vec![Value::Null; count];
    for object in &manifest.objects {
        let document = &mut documents[object.document];
        match object.base.segments() {
            [] => *document = object.value.clone(),
            [Segment::Key(items), Segment::Index(_)] if items == "items" => {
                if document.is_null() {
                    *document = json!({"kind": "List", "items": []});
                }
                document["items"]
                    .as_array_mut()
                    .expect("a List has items")
                    .push(object.value.clone());
            }
            deeper => panic!("no case nests Lists: {deeper:?}"),
        }
    }
    documents
}

/// What holds for every document, whatever is expected of it.
fn general(seen: &Seen<'_>, manifest: &Manifest, number: usize) -> Vec<String> {
    let mut reasons: Vec<String> = unlawful(seen.before, seen.after)
        .into_iter()
        .map(|reason| format!("fix may not: {reason}"))
        .collect();
    let mut patched = seen.before.clone();
    let objects = manifest
        .objects
        .iter()
        .filter(|object| object.document == number);
    for (object, decision) in objects.zip(&seen.decisions) {
        let place = patched
            .pointer_mut(&object.base.pointer())
            .expect("an object stands in its document");
        if let Err(reason) = apply(place, &decision.patch) {
            reasons.push(format!("the patch of check: {reason}"));
        }
    }
    if reasons.is_empty() && !crate::lawful::same(&patched, seen.after) {
        reasons.push("the patch of check and the output of fix differ".to_owned());
    }
    reasons
}

/// Applies a patch as strictly as the API server, after a look at each operation.
pub(super) fn apply(object: &mut Value, patch: &Patch) -> Result<(), Trouble> {
    for operation in &patch.0 {
        let written = serde_json::to_value(operation).map_err(|error| error.to_string())?;
        if let Some(objection) = objection_to(&written, object) {
            return Err(objection);
        }
        json_patch::patch(object, std::slice::from_ref(operation))
            .map_err(|error| error.to_string())?;
    }
    Ok(())
}

fn against(wish: &Document, seen: &Seen<'_>) -> Vec<String> {
    let mut reasons = fix::reasons(&wish.fix, seen.before, seen.after, seen.same_text);
    let spoken: Vec<Spoken> = seen
        .decisions
        .iter()
        .flat_map(|decision| &decision.findings)
        .map(|finding| Spoken {
            rule: finding.rule.to_owned(),
            severity: finding.severity,
            container: finding.container.clone(),
            message: finding.message.clone(),
        })
        .collect();
    reasons.extend(said::reasons(
        &wish.check,
        &spoken,
        gravest(&seen.decisions),
        seen.after,
    ));
    let wanted = wish.after_fix.as_deref().unwrap_or("allowed");
    if (seen.outcome_after == "denied") != (wanted == "denied") {
        reasons.push(format!(
            "after the fix it is {}, not {wanted}",
            seen.outcome_after
        ));
    }
    reasons
}

/// The outcome of a document: of its object, or the gravest of the items of a List.
fn gravest(decisions: &[Decision]) -> &'static str {
    let is = |word: &&&str| decisions.iter().any(|decision| outcome(decision) == **word);
    OUTCOMES.iter().find(is).copied().unwrap_or("nothing")
}

fn outcome(decision: &Decision) -> &'static str {
    match decision.outcome {
        // Well-known kinds without pods are left out of a report; "not-checked" will do for them here.
        Outcome::NotChecked(_) => "not-checked",
        ref other => other.word(),
    }
}

fn judge_variant(
    manifest: &Manifest,
    before: &[Value],
    variant: &Variant,
) -> Result<Vec<String>, Trouble> {
    let kubernetes = match variant.args.as_slice() {
        [flag, version] if flag == "--kubernetes-version" => Version::parse(version),
        _ => None,
    };
    let kubernetes =
        kubernetes.ok_or_else(|| format!("arguments nobody knows: {:?}", variant.args))?;
    let decisions = check(
        manifest,
        &Facts {
            kubernetes,
            ..facts_of(manifest)
        },
    );
    let mut reasons = Vec::new();
    for ((wish, before), decision) in variant.documents.iter().zip(before).zip(&decisions) {
        let mut after = before.clone();
        apply(&mut after, &decision.patch)?;
        let found = fix::reasons(&wish.fix, before, &after, true)
            .into_iter()
            .chain(unlawful(before, &after));
        reasons.extend(found.map(|reason| format!("with {}: {reason}", variant.args.join(" "))));
    }
    Ok(reasons)
}

/// The text of one document, its outer blanks left out.
fn chunk(text: &str, number: usize) -> String {
    let mut chunks = vec![String::new()];
    for line in text.lines() {
        if line == "---" || line.starts_with("--- ") {
            chunks.push(String::new());
        } else if let Some(chunk) = chunks.last_mut() {
            chunk.push_str(line);
            chunk.push('\n');
        }
    }
    if chunks.len() > 1 && chunks[0].trim().is_empty() {
        chunks.remove(0);
    }
    chunks
        .get(number)
        .map(|chunk| chunk.trim().to_owned())
        .unwrap_or_default()
}

/// The comments that one text has and the other has not as often.
fn lost_comments(before: &str, after: &str) -> impl Iterator<Item = String> {
    let mut counts: HashMap<&str, i64> = HashMap::new();
    comments(before).for_each(|comment| *counts.entry(comment).or_default() += 1);
    comments(after).for_each(|comment| *counts.entry(comment).or_default() -= 1);
    let lost: Vec<String> = counts
        .into_iter()
        .filter(|(_, count)| *count > 0)
        .map(|(text, _)| text.to_owned())
        .collect();
    lost.into_iter()
}

/// The comments of a YAML text: whole lines, and those after a value without quotes.
fn comments(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(|line| {
        let line = line.trim();
        if line.starts_with('#') {
            return Some(line);
        }
        let (value, _) = line.split_once(" #")?;
        (!value.contains(['"', '\''])).then(|| line[value.len()..].trim())
    })
}
