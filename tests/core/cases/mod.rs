//! The cases of `tests/cases`: manifests and reviews as people wrote them, each with what is right. The README there says
//! what an expectation means.

mod expectation;
mod fix;
mod judge;
mod review;
mod said;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::Value;
use warmgate::manifest::Manifest;

use expectation::Expectation;

/// Why a case cannot be judged any further.
type Trouble = String;

#[test]
fn every_case_is_as_it_should_be() {
    let cases = cases().expect("the folder of the cases can be read");
    assert!(cases.len() >= 42, "only {} cases", cases.len());
    let mut failed = Vec::new();
    for (name, files) in &cases {
        let reasons = match (&files.case, &files.expectation) {
            (Some(case), Some(expectation)) => {
                judge_case(case, expectation).unwrap_or_else(|trouble| vec![trouble])
            }
            (Some(_), None) => vec!["it has no expectation".to_owned()],
            (None, _) => vec!["there is no such case".to_owned()],
        };
        if !reasons.is_empty() {
            failed.push(format!("{name}:\n    {}", reasons.join("\n    ")));
        }
    }
    let (all, bad) = (cases.len(), failed.len());
    assert!(
        failed.is_empty(),
        "{bad} of {all} cases fail\n{}",
        failed.join("\n")
    );
}

#[test]
fn the_index_names_every_case_once() {
    let index = std::fs::read_to_string(folder().join("INDEX.md"))
        .expect("tests/cases/INDEX.md can be read");
    let mut listed: Vec<&str> = index
        .lines()
        .filter_map(|line| line.strip_prefix("| ")?.split_once(".yaml |"))
        .map(|(name, _)| name)
        .collect();
    listed.sort_unstable();
    let cases = cases().expect("the folder of the cases can be read");
    let names: Vec<&str> = cases.keys().map(String::as_str).collect();
    assert_eq!(listed, names);
}

/// The two files of a case.
#[derive(Default)]
struct Files {
    case: Option<PathBuf>,
    expectation: Option<PathBuf>,
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases")
}

fn cases() -> std::io::Result<BTreeMap<String, Files>> {
    let mut cases: BTreeMap<String, Files> = BTreeMap::new();
    for entry in std::fs::read_dir(folder())? {
        let path = entry?.path();
        let file = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        if let Some(name) = file.strip_suffix(".expect.yaml") {
            cases.entry(name.to_owned()).or_default().expectation = Some(path);
        } else if let Some(name) = file.strip_suffix(".yaml") {
            cases.entry(name.to_owned()).or_default().case = Some(path);
        }
    }
    Ok(cases)
}

/// The reasons why a case fails; none if it passes.
fn judge_case(case: &Path, expectation: &Path) -> Result<Vec<String>, Trouble> {
    let text = read(case)?;
    let wanted = Manifest::read("", &read(expectation)?);
    let [wanted] = wanted.objects.as_slice() else {
        return Err(format!("the expectation is no map: {:?}", wanted.errors));
    };
    let wanted: Expectation = serde_json::from_value(wanted.value.clone())
        .map_err(|error| format!("the expectation is wrong: {error}"))?;
    let manifest = Manifest::read("", &text);
    if let Some(error) = manifest.errors.first() {
        return Err(format!("it cannot be read: {error}"));
    }
    match manifest.objects.as_slice() {
        [review] if review.value["kind"] == "AdmissionReview" => {
            review::judge(&review.value, &wanted)
        }
        _ => judge::judge(&manifest, &wanted),
    }
}

fn read(path: &Path) -> Result<String, Trouble> {
    std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}

/// A value, shortened for a reason.
fn show(value: Option<&Value>) -> String {
    let text = value.map_or_else(|| "absent".to_owned(), Value::to_string);
    warmgate::words::clip(&text, 160)
}

/// The reasons against the expectation itself, unless one of its alternatives holds.
fn best_of<W>(
    wish: &W,
    alternatives: &[W],
    reasons: impl Fn(&W) -> Result<Vec<String>, Trouble>,
) -> Result<Vec<String>, Trouble> {
    let against = reasons(wish)?;
    for other in alternatives {
        if against.is_empty() || reasons(other)?.is_empty() {
            return Ok(Vec::new());
        }
    }
    Ok(against)
}
