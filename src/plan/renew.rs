//! Values of ours over an update: each is made anew, kept or taken out.

use serde_json::{Map, Value, json};

use super::edit::{Edit, EditKind};
use super::own::{Own, claims, own_values, without};
use super::record::means_same;
use super::{
    DEFAULT_DEADLINE, DEFAULT_GRACE, Plan, Reach, Site, Write, min_ready, patch, present, wanted,
};
use crate::annotations;
use crate::subject::{ApplyRecord, PodTemplate, Subject};
use crate::words::FieldPath;

/// Plans for an object that carries values of ours: they count as unset, and are made anew, kept or taken out.
pub(super) fn renew(arrived: &Site<'_>, write: Write<'_>, rules: &[&str], plan: &mut Plan) {
    let returned = returned(arrived, write, rules, &plan.own);
    let (reached, untouched): (Vec<Own>, Vec<Own>) = plan
        .own
        .iter()
        .cloned()
        .partition(|own| arrived.reach.reaches(own));
    plan.own.extend(returned.iter().cloned());
    let anew = without_ours(arrived, &plan.own, rules, |site| {
        let (edits, withheld) = wanted(site);
        let mut staying = kept(site, &reached, write);
        release(arrived.subject, site.subject, &edits, &mut staying);
        (edits, withheld, staying)
    });
    let Some((mut edits, withheld, mut staying)) = anew else {
        return;
    };
    plan.withheld = withheld;
    staying.extend(untouched);
    edits.retain(|edit| !staying.iter().any(|own| own.path == edit.path));
    let removable = [reached, returned].concat();
    patch::build(
        arrived.subject,
        arrived.facts,
        edits,
        plan,
        &staying,
        &removable,
    );
}

/// Looks at the object as it would be without values of ours; those that may not be written now stand as an owner's do.
fn without_ours<T>(
    arrived: &Site<'_>,
    own: &[Own],
    rules: &[&str],
    look: impl FnOnce(&Site<'_>) -> T,
) -> Option<T> {
    let base = without(arrived.subject.object, &writable(arrived, own));
    let namespace = &arrived.subject.namespace;
    let bare = Subject::read(&base, namespace, &arrived.facts.knowledge).ok()?;
    let intent = crate::intent::resolve(&bare, arrived.facts, rules);
    Some(look(&Site {
        subject: &bare,
        intent: &intent,
        ..*arrived
    }))
}

/// Those of our values that may be written now.
fn writable(site: &Site<'_>, own: &[Own]) -> Vec<Own> {
    let reaches = |own: &&Own| site.reach.reaches(own);
    own.iter().filter(reaches).cloned().collect()
}

/// Values of ours outside of the templates that still stand while `changes` have become those of another time:
/// `kubectl rollout undo` brings back the template and the annotations of a Deployment, and nothing else.
pub(super) fn left_behind(
    subject: &Subject<'_>,
    applied: &ApplyRecord,
    write: Write<'_>,
    reach: &Reach,
    own: &[Own],
) -> Vec<Own> {
    let Write::Update(update) = write else {
        return Vec::new();
    };
    let Ok(old) = Subject::read(update.old, &subject.namespace, subject.knowledge) else {
        return Vec::new();
    };
    let old_own = own_values(&old, &ApplyRecord::read(update.old));
    let (inside, mut left): (Vec<Own>, Vec<Own>) =
        old_own.into_iter().partition(|own| own.template.is_some());
    // Who deletes `changes` takes over what of ours stands, also once we have written new ones that do not name it. A template
    // of before our values were made has none of them.
    let stands = |own: &Own| !update.changes_field(subject.object, &own.path);
    let is_named = |own: &[Own], path: &FieldPath| own.iter().any(|own| own.path == *path);
    if inside
        .iter()
        .any(|one| stands(one) && !is_named(own, &one.path))
    {
        return Vec::new();
    }
    let claimed = claims(subject);
    left.retain(|left| {
        reach.any_template()
            && stands(left)
            && !applied.names(subject.object, &left.path)
            && !is_named(own, &left.path)
            && (!inside.is_empty() || is_named(&claimed, &left.path))
    });
    left
}

/// Values of ours that an update brings back while `changes` name later ones: `kubectl rollout undo` brings back the template
/// of a StatefulSet or DaemonSet, and no annotation. Ours is what we would write now.
fn returned(arrived: &Site<'_>, write: Write<'_>, rules: &[&str], own: &[Own]) -> Vec<Own> {
    let Write::Update(update) = write else {
        return Vec::new();
    };
    let object = arrived.subject.object;
    let mut claims = claims(arrived.subject);
    claims.retain(|claim| {
        claim.kind != EditKind::Annotation
            && claim.template.is_some()
            && arrived.reach.reaches(claim)
            && update.changes_field(object, &claim.path)
            && !arrived.applied.names(object, &claim.path)
            && own.iter().all(|own| own.path != claim.path)
    });
    if claims.is_empty() {
        return claims;
    }
    let all = [own, &claims].concat();
    let anew = without_ours(arrived, &all, rules, |site| wanted(site).0);
    let anew = anew.unwrap_or_default();
    let is_made = |claim: &Own, edit: &Edit| {
        let value = edit.value.as_ref().filter(|_| edit.path == claim.path);
        value.is_some_and(|value| means_same(edit.kind, value, &claim.value))
    };
    claims.retain(|claim| anew.iter().any(|edit| is_made(claim, edit)));
    claims
}

/// The values of ours that stay: those whose reasons an update does not touch.
fn kept(bare: &Site<'_>, own: &[Own], write: Write<'_>) -> Vec<Own> {
    let Write::Update(update) = write else {
        return Vec::new();
    };
    let subject = bare.subject;
    let read = |object| Subject::read(object, &subject.namespace, subject.knowledge);
    let Ok(old) = read(update.old) else {
        return Vec::new();
    };
    let old_own = own_values(&old, &ApplyRecord::read(update.old));
    let old_base = without(update.old, &writable(bare, &old_own));
    let Ok(old_bare) = Subject::read(&old_base, &subject.namespace, subject.knowledge) else {
        return Vec::new();
    };
    // What stood on the object alone counted from when it was copied into the template.
    let then = |index: usize| ours(old.templates.get(index).and_then(PodTemplate::annotations));
    let now = |index: usize| {
        let template = subject.templates.get(index);
        let mut ours = ours(template.and_then(PodTemplate::annotations));
        let strays = bare.intent.strays.iter();
        for stray in strays.filter(|stray| stray.template == index) {
            ours.extend(
                stray
                    .path
                    .find(subject.object)
                    .map(|value| (stray.key.clone(), value.clone())),
            );
        }
        ours
    };
    own.iter()
        .filter(|own| own.kind != EditKind::Annotation && own.ours_beside_owners.is_none())
        .filter(|own| reasons(subject, now, own) == reasons(&old_bare, then, own))
        .cloned()
        .collect()
}

/// Lets go of what must fit into a grace period or a deadline that comes out otherwise now: a sleep made for another grace
/// period may reach this one, a window made for another deadline outlast it.
fn release(arrived: &Subject<'_>, bare: &Subject<'_>, edits: &[Edit], staying: &mut Vec<Own>) {
    let moves = |path: &FieldPath, default: i64, staying: &[Own]| {
        let edit = edits.iter().find(|edit| edit.path == *path);
        let after = edit.map_or_else(|| present(bare.object, path), |edit| edit.value.as_ref());
        let seconds = |value: Option<&Value>| value.and_then(Value::as_i64).unwrap_or(default);
        seconds(present(arrived.object, path)) != seconds(after)
            && staying.iter().all(|own| own.path != *path)
    };
    let deadline = arrived.workload.progress_deadline.as_ref();
    let all = deadline.is_some_and(|path| moves(path, DEFAULT_DEADLINE, staying));
    let grace =
        |template: &PodTemplate<'_>| template.spec_path().key("terminationGracePeriodSeconds");
    let templates: Vec<bool> = arrived
        .templates
        .iter()
        .map(|template| all || moves(&grace(template), DEFAULT_GRACE, staying))
        .collect();
    staying.retain(|own| match own.kind {
        EditKind::PreStop | EditKind::StartupProbe | EditKind::StartupWindow => {
            !own.template.is_some_and(|index| templates[index])
        }
        _ => true,
    });
}

/// Everything a value of ours was made from. `annotations` are those of ours that hold for a template.
fn reasons(
    bare: &Subject<'_>,
    annotations: impl Fn(usize) -> Map<String, Value>,
    own: &Own,
) -> Vec<Value> {
    let mut reasons = Vec::new();
    if own.kind == EditKind::Rollout {
        reasons.push(Value::Object(ours(bare.annotations())));
    }
    for (index, template) in bare.templates.iter().enumerate() {
        if own.template.is_some_and(|own| own != index) {
            continue;
        }
        reasons.push(Value::Object(annotations(index)));
        if own.kind == EditKind::Rollout {
            continue;
        }
        // Once ours is taken out, the API server puts its default there.
        reasons.push(json!(template.grace().unwrap_or(DEFAULT_GRACE)));
        let containers = template.containers.iter().filter(|container| {
            own.container
                .as_ref()
                .is_none_or(|name| *name == container.name)
        });
        reasons.extend(containers.map(|container| container_reasons(container.raw)));
    }
    if own.kind == EditKind::ProgressDeadline {
        reasons.push(json!(min_ready(bare)));
    }
    reasons
}

/// The annotations of ours, without what we write down ourselves.
fn ours(annotations: Option<&Value>) -> Map<String, Value> {
    let members = annotations.and_then(Value::as_object).into_iter().flatten();
    members
        .filter(|(key, _)| annotations::is_ours(key) && *key != annotations::CHANGES)
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect()
}

fn container_reasons(container: &Value) -> Value {
    let keys = [
        "args",
        "command",
        "env",
        "lifecycle",
        "livenessProbe",
        "ports",
        "readinessProbe",
        "startupProbe",
    ];
    let is_empty = |value: &Value| value.is_null() || value.as_object().is_some_and(Map::is_empty);
    let members = keys
        .into_iter()
        .filter_map(|key| Some((key, container.get(key).filter(|value| !is_empty(value))?)));
    Value::Object(
        members
            .map(|(key, value)| (key.to_owned(), value.clone()))
            .collect(),
    )
}
