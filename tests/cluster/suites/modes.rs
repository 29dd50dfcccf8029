//! What each value of the label does, seen by who applies a Deployment.

use super::manifest::{MANIFEST, contradictory};
use super::stored::{DEADLINE, container, stored};
use crate::harness::audit::Record;
use crate::harness::cluster::Cluster;
use crate::harness::namespace::Namespace;
use crate::product::{self, MODE, WARMGATE, changes};

/// A refusal says which seconds contradict each other, what to set, and the way past it; both of these work.
pub(super) fn enforce_refuses(cluster: &Cluster, _unlabelled: &Namespace<'_>) {
    let namespace = cluster.namespace("modes-enforce", &[(MODE, "enforce")]);
    let apply = |manifest: &str| namespace.kubectl(&["apply", "--filename=-"], Some(manifest));
    let refused = apply(&contradictory()).must_fail();
    let message = "denied the request: containers[engine].startupProbe kills 20 to 31 s after each start, 900 s are declared: \
                   set failureThreshold to 91 or more [startup-window-too-short]; to let it pass: ";
    let (before, way) = refused
        .split_once(message)
        .unwrap_or_else(|| panic!("{refused}"));
    assert!(before.contains("enforce.validate.warmgate.io"), "{before}");
    assert!(namespace.get("deployments", "engine").is_none());

    let cured = contradictory().replace("failureThreshold: 3", "failureThreshold: 91");
    apply(&cured).must();
    let refused = apply(&contradictory()).must_fail();
    assert!(refused.contains(message), "{refused}");
    assert_eq!(
        container(&stored(&namespace), "startupProbe")["failureThreshold"],
        91
    );

    let past = cluster.shell(way.trim());
    assert!(past.ok, "{}", past.out);
    let warned = cluster.wait_for("way past it", DEADLINE, || {
        let done = apply(&contradictory());
        if done.ok { Ok(done.err) } else { Err(done.err) }
    });
    assert!(warned.contains("[startup-window-too-short]"), "{warned}");
    assert_eq!(
        container(&stored(&namespace), "startupProbe")["failureThreshold"],
        3
    );
}

/// Nothing is changed: the user reads what would be refused, and what would be edited.
pub(super) fn warn_only_warns(cluster: &Cluster, unlabelled: &Namespace<'_>) {
    let namespace = cluster.namespace("modes-warn", &[(MODE, "warn")]);
    for (name, manifest, rule) in [
        ("engine", contradictory(), "startup-window-too-short"),
        (
            "open",
            MANIFEST.replace("engine", "open"),
            "liveness-kills-startup",
        ),
    ] {
        let said = namespace.apply(&manifest);
        let warnings: Vec<_> = said.lines().collect();
        let told =
            |line: &&str| line.starts_with("Warning: ") && line.contains(&format!("[{rule}]"));
        assert!(warnings.iter().any(told), "{said}");
        assert_is_unchanged(&namespace, unlabelled, name, &manifest);
    }
}

/// What is stored is what is stored where nobody looks.
#[track_caller]
fn assert_is_unchanged(
    here: &Namespace<'_>,
    unlabelled: &Namespace<'_>,
    name: &str,
    manifest: &str,
) {
    assert_eq!(unlabelled.apply(manifest), "");
    let [here, there] = [here, unlabelled].map(|namespace| {
        let found = namespace.get("deployments", name);
        found.unwrap_or_else(|| panic!("there is no {name}"))
    });
    assert_eq!(here["spec"], there["spec"]);
    assert_eq!(changes(&here), None);
}

/// It is mended, and the user reads in one line what was changed; what no edit cures is stored with a warning.
pub(super) fn fix_mends(cluster: &Cluster, _unlabelled: &Namespace<'_>) {
    let namespace = cluster.namespace("modes-fix", &[(MODE, "fix")]);
    let said = namespace.apply(MANIFEST);
    let expected = "Warning: warmgate changed 6 fields: progressDeadlineSeconds 1430, containers[engine].lifecycle.preStop sleep 15";
    assert!(said.starts_with(expected), "{said}");
    assert_eq!(said.lines().count(), 1, "{said}");
    let mended = stored(&namespace);
    assert_eq!(container(&mended, "startupProbe")["failureThreshold"], 114);
    let named = changes(&mended).unwrap_or_default();
    assert_eq!(
        named.as_object().map(|fields| fields.len()),
        Some(6),
        "{named}"
    );
    assert_eq!(namespace.apply(MANIFEST), "", "a second apply");

    let said = namespace.apply(&contradictory().replace("engine", "other"));
    assert!(said.contains("[startup-window-too-short]"), "{said}");
}

/// The user reads nothing; the API server's audit log says what was found and what a fix would change.
pub(super) fn audit_is_silent(cluster: &Cluster, unlabelled: &Namespace<'_>) {
    let namespace = cluster.namespace("modes-audit", &[(MODE, "audit")]);
    assert_eq!(namespace.apply(MANIFEST), "");
    assert_is_unchanged(&namespace, unlabelled, "engine", MANIFEST);
    let record = created(cluster, &namespace);
    let said = |key: &str| {
        let key = format!("audit.validate.warmgate.io/{key}");
        record.annotation(&key).unwrap_or_default().to_owned()
    };
    assert!(
        said("findings").contains("liveness-kills-startup deny engine"),
        "{}",
        record.value()
    );
    let would_change = said("would-change");
    for field in ["containers[0].startupProbe", "progressDeadlineSeconds"] {
        assert!(would_change.contains(field), "{would_change}");
    }
}

/// What the API server has written of the creation of the first Deployment in a namespace.
#[track_caller]
fn created(cluster: &Cluster, namespace: &Namespace<'_>) -> Record {
    cluster.wait_for("audit record", DEADLINE, || {
        let mut records = cluster.audit();
        records.retain(|record| record.is("create", "deployments", namespace.name()));
        records
            .into_iter()
            .next()
            .ok_or_else(|| "no record".to_owned())
    })
}

/// A label that is none of the modes is said to be none.
pub(super) fn unknown_label_is_told(cluster: &Cluster, unlabelled: &Namespace<'_>) {
    let namespace = cluster.namespace("modes-unknown", &[(MODE, "enforced")]);
    let expected = "Warning: the namespace's label warmgate.io/mode is none of audit, warn, fix and enforce, so nothing in it is looked at: set one of them\n";
    assert_eq!(namespace.apply(&contradictory()), expected);
    assert_is_unchanged(&namespace, unlabelled, "engine", &contradictory());
}

/// A Deployment may ask for less than its namespace has, with its pods; what asks for more changes nothing.
pub(super) fn step_down_only(cluster: &Cluster, unlabelled: &Namespace<'_>) {
    let asking = |manifest: &str, name: &str, mode: &str| {
        let annotation = format!("annotations: {{warmgate.io/mode: {mode}, ");
        manifest
            .replace("annotations: {", &annotation)
            .replace("engine", name)
    };
    let [enforce, fix, warn, audit] = ["enforce", "fix", "warn", "audit"]
        .map(|mode| cluster.namespace(&format!("modes-step-{mode}"), &[(MODE, mode)]));

    let down = asking(&contradictory(), "down", "warn");
    let said = enforce.apply(&down);
    assert!(said.contains("[startup-window-too-short]"), "{said}");
    assert_is_unchanged(&enforce, unlabelled, "down", &down);
    let pod = cluster.wait_for("pod", DEADLINE, || {
        enforce
            .list("pods")
            .pop()
            .ok_or_else(|| "no pod".to_owned())
    });
    assert_eq!(changes(&pod), None);
    assert_eq!(
        pod["spec"]["containers"][0]["startupProbe"]["failureThreshold"],
        3
    );
    let down = asking(MANIFEST, "silent", "audit");
    assert_eq!(fix.apply(&down), "");
    assert_is_unchanged(&fix, unlabelled, "silent", &down);
    let on_metadata = "name: outside\n  annotations: {warmgate.io/mode: warn}\nspec:";
    let outside = MANIFEST.replace("engine", "outside");
    enforce.apply(&outside.replacen("name: outside\nspec:", on_metadata, 1));
    let stored = enforce.get("deployments", "outside").unwrap_or_default();
    let template = &stored["spec"]["template"];
    assert_eq!(
        template["metadata"]["annotations"][MODE], "warn",
        "for the pods"
    );
    assert!(container(&stored, "startupProbe").is_null(), "{stored}");

    let up = asking(&contradictory(), "up", "fix");
    let said = warn.apply(&up);
    assert!(said.contains("[startup-window-too-short]"), "{said}");
    assert_is_unchanged(&warn, unlabelled, "up", &up);
    let up = asking(&contradictory(), "up", "warn");
    assert_eq!(audit.apply(&up), "");
    assert_is_unchanged(&audit, unlabelled, "up", &up);
    let said = fix.apply(&asking(&contradictory(), "up", "enforce"));
    assert!(said.contains("[malformed-annotation]"), "{said}");
    assert!(said.contains("[startup-window-too-short]"), "{said}");
}

/// Without the mutating configuration nothing is mended, and nothing is refused for it that an edit would have cured.
pub(super) fn enforce_without_mutating(cluster: &Cluster, _unlabelled: &Namespace<'_>) {
    let namespace = cluster.namespace("modes-without-mutating", &[(MODE, "enforce")]);
    let back = Back(cluster);
    cluster
        .kubectl(&["delete", "mutatingwebhookconfiguration", MUTATING], None)
        .must();
    cluster.wait_for("pod that is not mended", DEADLINE, || {
        if product::mends(cluster, &namespace) {
            Err("mended".to_owned())
        } else {
            Ok(())
        }
    });
    let applied = namespace.kubectl(&["apply", "--filename=-"], Some(MANIFEST));
    let refused = namespace.kubectl(
        &["apply", "--filename=-"],
        Some(&contradictory().replace("engine", "other")),
    );
    drop(back);
    WARMGATE.wait_until_mending(cluster);

    assert!(applied.ok, "{}", applied.err);
    assert!(
        applied.err.contains("[liveness-kills-startup]"),
        "{}",
        applied.err
    );
    assert_eq!(changes(&stored(&namespace)), None);
    let refused = refused.must_fail();
    assert!(refused.contains("[startup-window-too-short]"), "{refused}");
}

/// Brings the configuration back, also for the next suite when this one fails.
struct Back<'a>(&'a Cluster);

impl Drop for Back<'_> {
    fn drop(&mut self) {
        product::upgrade(self.0, &[]);
    }
}

/// The name of the mutating configuration, which sorts before those of meshes.
const MUTATING: &str = "00-warmgate";
