//! What other suites take for granted: both Helms, the audit log, warnings and refusals arrive here as a user gets them.

use std::fs;
use std::time::Duration;

use crate::harness::cluster::Cluster;
use crate::harness::namespace::Namespace;

const CONFIG: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: made-by-a-chart}\n";

/// A chart is installed and removed by both Helms.
pub(super) fn helm_installs(cluster: &Cluster, namespace: &Namespace<'_>) {
    let chart = tempfile::tempdir().unwrap_or_else(|error| panic!("{error}"));
    let folder = chart.path().join("templates");
    fs::create_dir(&folder)
        .and_then(|()| fs::write(folder.join("config.yaml"), CONFIG))
        .and_then(|()| {
            let text = "apiVersion: v2\nname: chart\nversion: 0.1.0\n";
            fs::write(chart.path().join("Chart.yaml"), text)
        })
        .unwrap_or_else(|error| panic!("{error}"));
    let chart = chart.path().display().to_string();
    let helms: [&dyn Fn(&[&str]) -> _; 2] = [&|arguments| cluster.helm4(arguments), &|arguments| {
        cluster.helm3(arguments)
    }];
    for helm in helms {
        helm(&[
            "install",
            "release",
            &chart,
            "--namespace",
            namespace.name(),
        ])
        .must();
        assert!(namespace.get("configmaps", "made-by-a-chart").is_some());
        helm(&["uninstall", "release", "--namespace", namespace.name()]).must();
        assert!(namespace.get("configmaps", "made-by-a-chart").is_none());
    }
}

/// A stored pod is in the audit log as it was stored; a warning is a warning; a refusal is one.
pub(super) fn answers_are_seen(cluster: &Cluster, namespace: &Namespace<'_>) {
    let pod = r#"{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "seen"}, "spec": {
        "nodeName": "nowhere", "containers": [{"name": "c", "image": "busybox:local", "imagined": 1}]}}"#;
    let path = format!("{}?fieldValidation=Warn", namespace.path("pods", ""));
    let answer = cluster.api("POST", &path, "application/json", pod);
    assert_eq!(answer.status, 201, "{}", answer.body);
    assert_eq!(
        answer.warnings,
        [r#"unknown field "spec.containers[0].imagined""#]
    );
    let stored = cluster.wait_for("audit record", Duration::from_secs(30), || {
        let records = cluster.audit();
        let found = records
            .iter()
            .find(|record| record.is("create", "pods", namespace.name()));
        found
            .cloned()
            .ok_or_else(|| format!("{} records", records.len()))
    });
    assert_eq!(
        stored.annotation("authorization.k8s.io/decision"),
        Some("allow")
    );
    let name = stored
        .value()
        .pointer("/responseObject/spec/containers/0/name");
    assert_eq!(name.and_then(|name| name.as_str()), Some("c"));
    let refused = namespace
        .kubectl(&["create", "--filename=-"], Some(pod))
        .must_fail();
    assert!(
        refused.contains("imagined") || refused.contains("already exists"),
        "{refused}"
    );
}
