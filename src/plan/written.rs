//! What edits write, as far as it can be told from outside: which fields, and which values they replace there.
//!
//! `changes` is the user's to write, so what it claims is held against this. Paths are compared whole, since an owner's map
//! (labels, a node selector) may have a member of any name.

use serde_json::Value;

use super::edit::EditKind;
use super::rollout::{DEFAULT_DEADLINE, DEFAULT_SURGE};
use crate::annotations;
use crate::knowledge::Workload;
use crate::words::{FieldPath, Segment};

/// What an edit of this field is for, in an object of a kind; `None` for a field that we never write.
pub(super) fn kind_of(path: &FieldPath, workload: &Workload) -> Option<EditKind> {
    if workload.progress_deadline.as_ref() == Some(path) {
        return Some(EditKind::ProgressDeadline);
    }
    let strategy = workload.strategy.as_ref();
    if let Some(field) = strategy.and_then(|strategy| path.below(strategy)) {
        return is_of_strategy(&field).then_some(EditKind::Rollout);
    }
    workload.templates.iter().find_map(|template| {
        let field = path.below(&template.path)?;
        in_template(&names(&field), workload.is_pod())
    })
}

/// The names of the members on the way; an element of a list has none.
fn names(path: &FieldPath) -> Vec<Option<&str>> {
    let segments = path.segments().iter();
    let names = segments.map(|segment| match segment {
        Segment::Index(_) => None,
        Segment::Key(key) => Some(key.as_str()),
    });
    names.collect()
}

fn is_of_strategy(field: &FieldPath) -> bool {
    matches!(
        names(field).as_slice(),
        [Some("type")] | [Some("rollingUpdate"), Some("maxSurge" | "maxUnavailable")]
    )
}

fn in_template(field: &[Option<&str>], is_pod: bool) -> Option<EditKind> {
    match field {
        [Some("spec"), Some("terminationGracePeriodSeconds")] => Some(EditKind::GracePeriod),
        [
            Some("spec"),
            Some("containers" | "initContainers"),
            None,
            field @ ..,
        ] => in_container(field, is_pod),
        // A pod is its own template: nothing is copied into it.
        [Some("metadata"), Some("annotations"), Some(key)] if !is_pod && is_copied(key) => {
            Some(EditKind::Annotation)
        }
        _ => None,
    }
}

fn in_container(field: &[Option<&str>], is_pod: bool) -> Option<EditKind> {
    match field {
        [Some("startupProbe")] => Some(EditKind::StartupProbe),
        // On a workload somebody stands there to be told that it is too short.
        [Some("startupProbe"), Some("failureThreshold")] if is_pod => Some(EditKind::StartupWindow),
        [
            Some("livenessProbe" | "readinessProbe"),
            Some("timeoutSeconds"),
        ] => Some(EditKind::ProbeTimeout),
        [Some("lifecycle"), Some("preStop")] => Some(EditKind::PreStop),
        _ => None,
    }
}

/// Whether an annotation of that key is copied from an object into its template.
fn is_copied(key: &str) -> bool {
    annotations::is_ours(key) && !matches!(key, annotations::CHANGES | annotations::ROLLOUT)
}

/// Whether an edit of this field can have replaced `was` by `set`; of what was absent that is true of all edits.
pub(super) fn replaces(kind: EditKind, field: &FieldPath, was: &Value, set: &Value) -> bool {
    let raises = |most: i64| match (was.as_i64(), set.as_i64()) {
        (Some(was), Some(set)) => (0..=most).contains(&was) && was < set,
        _ => false,
    };
    match kind {
        // They are written where nothing stands.
        EditKind::Annotation | EditKind::PreStop | EditKind::StartupProbe => false,
        EditKind::GracePeriod => raises(i64::MAX),
        EditKind::ProbeTimeout | EditKind::StartupWindow => raises(i64::from(i32::MAX)),
        EditKind::ProgressDeadline => was.as_i64() == Some(DEFAULT_DEADLINE) && raises(i64::MAX),
        EditKind::Rollout => {
            let is_type = field.segments().last() == Some(&Segment::Key("type".to_owned()));
            was == DEFAULT_SURGE && !is_type
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::facts::{Facts, Mode, Origin};
    use crate::plan::place::resolve;

    /// What the field of that name is for, in an object that has one container, `engine`, in each of its templates.
    fn kind(group: &str, kind: &str, name: &str) -> Option<EditKind> {
        let facts = Facts::new(Mode::Fix, Origin::Admission);
        let workload = facts.knowledge.workload(group, kind).expect("a known kind");
        let pod = json!({
            "metadata": {"annotations": {}},
            "spec": {"containers": [{"name": "engine"}]},
        });
        let group = json!({"leaderTemplate": pod, "workerTemplate": pod});
        let object = json!({"spec": {
            "containers": pod["spec"]["containers"], "template": pod, "leaderWorkerTemplate": group,
        }});
        kind_of(&resolve(name, &object)?, workload)
    }

    #[test]
    fn only_whole_paths_are_fields_of_edits() {
        for (field, expected) in [
            ("spec.progressDeadlineSeconds", EditKind::ProgressDeadline),
            ("spec.strategy.type", EditKind::Rollout),
            ("spec.strategy.rollingUpdate.maxSurge", EditKind::Rollout),
            (
                "spec.template.spec.terminationGracePeriodSeconds",
                EditKind::GracePeriod,
            ),
            (
                "spec.template.spec.containers[engine].lifecycle.preStop",
                EditKind::PreStop,
            ),
            (
                "spec.template.metadata.annotations[warmgate.io/skip]",
                EditKind::Annotation,
            ),
        ] {
            assert_eq!(kind("apps", "Deployment", field), Some(expected), "{field}");
        }
        for (field, expected) in [
            ("leaderTemplate", EditKind::StartupProbe),
            ("workerTemplate", EditKind::StartupProbe),
        ] {
            let field =
                format!("spec.leaderWorkerTemplate.{field}.spec.containers[engine].startupProbe");
            let group = "leaderworkerset.x-k8s.io";
            assert_eq!(kind(group, "LeaderWorkerSet", &field), Some(expected));
            assert_eq!(kind("apps", "Deployment", &field), None, "{field}");
        }
        for field in [
            "metadata.labels.progressDeadlineSeconds",
            "metadata.annotations[warmgate.io/skip]",
            "spec.progressDeadlineSeconds.progressDeadlineSeconds",
            "spec.selector.matchLabels.progressDeadlineSeconds",
            "spec.terminationGracePeriodSeconds",
            "spec.template.spec.nodeSelector.progressDeadlineSeconds",
            "spec.template.spec.spec.terminationGracePeriodSeconds",
            "spec.template.strategy.type",
            "spec.template.metadata.labels.terminationGracePeriodSeconds",
            "spec.template.spec.containers[engine].env.startupProbe",
            "spec.template.spec.containers[engine].startupProbe.failureThreshold",
            "spec.template.metadata.annotations[warmgate.io/changes]",
            "spec.template.metadata.annotations[warmgate.io/rollout]",
        ] {
            assert_eq!(kind("apps", "Deployment", field), None, "{field}");
        }
        assert_eq!(kind("apps", "StatefulSet", "spec.strategy.type"), None);
        let window = "spec.containers[engine].startupProbe.failureThreshold";
        assert_eq!(kind("", "Pod", window), Some(EditKind::StartupWindow));
    }

    #[test]
    fn only_what_counts_as_unset_is_replaced() {
        let surge = FieldPath::of(&["spec", "strategy", "rollingUpdate", "maxSurge"]);
        let kind_of_strategy = FieldPath::of(&["spec", "strategy", "type"]);
        let any = FieldPath::root();
        for (kind, field, was, set) in [
            (EditKind::GracePeriod, &any, json!(30), json!(75)),
            (EditKind::GracePeriod, &any, json!(0), json!(75)),
            (EditKind::ProbeTimeout, &any, json!(1), json!(5)),
            (EditKind::StartupWindow, &any, json!(30), json!(114)),
            (EditKind::ProgressDeadline, &any, json!(600), json!(3900)),
            (EditKind::Rollout, &surge, json!("25%"), json!(0)),
        ] {
            assert!(replaces(kind, field, &was, &set), "{kind:?} {was}");
        }
        for (kind, field, was, set) in [
            (EditKind::GracePeriod, &any, json!(75), json!(75)),
            (EditKind::GracePeriod, &any, json!(30), json!("75")),
            (EditKind::ProbeTimeout, &any, json!(9), json!(5)),
            (
                EditKind::ProbeTimeout,
                &any,
                json!(1_u64 << 40),
                json!(1_u64 << 41),
            ),
            (EditKind::ProgressDeadline, &any, json!(599), json!(3900)),
            (EditKind::ProgressDeadline, &any, json!(600), json!(600)),
            (EditKind::Rollout, &surge, json!(2), json!(0)),
            (
                EditKind::Rollout,
                &kind_of_strategy,
                json!("25%"),
                json!("RollingUpdate"),
            ),
        ] {
            assert!(!replaces(kind, field, &was, &set), "{kind:?} {was}");
        }
        for kind in EditKind::ALL {
            for was in [
                json!("x"),
                json!({"a": 1}),
                json!([]),
                json!(true),
                json!(1.5),
                json!(-5),
            ] {
                assert!(!replaces(kind, &surge, &was, &json!(75)), "{kind:?} {was}");
            }
        }
    }
}
