//! The match conditions, evaluated by the API server: what concerns us is asked about, and nothing else is.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Value, json};
use warmgate::admit::{Decision, Outcome, admit};
use warmgate::facts::{Facts, Mode, Origin};
use warmgate::intent::SkipReason;
use warmgate::manifest::Manifest;
use warmgate::review::Request;

use crate::cases;
use crate::harness::cluster::Cluster;
use crate::harness::namespace::Namespace;
use crate::product::{self, MODE, asks_for_an_accelerator};

const DEADLINE: Duration = Duration::from_secs(60);

/// Pods that ask for no accelerator, as a namespace is full of them.
const OTHERS: usize = 500;

/// Each object of the cases is created, without being stored. The API server asks about every one that is edited, judged or
/// refused here, and about none that is not ours and says nothing to us.
pub(super) fn hide_nothing_that_concerns_us(cluster: &Cluster, _unlabelled: &Namespace<'_>) {
    let namespace = cluster.namespace("conditions", &[(MODE, "fix")]);
    let mut objects = objects();
    objects.push(("large".to_owned(), large()));
    let mut expected = BTreeMap::new();
    for (name, mut object) in objects {
        let Some(resource) = resource(&object) else {
            continue;
        };
        prepare(&mut object);
        let decision = decide(&object, namespace.name());
        let path = format!("{}?dryRun=All", namespace.path(resource, ""));
        let answer = cluster.api("POST", &path, "application/json", &object.to_string());
        // What the API server cannot decode it asks nobody about.
        if answer.status != 400 {
            expected.insert(answer.audit_id, (name, decision));
        }
    }
    assert!(expected.len() > 200, "only {} objects", expected.len());
    let asked = cluster.wait_for("audit records", DEADLINE, || {
        let records = cluster.audit();
        let asked: BTreeMap<_, _> = records
            .iter()
            .filter_map(|record| record.value()["auditID"].as_str().zip(Some(record)))
            .filter(|(id, _)| expected.contains_key(*id))
            .map(|(id, record)| (id.to_owned(), was_asked(record.value())))
            .collect();
        if asked.len() == expected.len() {
            Ok(asked)
        } else {
            Err(format!("{} of {}", asked.len(), expected.len()))
        }
    });
    let wrong: Vec<_> = expected
        .iter()
        .filter(|(id, (_, decision))| asked[*id] == does_not_concern_us(decision))
        .map(|(id, (name, decision))| {
            format!("{name}: asked {}, {:?}", asked[id], decision.outcome)
        })
        .collect();
    assert_eq!(wrong, Vec::<String>::new());
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

/// What the core says of the object when it is created.
fn decide(object: &Value, namespace: &str) -> Decision {
    let (group, version) = match object["apiVersion"].as_str().unwrap_or_default() {
        version if !version.contains('/') => ("", version),
        both => both.split_once('/').unwrap_or_default(),
    };
    let review = json!({
        "apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
        "request": {
            "uid": "1", "operation": "CREATE", "namespace": namespace, "object": object,
            "kind": {"group": group, "version": version, "kind": object["kind"]},
        },
    });
    let request = Request::from_value(&review).unwrap_or_else(|error| panic!("{error}: {review}"));
    admit(&request, &Facts::new(Mode::Fix, Origin::Admission))
}

/// Nothing is done about it and nothing is said.
fn does_not_concern_us(decision: &Decision) -> bool {
    let skipped = matches!(&decision.outcome, Outcome::Skipped(skip)
        if matches!(skip.reason, SkipReason::MirrorPod | SkipReason::NotOurs));
    skipped && decision.findings.is_empty() && decision.patch.0.is_empty()
}

/// Every object of the cases, with the file that it is in.
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
    cases::all().into_iter().flat_map(of_case).collect()
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
        "Pod" => "pods",
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
    let pods = format!("/api/v1/namespaces/{}/pods", product::NAMESPACE);
    let selector = "?labelSelector=app.kubernetes.io/component%3Dwebhook";
    let found = cluster
        .get(&format!("{pods}{selector}"))
        .unwrap_or_default();
    let names = found["items"].as_array().into_iter().flatten();
    names
        .filter_map(|pod| pod["metadata"]["name"].as_str())
        .map(|name| {
            let path = format!("{pods}/{name}:8080/proxy/metrics");
            let done = cluster.kubectl(&["get", "--raw", &path], None).must();
            done.lines()
                .filter(|line| line.starts_with("warmgate_admission_requests_total{"))
                .filter_map(|line| line.rsplit(' ').next()?.parse::<u64>().ok())
                .sum::<u64>()
        })
        .sum()
}
