//! A field that Kubernetes does not know: it is refused or silently dropped, so it does nothing.

use super::Case;
use super::rule::{Rule, Scope};
use super::typed::{self, CONTAINER, HTTP_GET, LIFECYCLE, POD_SPEC, PROBE, Type};
use crate::facts::{Origin, Version};
use crate::subject::{PodTemplate, Role};
use crate::words::{FieldPath, Finding, Segment, Severity, clip};

pub(super) static RULE: Rule = Rule {
    id: "unknown-field",
    severity: Severity::Warn,
    summary: "a field is none of the Kubernetes API, so it does nothing",
    page: include_str!("../../docs/rules/unknown-field.md"),
    scope: Scope::Judged,
    check,
};

/// What stands at the root of every object that has a spec.
const ROOT: [&str; 5] = ["apiVersion", "kind", "metadata", "spec", "status"];

/// How alike a field must be to be meant, from 0 to 1.
const ALIKE: f64 = 0.7;

fn check(case: &Case<'_>) -> Vec<Finding> {
    // The API server drops them before it asks; and of a newer version the fields are not known.
    if case.facts.origin != Origin::File || case.facts.kubernetes > Version::NEWEST {
        return Vec::new();
    }
    let homes = homes(case);
    let mut findings = Vec::new();
    for path in unknown(case) {
        let Some(Segment::Key(key)) = path.segments().last() else {
            continue;
        };
        let message = format!(
            "{} is no field of Kubernetes, it is refused or dropped: {}",
            clip(&path.to_string(), 110),
            cure(&homes, &path, key)
        );
        findings.push(RULE.at(path.clone(), message));
    }
    findings
}

/// The unknown fields of the object's spec and its pod templates; metadata is left to the API server.
fn unknown(case: &Case<'_>) -> Vec<FieldPath> {
    let workload = case.subject.workload;
    let root = case.subject.object.as_object().into_iter().flatten();
    let mut found: Vec<FieldPath> = root
        .map(|(key, _)| key.as_str())
        .filter(|key| !ROOT.contains(key))
        .map(|key| FieldPath::of(&[key]))
        .collect();
    let whole = typed::spec(&workload.group, &workload.kind)
        .is_some_and(|spec| read(case, spec, &FieldPath::of(&["spec"]), &mut found));
    for template in case.templates().filter(|_| !whole) {
        pieces(case, template.template, &mut found);
    }
    let is_metadata = |segment: &Segment| matches!(segment, Segment::Key(key) if key == "metadata");
    found.retain(|path: &FieldPath| !path.segments().iter().any(is_metadata));
    found
}

/// What could not be read as a whole is read piece by piece.
fn pieces(case: &Case<'_>, template: &PodTemplate<'_>, found: &mut Vec<FieldPath>) {
    if read(case, POD_SPEC, &template.spec_path(), found) {
        return;
    }
    for container in &template.containers {
        if !read(case, CONTAINER, &container.path, found) {
            for role in Role::ALL {
                read(case, PROBE, &container.probe_path(role), found);
            }
        }
    }
}

/// Reads the piece at `path` and adds what is unknown in it. Whether it could be read to its end.
fn read(case: &Case<'_>, piece: Type, path: &FieldPath, found: &mut Vec<FieldPath>) -> bool {
    let Some(value) = case.value(path).filter(|value| value.is_object()) else {
        return true;
    };
    let mut unknown = Vec::new();
    let whole = (piece.read)(value, &mut unknown);
    for path in unknown.iter().map(|below| path.join(below)) {
        if !found.contains(&path) {
            found.push(path);
        }
    }
    whole
}

/// The places whose fields are known by name.
fn homes(case: &Case<'_>) -> Vec<(FieldPath, Type)> {
    let workload = case.subject.workload;
    let spec = typed::spec(&workload.group, &workload.kind);
    let mut homes: Vec<_> = spec
        .map(|spec| (FieldPath::of(&["spec"]), spec))
        .into_iter()
        .collect();
    for template in case.templates() {
        homes.push((template.template.spec_path(), POD_SPEC));
        for container in &template.template.containers {
            homes.push((container.path.clone(), CONTAINER));
            homes.push((container.path.key("lifecycle"), LIFECYCLE));
            for probe in Role::ALL.map(|role| container.probe_path(role)) {
                homes.push((probe.key("httpGet"), HTTP_GET));
                homes.push((probe, PROBE));
            }
        }
    }
    // What stands there is meant sooner than what does not.
    homes.sort_by_key(|(home, _)| case.value(home).is_none());
    homes
}

/// Where the field belongs, or what it was meant to be.
fn cure(homes: &[(FieldPath, Type)], path: &FieldPath, key: &str) -> String {
    let parent = path.parent().unwrap_or_default();
    let is_related = |home: &FieldPath| home.starts_with(&parent) || parent.starts_with(home);
    let elsewhere = homes
        .iter()
        .find(|(home, piece)| is_related(home) && (piece.fields)().contains(&key));
    if let Some((home, _)) = elsewhere {
        return format!("it belongs to {}", clip(&home.to_string(), 90));
    }
    let own = homes.iter().find(|(home, _)| *home == parent);
    let likeness = |name: &str| {
        strsim::normalized_damerau_levenshtein(&key.to_lowercase(), &name.to_lowercase())
    };
    let nearest = own
        .into_iter()
        .flat_map(|(_, piece)| (piece.fields)())
        .map(|name| (likeness(name), name))
        .filter(|(alike, _)| *alike >= ALIKE)
        .max_by(|(one, _), (other, _)| one.total_cmp(other));
    match nearest {
        Some((_, name)) => format!("did you mean {name}"),
        None => "remove it".to_owned(),
    }
}
