//! The match conditions, evaluated by the API server: what concerns us is asked about, and nothing else is.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use serde_json::{Value, json};
use warmgate::admit::{Decision, Outcome};
use warmgate::facts::{Facts, Mode, Origin};
use warmgate::intent::SkipReason;
use warmgate::manifest::Manifest;

use super::judgement::decide;
use super::leader_worker_set;
use crate::cases;
use crate::harness::audit::Record;
use crate::harness::cluster::Cluster;
use crate::harness::namespace::Namespace;
use crate::product::{MODE, WARMGATE, asks_for_an_accelerator};

const DEADLINE: Duration = Duration::from_secs(60);

/// Pods that ask for no accelerator, as a namespace is full of them.
const OTHERS: usize = 500;

/// Each object of the cases is created, without being stored. The API server asks about every one that is edited, judged or
/// refused here, and about none that is not ours and says nothing to us.
pub(super) fn hide_nothing_that_concerns_us(cluster: &Cluster, _unlabelled: &Namespace<'_>) {
    leader_worker_set::define_kind(cluster);
    for mode in [Mode::Fix, Mode::Enforce] {
        hide_nothing(cluster, mode);
    }
}

/// One creation, and what the core says of it.
struct Creation {
    name: String,
    /// Of the object as it was sent, which the mutating webhook sees.
    sent: Decision,
    /// Of the object as it would be stored, which the validating webhook sees. What is refused is not sent back.
    stored: Option<Decision>,
    /// Whether the kind is edited; others are judged only.
    edited: bool,
}

fn hide_nothing(cluster: &Cluster, mode: Mode) {
    let namespace = cluster.namespace("conditions", &[(MODE, mode.word())]);
    let facts = Facts::new(mode, Origin::Admission);
    let mut expected = BTreeMap::new();
    let mut kinds = BTreeSet::new();
    for (name, mut object) in objects() {
        let Some(resource) = resource(&object) else {
            continue;
        };
        prepare(&mut object);
        let path = format!("{}?dryRun=All", namespace.path(resource, ""));
        let answer = cluster.api("POST", &path, "application/json", &object.to_string());
        // What the API server cannot decode it asks nobody about.
        if answer.status == 400 {
            continue;
        }
        kinds.insert(resource);
        let decide = |object: &Value| decide(&facts, namespace.name(), object);
        let creation = Creation {
            name,
            sent: decide(&object),
            stored: (answer.status == 201).then(|| decide(&answer.body)),
            edited: resource != "replicasets",
        };
        expected.insert(answer.audit_id, creation);
    }
    assert!(expected.len() > 200, "only {} objects", expected.len());
    assert_eq!(kinds.len(), 8, "{kinds:?}");
    let records = cluster.wait_for("audit records", DEADLINE, || {
        let mut records = cluster.audit();
        let id = |record: &Record| record.value()["auditID"].as_str().map(str::to_owned);
        records.retain(|record| id(record).is_some_and(|id| expected.contains_key(&id)));
        let found: BTreeMap<_, _> = records
            .into_iter()
            .filter_map(|record| Some((id(&record)?, record)))
            .collect();
        if found.len() == expected.len() {
            Ok(found)
        } else {
            Err(format!("{} of {}", found.len(), expected.len()))
        }
    });
    let wrong: Vec<_> = expected
        .iter()
        .filter_map(|(id, creation)| wrong(creation, records[id].value()))
        .collect();
    assert_eq!(wrong, Vec::<String>::new(), "{mode:?}");
}

/// What is wrong with the calls that a record tells of.
fn wrong(creation: &Creation, record: &Value) -> Option<String> {
    let Creation { name, sent, .. } = creation;
    let asked = was_asked(record);
    let concerns_us = !does_not_concern_us(sent);
    if asked != (concerns_us && creation.edited) {
        return Some(format!("{name}: asked {asked}, {:?}", sent.outcome));
    }
    let judged = was_judged(record);
    let found = match &creation.stored {
        Some(stored) => !stored.findings.is_empty(),
        None => sent.refusal.is_some(),
    };
    (found && !judged).then(|| format!("{name}: not judged, {:?}", sent.findings))
}

/// Whether a record tells what our validating webhook found.
fn was_judged(record: &Value) -> bool {
    let annotations = record["annotations"].as_object().into_iter().flatten();
    let mut keys = annotations.map(|(key, _)| key);
    keys.any(|key| key.ends_with(".validate.warmgate.io/findings"))
}

/// Whether a record tells of our mutating webhook.
fn was_asked(record: &Value) -> bool {
    let annotations = record["annotations"].as_object();
    annotations.is_some_and(|annotations| {
        annotations.iter().any(|(key, value)| {
            key.starts_with("mutation.webhook.admission.k8s.io/")
                && value.as_str().is_some_and(|text| text.contains("warmgate"))
        })
    })
}

/// Nothing is done about it and nothing is said.
fn does_not_concern_us(decision: &Decision) -> bool {
    let skipped = matches!(&decision.outcome, Outcome::Skipped(skip)
        if matches!(skip.reason, SkipReason::MirrorPod | SkipReason::NotOurs));
    skipped && decision.findings.is_empty() && decision.patch.0.is_empty()
}

/// Every object of the cases, with the file that it is in; also as the kinds that the cases lack.
fn objects() -> Vec<(String, Value)> {
    let of_case = |(name, manifest): (String, Manifest)| {
        manifest.objects.into_iter().map(move |object| {
            let value = match object.value.pointer("/request/object") {
                Some(reviewed) => reviewed.clone(),
                None => object.value,
            };
            (name.clone(), value)
        })
    };
    let mut objects: Vec<_> = cases::all().into_iter().flat_map(of_case).collect();
    let others: Vec<_> = objects.iter().filter_map(in_other_words).collect();
    objects.extend(others);
    objects.push(("large".to_owned(), large()));
    objects
}

/// A Deployment as the ReplicaSet of somebody who writes no Deployments, a Job as the CronJob that makes it.
fn in_other_words((name, object): &(String, Value)) -> Option<(String, Value)> {
    let mut other = object.clone();
    match object["kind"].as_str()? {
        "Deployment" => {
            other["kind"] = json!("ReplicaSet");
            let spec = other["spec"].as_object_mut()?;
            spec.retain(|key, _| matches!(&**key, "replicas" | "selector" | "template"));
        }
        "Job" => {
            other["kind"] = json!("CronJob");
            other["spec"] =
                json!({"schedule": "0 3 * * *", "jobTemplate": {"spec": object["spec"]}});
        }
        _ => return None,
    }
    Some((format!("{name}, as {}", other["kind"]), other))
}

/// A pod that asks for an accelerator and has the most of everything else: the conditions must not cost more than is allowed.
fn large() -> Value {
    let mut pod = asks_for_an_accelerator("large");
    let annotations: serde_json::Map<_, _> = (0..2000)
        .map(|number| (format!("example.org/note-{number}"), json!("x".repeat(100))))
        .collect();
    pod["metadata"]["annotations"] = Value::Object(annotations);
    let plain = |number| json!({"name": format!("c{number}"), "image": "busybox:local", "resources": {"limits": {"cpu": "1", "memory": "1Gi"}}});
    let engine = pod["spec"]["containers"][0].take();
    let mut containers: Vec<_> = (0..100).map(plain).collect();
    containers.push(engine);
    pod["spec"]["containers"] = Value::Array(containers);
    pod
}

/// The resource that an object of this kind is created by, where the API server has it.
fn resource(object: &Value) -> Option<&'static str> {
    Some(match object["kind"].as_str()? {
        "CronJob" => "cronjobs",
        "DaemonSet" => "daemonsets",
        "Deployment" => "deployments",
        "Job" => "jobs",
        "LeaderWorkerSet" => "leaderworkerset.x-k8s.io/v1/leaderworkersets",
        "Pod" => "pods",
        "ReplicaSet" => "replicasets",
        "StatefulSet" => "statefulsets",
        _ => return None,
    })
}

/// Takes out what belongs to where the object comes from.
fn prepare(object: &mut Value) {
    if let Some(metadata) = object["metadata"].as_object_mut() {
        metadata.remove("namespace");
        metadata.remove("uid");
        metadata.remove("resourceVersion");
    }
}

/// Creating pods that do not concern us calls nobody.
pub(super) fn keep_other_pods_away(cluster: &Cluster, _unlabelled: &Namespace<'_>) {
    let namespace = cluster.namespace("others", &[(MODE, "enforce")]);
    let path = format!("{}?dryRun=All", namespace.path("pods", ""));
    let create = |pod: &Value| {
        let answer = cluster.api("POST", &path, "application/json", &pod.to_string());
        assert_eq!(answer.status, 201, "{}", answer.body);
    };
    let before = requests(cluster);
    let mut pod = asks_for_an_accelerator("other");
    create(&pod);
    let ours = requests(cluster);
    assert_eq!(ours - before, 2, "one of each endpoint");
    pod["metadata"]["annotations"].take();
    pod["spec"]["containers"][0]["resources"] = json!({"limits": {"cpu": "1"}});
    for _ in 0..OTHERS {
        create(&pod);
    }
    assert_eq!(requests(cluster), ours);
}

/// How many reviews the webhooks have been asked.
fn requests(cluster: &Cluster) -> u64 {
    let metrics = WARMGATE.metrics(cluster, "webhook").into_values();
    let counts = metrics.map(|metrics| {
        let text = metrics.must();
        let lines = text.lines();
        lines
            .filter(|line| line.starts_with("warmgate_admission_requests_total{"))
            .filter_map(|line| line.rsplit(' ').next()?.parse::<u64>().ok())
            .sum::<u64>()
    });
    counts.sum()
}
