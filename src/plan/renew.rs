//! Values of ours over an update: each is made anew, kept or taken out.

use serde_json::{Map, Value, json};

use super::edit::{Edit, EditKind};
use super::needed::needed;
use super::own::{Own, claims, own_values, without};
use super::place::named;
use super::record::means_same;
use super::{
    DEFAULT_DEADLINE, DEFAULT_GRACE, Plan, Reach, Site, Write, min_ready, patch, present, wanted,
};
use crate::annotations;
use crate::intent::{ContainerIntent, SkipReason, fault};
use crate::subject::{ApplyRecord, PodTemplate, Role, Subject};
use crate::words::FieldPath;

/// Plans for an object that carries values of ours: they count as unset, and are made anew, kept or taken out.
pub(super) fn renew(arrived: &Site<'_>, write: Write<'_>, rules: &[&str], plan: &mut Plan) {
    let returned = returned(arrived, write, rules, &plan.own);
    let (reached, untouched): (Vec<Own>, Vec<Own>) = plan
        .own
        .iter()
        .cloned()
        .partition(|own| arrived.reach.reaches(own) && !is_left_alone(arrived, own, &plan.own));
    plan.own.extend(returned.iter().cloned());
    let removable = [reached.clone(), returned].concat();
    let anew = without_ours(arrived, &plan.own, rules, |site| {
        let (edits, withheld) = wanted(site);
        let mut staying = kept(site, &edits, &reached, write, rules);
        staying.retain(|own| !can_never_pass(arrived, own));
        release(arrived.subject, site.subject, &edits, &mut staying);
        staying.extend(needed_of(site.subject, &removable, &edits, &staying));
        (edits, withheld, staying)
    });
    let Some((mut edits, withheld, mut staying)) = anew else {
        return;
    };
    plan.withheld = withheld;
    staying.extend(untouched);
    edits.retain(|edit| !staying.iter().any(|own| own.path == edit.path));
    patch::build(
        arrived.subject,
        arrived.facts,
        edits,
        plan,
        &staying,
        &removable,
    );
}

/// Whether a value stands in a template that its owner wants left alone, beside another one that he does not. `all` are the
/// values of ours; where his word is among them, it is a copy of one that he has taken back.
fn is_left_alone(site: &Site<'_>, own: &Own, all: &[Own]) -> bool {
    let template = own
        .template
        .and_then(|index| site.intent.templates.get(index));
    template.is_some_and(|template| {
        let skip = template.skip.as_ref();
        let key = ["metadata", "annotations", annotations::SKIP];
        let path = template.template.path.keys(&key);
        skip.is_some_and(|skip| skip.reason == SkipReason::SkipAnnotation)
            && all.iter().all(|one| one.path != path)
    })
}

/// Whether a startup probe of ours asks what the spec has made wrong by now. Its reasons changed in an update that we did not
/// see: while we were down, or the namespace was stepped down.
fn can_never_pass(site: &Site<'_>, own: &Own) -> bool {
    let template = own
        .template
        .filter(|_| own.kind == EditKind::StartupProbe)
        .and_then(|index| site.intent.templates.get(index));
    template.is_some_and(|template| {
        let holds = |one: &&ContainerIntent<'_>| own.path.starts_with(&one.container.path);
        let container = template.containers.iter().find(holds);
        container.is_some_and(|container| {
            let probe = container.container.probe(Role::Startup);
            probe.is_some_and(|probe| {
                fault::never_passes(template, container, &probe.handler).is_some()
            })
        })
    })
}

/// Those of the values of ours which nothing keeps any more that have to stay all the same.
fn needed_of(bare: &Subject<'_>, removable: &[Own], edits: &[Edit], staying: &[Own]) -> Vec<Own> {
    let is_kept = |own: &&Own| {
        edits.iter().any(|edit| edit.path == own.path)
            || staying.iter().any(|stays| stays.path == own.path)
    };
    let mut going: Vec<Own> = removable.to_vec();
    going.retain(|own| !is_kept(&own));
    let needed = needed(bare, &going);
    going.retain(|own| needed.iter().any(|(path, _)| *path == own.path));
    going
}

/// Looks at the object as it would be without values of ours; those that may not be written now stand as an owner's do.
pub(super) fn without_ours<T>(
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

/// The values of ours that stay: those of which an update touches neither the reasons nor, by the rules of today, what they
/// come out as. What is known of a server or decided of a group is a reason too, and shows only there; and both versions are
/// looked at as today, so that other constants than those that a value was made with change nothing. `edits` are what the
/// object needs.
fn kept(
    bare: &Site<'_>,
    edits: &[Edit],
    own: &[Own],
    write: Write<'_>,
    rules: &[&str],
) -> Vec<Own> {
    let Write::Update(update) = write else {
        return Vec::new();
    };
    let subject = bare.subject;
    let read = |object| Subject::read(object, &subject.namespace, subject.knowledge);
    let Ok(old) = read(update.old) else {
        return Vec::new();
    };
    let applied = ApplyRecord::read(update.old);
    let reach = bare.reach.seen_from(subject, &old);
    let mut old_own = own_values(&old, &applied);
    old_own.retain(|own| reach.reaches(own));
    let old_base = without(update.old, &old_own);
    let Ok(old_bare) = read(&old_base) else {
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
    // What was copied into the template counted there.
    old_own.retain(|own| own.kind != EditKind::Annotation);
    let counted = without_strays(without(update.old, &old_own));
    let wanted_then = wanted_then(bare, &applied, &counted, &reach, rules);
    let comes_out_alike = |own: &Own| {
        let name = named(&own.path, subject.object);
        let now = edits.iter().find(|edit| edit.path == own.path);
        let then = wanted_then.iter().find(|(then, _)| *then == name);
        match (now.and_then(|edit| edit.value.as_ref()), then) {
            (Some(now), Some((_, then))) => means_same(own.kind, now, then),
            (now, then) => now.is_none() && then.is_none(),
        }
    };
    own.iter()
        .filter(|own| own.kind != EditKind::Annotation && own.ours_beside_owners.is_none())
        .filter(|own| reasons(subject, now, own) == reasons(&old_bare, then, own))
        .filter(|own| comes_out_alike(own))
        .cloned()
        .collect()
}

/// What the object needed before an update by the rules of today, under the names of the fields. `old` is what it was without
/// values of ours in its fields, and `reach` what may be written of it.
fn wanted_then(
    now: &Site<'_>,
    applied: &ApplyRecord,
    old: &Value,
    reach: &Reach,
    rules: &[&str],
) -> Vec<(String, Value)> {
    let namespace = &now.subject.namespace;
    let Ok(subject) = Subject::read(old, namespace, &now.facts.knowledge) else {
        return Vec::new();
    };
    let intent = crate::intent::resolve(&subject, now.facts, rules);
    let (edits, _) = wanted(&Site {
        subject: &subject,
        intent: &intent,
        facts: now.facts,
        applied,
        reach,
    });
    let named = |edit: Edit| Some((named(&edit.path, old), edit.value?));
    edits.into_iter().filter_map(named).collect()
}

/// The object without annotations of ours that stand on it alone: they count only once they are copied into a template.
fn without_strays(mut object: Value) -> Value {
    let members = object
        .pointer_mut("/metadata/annotations")
        .and_then(Value::as_object_mut);
    if let Some(members) = members {
        members.retain(|key, _| !annotations::is_ours(key) || key == annotations::ROLLOUT);
    }
    object
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
        // The other version may have other templates.
        if own.template.is_some() && !own.path.starts_with(&template.path) {
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
