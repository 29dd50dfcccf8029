//! The slow server in its image, probed in every way a kubelet can.

use std::time::Duration;

use serde_json::Value;

use crate::harness::cluster::Cluster;
use crate::harness::namespace::{Namespace, restarts};

const DEADLINE: Duration = Duration::from_secs(120);

/// A handler for each kind of probe, and the flags that make the server pass it.
const HANDLERS: [(&str, &str, &str); 5] = [
    (
        "http",
        "httpGet: {path: /health, port: 8000}",
        r#""--http", "8000""#,
    ),
    ("tcp", "tcpSocket: {port: 7000}", r#""--tcp", "7000""#),
    (
        "grpc",
        "grpc: {port: 9000, service: engine}",
        r#""--grpc", "9000""#,
    ),
    (
        "exec",
        r#"exec: {command: [test, -f, /tmp/ready]}"#,
        r#""--ready-file", "/tmp/ready""#,
    ),
    (
        "ask",
        r#"exec: {command: [/slowserver, --ask, "8000"]}"#,
        r#""--http", "8000", "--while-loading", "hang""#,
    ),
];

fn pod(name: &str, flags: &str, probes: &str) -> String {
    format!(
        r#"
apiVersion: v1
kind: Pod
metadata:
  name: {name}
spec:
  terminationGracePeriodSeconds: 20
  containers:
  - name: server
    image: slowserver:local
    args: [{flags}]
{probes}"#
    )
}

/// What the server in the pod `name` has logged.
fn log(namespace: &Namespace<'_>, name: &str) -> Vec<Value> {
    let text = namespace.logs(name);
    text.lines()
        .filter_map(|line| serde_json::from_str(line).ok())
        .collect()
}

/// Each becomes Ready once its load is over, without a restart, and has logged what it was asked.
pub(super) fn passes_every_kind_of_probe(_cluster: &Cluster, namespace: &Namespace<'_>) {
    for (name, handler, flags) in HANDLERS {
        let probes: String = ["startupProbe", "livenessProbe", "readinessProbe"]
            .map(|probe| {
                format!("    {probe}:\n      {handler}\n      periodSeconds: 1\n      failureThreshold: 60\n")
            })
            .concat();
        let flags = format!(r#"{flags}, "--ready-after", "3", "--listens-after", "1""#);
        namespace.apply(&pod(name, &flags, &probes));
    }
    for (name, ..) in HANDLERS {
        let pod = namespace.ready(name, DEADLINE);
        assert_eq!(restarts(&pod), 0, "{name}");
        let log = log(namespace, name);
        let has = |event: &str| log.iter().any(|line| line["event"] == event);
        assert!(has("ready"), "{name}: {log:?}");
        match name {
            "http" | "grpc" | "ask" => assert!(has("request") && has("answer"), "{name}: {log:?}"),
            "tcp" => assert!(has("connection"), "{name}: {log:?}"),
            _ => {}
        }
    }
    let asked = log(namespace, "http");
    let request = asked.iter().find(|line| line["event"] == "request");
    let agent = request.and_then(|request| request["agent"].as_str());
    assert!(
        agent.is_some_and(|agent| agent.starts_with("kube-probe/")),
        "{agent:?}"
    );
    let asked = log(namespace, "grpc");
    assert!(
        asked.iter().any(|line| line["service"] == "engine"),
        "{asked:?}"
    );
}

/// A server that answers 503 while it loads is killed by its liveness probe, with the exit code that it was told; its own exit
/// restarts it as well.
pub(super) fn is_restarted_while_it_loads(cluster: &Cluster, namespace: &Namespace<'_>) {
    let probe = "    livenessProbe:\n      httpGet: {path: /health, port: 8000}\n      periodSeconds: 1\n      failureThreshold: 2\n";
    for (name, on_term) in [("killed", "abort"), ("serves", "serve=0.5")] {
        let flags =
            format!(r#""--http", "8000", "--ready-after", "3600", "--on-term", "{on_term}""#);
        namespace.apply(&pod(name, &flags, probe));
    }
    namespace.apply(&pod(
        "exits",
        r#""--exits-after", "1", "--exit-code", "7""#,
        "",
    ));
    let last = |name: &str| {
        cluster.wait_for("restart", DEADLINE, || {
            let pod = namespace.get("pods", name).ok_or("no pod")?;
            let last = &pod["status"]["containerStatuses"][0]["lastState"]["terminated"];
            if restarts(&pod) >= 1 && last.is_object() {
                Ok(last["exitCode"].clone())
            } else {
                Err(pod["status"].to_string())
            }
        })
    };
    assert_eq!(last("exits"), 7);
    assert_eq!(last("killed"), 143);
    assert_eq!(last("serves"), 0);
}
