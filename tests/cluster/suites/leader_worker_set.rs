//! LeaderWorkerSets, with the definition of their project. Their controller is not there: what it would make is made as it does.

use std::time::Duration;

use serde_json::{Value, json};

use super::definitions::define;
use super::engine::{ENGINE, mended, named, template, written};
use crate::harness::cluster::Cluster;
use crate::harness::namespace::Namespace;
use crate::product::{MODE, changes};

const RESOURCE: &str = "leaderworkerset.x-k8s.io/v1/leaderworkersets";
const DEFINITION: &str = "config/crd/bases/leaderworkerset.x-k8s.io_leaderworkersets.yaml";

/// The labels and annotations by which its pods are known.
const NAME: &str = "leaderworkerset.sigs.k8s.io/name";
const WORKER_INDEX: &str = "leaderworkerset.sigs.k8s.io/worker-index";
const SIZE: &str = "leaderworkerset.sigs.k8s.io/size";

const DEADLINE: Duration = Duration::from_secs(60);

/// What the pod specs of a custom resource say where neither the owner nor warmgate wrote anything: there are no defaults.
fn untouched() -> Value {
    json!({"startup": null, "timeout": null, "sleep": null, "grace": null})
}

/// Makes the API server know the kind.
pub(super) fn define_kind(cluster: &Cluster) {
    define(cluster, "lws", "sigs.k8s.io/lws", DEFINITION, RESOURCE);
}

/// A namespace in which the API server knows the kind.
fn namespace<'c>(cluster: &'c Cluster, name: &str) -> Namespace<'c> {
    define_kind(cluster);
    cluster.namespace(name, &[(MODE, "fix")])
}

/// A set of one group of two. Its leader serves, its worker does not, and has no probe.
fn set() -> Value {
    let mut worker = template();
    worker["metadata"]["labels"] = json!({"app": "worker"});
    let container = &mut worker["spec"]["containers"][0];
    container["livenessProbe"].take();
    container["args"] = json!(["--tcp", "7000"]);
    json!({
        "apiVersion": "leaderworkerset.x-k8s.io/v1",
        "kind": "LeaderWorkerSet",
        "metadata": {"name": ENGINE},
        "spec": {
            "replicas": 1,
            "leaderWorkerTemplate": {"size": 2, "leaderTemplate": template(), "workerTemplate": worker},
        },
    })
}

/// Creates the set, and gives it as it is stored, and what was warned of.
fn create(namespace: &Namespace<'_>, set: &Value) -> (Value, String) {
    let answer = namespace.create(RESOURCE, set);
    assert_eq!(answer.status, 201, "{}", answer.body);
    (answer.body, answer.warnings.join("\n"))
}

fn template_of<'s>(set: &'s Value, role: &str) -> &'s Value {
    &set["spec"]["leaderWorkerTemplate"][role]
}

/// Makes a StatefulSet of one pod as the controller does, and gives the pod. `index` is its place in the group; the worker's is
/// written by the controller's own webhook.
fn pod(
    cluster: &Cluster,
    namespace: &Namespace<'_>,
    owner: &Value,
    template: &Value,
    index: u8,
) -> Value {
    let name = match index {
        0 => ENGINE.to_owned(),
        _ => format!("{ENGINE}-0"),
    };
    let labels = json!({NAME: ENGINE, WORKER_INDEX: index.to_string()});
    let mut template = template.clone();
    template["metadata"]["labels"] = labels.clone();
    template["metadata"]["annotations"][SIZE] = json!("2");
    let set = json!({
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": {
            "name": name,
            "ownerReferences": [{
                "apiVersion": owner["apiVersion"],
                "kind": owner["kind"],
                "name": owner["metadata"]["name"],
                "uid": owner["metadata"]["uid"],
                "controller": true,
            }],
        },
        "spec": {
            "serviceName": ENGINE,
            "replicas": 1,
            "podManagementPolicy": "Parallel",
            "ordinals": {"start": index},
            "selector": {"matchLabels": labels},
            "template": template,
        },
    });
    let answer = namespace.create("statefulsets", &set);
    assert_eq!(answer.status, 201, "{}", answer.body);
    assert!(answer.warnings.is_empty(), "{:?}", answer.warnings);
    assert_eq!(changes(&answer.body), None, "its owner would put it back");
    cluster.wait_for("pod", DEADLINE, || {
        let pod = namespace.get("pods", &format!("{name}-{index}"));
        Ok(pod.ok_or("there is none")?)
    })
}

/// Leader and worker have templates of their own: the leader's is mended, and their pods need nothing more.
pub(super) fn leader_is_mended(cluster: &Cluster, _unlabelled: &Namespace<'_>) {
    let namespace = namespace(cluster, "group");
    let sent = set();
    let (set, said) = create(&namespace, &sent);
    assert!(said.contains("warmgate changed"), "{said}");
    let (leader, worker) = (
        template_of(&set, "leaderTemplate"),
        template_of(&set, "workerTemplate"),
    );
    assert_eq!(written(&leader["spec"]), mended());
    assert_eq!(written(&worker["spec"]), untouched());
    let outside = |field: &String| !field.starts_with("spec.leaderWorkerTemplate.leaderTemplate.");
    assert!(!named(&set).iter().any(outside), "{set}");

    let first = pod(cluster, &namespace, &set, leader, 0);
    assert_eq!(written(&first["spec"]), mended());
    assert_eq!(changes(&first), None, "its template was mended already");
    let second = pod(cluster, &namespace, &first, worker, 1);
    assert_eq!(
        written(&second["spec"]),
        json!({"startup": null, "timeout": null, "sleep": null, "grace": 30})
    );
    assert_eq!(changes(&second), None);
}

/// Where the workers are made once the leader is Ready, which it may be only with them, nothing holds its Ready back, unless its
/// owner asks for that: then he is told.
pub(super) fn leader_ready(cluster: &Cluster, _unlabelled: &Namespace<'_>) {
    let without = json!({"startup": null, "timeout": 5, "sleep": 15, "grace": 75});
    for (asks, startup) in [(false, Value::Null), (true, json!(114))] {
        let namespace = namespace(cluster, "leader-ready");
        let mut sent = set();
        sent["spec"]["startupPolicy"] = json!("LeaderReady");
        if asks {
            let leader = &mut sent["spec"]["leaderWorkerTemplate"]["leaderTemplate"];
            leader["metadata"]["annotations"]["warmgate.io/startup-probe"] =
                json!("http://:8000/health");
        }
        let (set, said) = create(&namespace, &sent);
        assert!(said.contains("since peers wait for Ready"), "{said}");
        assert_eq!(said.contains("[annotation-overruled]"), asks, "{said}");
        let leader = template_of(&set, "leaderTemplate");
        assert_eq!(written(&leader["spec"]), without);
        let first = pod(cluster, &namespace, &set, leader, 0);
        let mut expected = without.clone();
        expected["startup"] = startup;
        assert_eq!(written(&first["spec"]), expected);
    }
}

/// Where leader and workers are made from one template, it stays as it is. The leader's pod is mended, with a startup probe only if
/// its owner names one: whether the workers wait for its Ready cannot be seen in it. The worker's pod stays as it is.
pub(super) fn one_template(cluster: &Cluster, _unlabelled: &Namespace<'_>) {
    let probe = json!("http://:8000/health");
    for (asked, startup) in [(Value::Null, Value::Null), (probe, json!(114))] {
        let namespace = namespace(cluster, "one-template");
        let mut sent = set();
        let templates = &mut sent["spec"]["leaderWorkerTemplate"];
        let mut both = templates["leaderTemplate"].take();
        if asked.is_string() {
            both["metadata"]["annotations"]["warmgate.io/startup-probe"] = asked;
        }
        *templates = json!({"size": 2, "workerTemplate": both});
        let (set, said) = create(&namespace, &sent);
        assert!(!said.contains("warmgate changed"), "{said}");
        let both = template_of(&set, "workerTemplate");
        assert_eq!(written(&both["spec"]), untouched());
        assert_eq!(changes(&set), None);

        let first = pod(cluster, &namespace, &set, both, 0);
        assert_eq!(
            written(&first["spec"]),
            json!({"startup": startup, "timeout": 5, "sleep": 15, "grace": 75})
        );
        let second = pod(cluster, &namespace, &first, both, 1);
        assert_eq!(
            written(&second["spec"]),
            json!({"startup": null, "timeout": 1, "sleep": null, "grace": 30})
        );
        assert_eq!(changes(&second), None);
    }
}
