//! What a fix writes into a Deployment whose one container is holds an accelerator, and why it leaves one alone.

use std::sync::Arc;

use serde_json::{Value, json};
use warmgate::admit::{Decision, Outcome, admit};
use warmgate::facts::{Cluster, Facts, Mode, Origin};
use warmgate::manifest::Manifest;
use warmgate::review::Request;

use super::generate::{create, replace};
use super::rules_page::decisions_of_file;
use super::rules_rows::of_kind;

const STARTUP: &str = "/spec/template/spec/containers/0/startupProbe";
const PRESTOP: &str = "/spec/template/spec/containers/0/lifecycle/preStop";
const GRACE: &str = "/spec/template/spec/terminationGracePeriodSeconds";
const DEADLINE: &str = "/spec/progressDeadlineSeconds";

/// A Deployment: annotations and the rest of the container, as members of flow maps.
fn deployment(annotations: &str, container: &str) -> (Value, Decision) {
    let template = format!("annotations: {{{annotations}}}");
    let manifest = of_kind("Deployment", "", &template, "", "", container);
    let mut judged = decisions_of_file("edits", &manifest);
    let (mut object, decision) = judged.pop().expect("one object");
    json_patch::patch(&mut object, &decision.patch).expect("a patch that applies");
    (object, decision)
}

/// The members of the startup probe that say how it is asked and how often.
fn startup(annotations: &str, container: &str) -> Option<(Value, i64)> {
    let (object, _) = deployment(annotations, container);
    let probe = object.pointer(STARTUP)?.as_object()?.clone();
    let handler = ["exec", "grpc", "httpGet", "tcpSocket"];
    let (key, value) = probe
        .iter()
        .find(|(key, _)| handler.contains(&key.as_str()))?;
    Some((json!({ key: value }), probe["failureThreshold"].as_i64()?))
}

const TEI: &str = "image: 'ghcr.io/huggingface/text-embeddings-inference:";

#[test]
fn windows_without_end_stay_numbers_that_the_api_takes() {
    let liveness =
        |numbers: &str| format!("image: x, livenessProbe: {{tcpSocket: {{port: 1}}, {numbers}}}");
    let most = i64::from(i32::MAX);
    for endless in [
        "failureThreshold: 2147483647, periodSeconds: 30",
        "failureThreshold: 2147483647, periodSeconds: 2147483647, initialDelaySeconds: 2147483647",
    ] {
        let (object, _) = deployment("", &liveness(endless));
        let threshold = object.pointer(&format!("{STARTUP}/failureThreshold"));
        assert_eq!(threshold, Some(&json!(most)), "{endless}");
        assert_eq!(object.pointer(DEADLINE), Some(&json!(most)), "{endless}");
    }
    let standing = "image: x, startupProbe: {tcpSocket: {port: 1}, failureThreshold: 999999999}";
    let (object, _) = deployment("", standing);
    assert_eq!(object.pointer(DEADLINE), Some(&json!(most)));
}

#[test]
fn no_preset_asks_a_server_over_http_that_speaks_none() {
    let http = json!({"httpGet": {"path": "/health", "port": 80}});
    let plain = startup("", &format!("{TEI}cpu-1.8', args: [--model-id=m]"));
    assert_eq!(plain, Some((http, 361)));
    for silent in [
        format!("{TEI}cpu-1.8-grpc', args: [--model-id=m]"),
        "image: vllm/vllm-openai, args: [--model, m, --grpc]".to_owned(),
        "image: nvcr.io/nvidia/tritonserver:25.08-py3, command: [tritonserver, --allow-http=false]"
            .to_owned(),
    ] {
        assert_eq!(startup("", &silent), None, "{silent}");
    }
}

#[test]
fn a_handler_that_the_owner_names_can_mean_only_the_one_container_that_may_serve() {
    let asked = "warmgate.io/startup-probe: 'tcp://:9000'";
    let tcp = json!({"tcpSocket": {"port": 9000}});
    let unknown = "image: x, command: [/run.sh]";
    assert_eq!(startup(asked, unknown), Some((tcp, 361)));
    for left_alone in [
        (asked, "image: x, command: [sleep, infinity]"),
        ("warmgate.io/startup-probe: none", unknown),
        ("warmgate.io/max-startup-time: 15m", unknown),
    ] {
        let (object, _) = deployment(left_alone.0, left_alone.1);
        assert_eq!(object.pointer(STARTUP), None, "{left_alone:?}");
        assert_eq!(object.pointer(PRESTOP), None, "{left_alone:?}");
    }
    let second = "image: x}, {name: b, image: y, resources: {limits: {nvidia.com/gpu: 1}}";
    assert_eq!(startup(asked, second), None, "it may mean either");
}

#[test]
fn a_notebook_is_left_alone_also_with_probes() {
    let probes = "livenessProbe: {httpGet: {path: /api, port: 8888}}, readinessProbe: {httpGet: {path: /api, port: 8888}}";
    for notebook in [
        "image: quay.io/jupyter/pytorch-notebook:cuda12",
        "image: codercom/code-server:4",
        "image: x, command: [start-notebook.sh]",
        "image: x, command: [sh, -c, 'exec jupyter lab --ip=0.0.0.0']",
    ] {
        let (_, decision) = deployment("", &format!("{notebook}, {probes}"));
        assert!(decision.patch.0.is_empty(), "{notebook}");
        let Outcome::Skipped(skip) = &decision.outcome else {
            panic!("{notebook}: {:?}", decision.outcome);
        };
        assert_eq!(skip.reason.word(), "batch", "{notebook}");
        let said: Vec<&str> = decision.findings.iter().map(|one| one.rule).collect();
        assert_eq!(said, ["job-liveness"], "{notebook}");
    }
    let server = format!("image: quay.io/jupyter/vllm, command: [vllm, serve, m], {probes}");
    let (_, decision) = deployment("", &server);
    assert!(!decision.patch.0.is_empty());
}

#[test]
fn a_hook_is_never_as_long_as_the_grace_period_it_gets() {
    let drains_none = "warmgate.io/drain-time: none";
    let probed = "image: x, livenessProbe: {tcpSocket: {port: 1}}";
    let hook = format!("{probed}, lifecycle: {{preStop: {{sleep: {{seconds: 45}}}}}}");
    let (object, _) = deployment(drains_none, &hook);
    assert_eq!(object.pointer(GRACE), Some(&json!(46)));
    let asks = format!("{drains_none}, warmgate.io/prestop-sleep: 40s");
    let (object, _) = deployment(&asks, probed);
    assert_eq!(object.pointer(GRACE), Some(&json!(41)));
    assert_eq!(
        object.pointer(PRESTOP),
        Some(&json!({"sleep": {"seconds": 40}}))
    );
}

#[test]
fn a_hook_counts_what_it_sleeps_in_any_case() {
    let grace_of = |pod: &str, script: &str| {
        let container = format!(
            "image: x, livenessProbe: {{tcpSocket: {{port: 1}}}}, lifecycle: {{preStop: {{exec: {{command: [sh, -c, '{script}']}}}}}}"
        );
        let manifest = of_kind("Deployment", "", "", "", pod, &container);
        let (mut object, decision) = decisions_of_file("edits", &manifest).pop().expect("one");
        json_patch::patch(&mut object, &decision.patch).expect("a patch that applies");
        let own_grace = format!("{STARTUP}/terminationGracePeriodSeconds");
        assert_eq!(object.pointer(&own_grace), None, "{script}");
        object.pointer(GRACE).and_then(Value::as_i64)
    };
    for (script, grace) in [
        ("/drain || true; sleep 120", 180),
        ("/drain; sleep 5", 75),
        ("/drain && sleep 120", 75),
        ("/drain; sleep infinity", 75),
    ] {
        assert_eq!(grace_of("", script), Some(grace), "{script}");
    }
    let sixty = "terminationGracePeriodSeconds: 60";
    assert_eq!(grace_of(sixty, "/drain; sleep 60"), Some(120));
    assert_eq!(grace_of(sixty, "/drain; sleep 59"), Some(60));
    assert_eq!(grace_of(sixty, "sleep infinity"), Some(60));
}

/// What an update makes of a Deployment that was mended when it was created: the owner changes the second container, and `then`
/// the pod or the facts.
fn updated(
    annotations: &str,
    created: &Facts,
    then: impl Fn(&mut Value, &mut Facts),
) -> (Value, Decision) {
    let text = of_kind(
        "Deployment",
        "namespace: team",
        &format!("annotations: {{{annotations}}}"),
        "",
        "",
        "image: x, livenessProbe: {tcpSocket: {port: 1}}}, {name: b, image: y, readinessProbe: {tcpSocket: {port: 2}}",
    );
    let object = &Manifest::read("edits", &text).objects[0].value;
    let mended = |request: &Request, facts: &Facts| {
        let decision = admit(request, facts);
        let mut object = request.object.clone().expect("an object");
        json_patch::patch(&mut object, &decision.patch).expect("a patch that applies");
        (object, decision)
    };
    let (old, _) = mended(&create(object, "team"), created);
    let (mut new, mut facts) = (old.clone(), created.clone());
    new["spec"]["template"]["spec"]["containers"][1]["args"] = json!(["--verbose"]);
    then(&mut new, &mut facts);
    mended(&replace(&old, &new, "team"), &facts)
}

#[test]
fn a_sleep_of_ours_fits_into_the_grace_period_that_an_update_leaves() {
    let asks = "warmgate.io/prestop-sleep: a=40s";
    let facts = Facts::new(Mode::Fix, Origin::Admission);
    let (object, _) = updated(asks, &facts, |_, _| {});
    let sleep = object.pointer(PRESTOP).map(Value::to_string);
    assert_eq!(sleep.as_deref(), Some(r#"{"sleep":{"seconds":40}}"#));
    assert_eq!(object.pointer(GRACE), Some(&json!(100)));
    // The notice of spot capacity is too short for it, so no grace period is made for it any more.
    let (object, decision) = updated(asks, &facts, |object, _| {
        object["spec"]["template"]["spec"]["nodeSelector"] =
            json!({"cloud.google.com/gke-spot": "true"});
    });
    assert_eq!(object.pointer(GRACE), None);
    assert_eq!(object.pointer(PRESTOP), None, "{:?}", decision.edits);
}

#[test]
fn a_window_of_ours_fits_into_the_deadline_that_an_update_leaves() {
    let mut facts = Facts::new(Mode::Fix, Origin::Admission);
    let mut cluster = Cluster::default();
    cluster.starts.insert("team/a/a".to_owned(), 5000);
    facts.cluster = Arc::new(cluster);
    let window = |object: &Value| {
        object
            .pointer(STARTUP)
            .map(|probe| probe["failureThreshold"].clone())
    };
    let (object, _) = updated("", &facts, |_, _| {});
    assert_eq!(window(&object), Some(json!(626)));
    assert_eq!(object.pointer(DEADLINE), Some(&json!(6550)));
    let (object, _) = updated("", &facts, |_, facts| facts.cluster = Arc::default());
    assert_eq!(object.pointer(DEADLINE), Some(&json!(3900)));
    assert_eq!(window(&object), Some(json!(361)));
}

/// Who applied by name what is wanted already puts nothing back: the API server has filled in the numbers.
#[test]
fn a_rollout_is_made_beside_a_type_that_was_applied_by_name() {
    let applied = |strategy: Value| {
        let mut object = rolling_deployment();
        let text = json!({"spec": {"strategy": strategy}}).to_string();
        object["metadata"]["annotations"] = json!({
            "warmgate.io/rollout": "no-surge",
            "kubectl.kubernetes.io/last-applied-configuration": text,
        });
        let facts = Facts::new(Mode::Fix, Origin::Admission);
        let patch = admit(&create(&object, "team"), &facts).patch;
        json_patch::patch(&mut object, &patch).expect("a patch that applies");
        object["spec"]["strategy"]["rollingUpdate"].clone()
    };
    let none = json!({"maxSurge": 0, "maxUnavailable": 1});
    assert_eq!(applied(json!({"type": "RollingUpdate"})), none);
    let quarters = json!({"maxSurge": "25%", "maxUnavailable": "25%"});
    for field in ["maxSurge", "maxUnavailable"] {
        let strategy = json!({"type": "RollingUpdate", "rollingUpdate": {field: "25%"}});
        assert_eq!(applied(strategy), quarters, "{field}");
    }
}

/// A Deployment as the API server fills it in.
fn rolling_deployment() -> Value {
    let container = "image: x, livenessProbe: {tcpSocket: {port: 1}}";
    let text = of_kind("Deployment", "", "", "", "", container);
    let mut object = Manifest::read("edits", &text).objects[0].value.clone();
    object["spec"]["strategy"] = json!({
        "type": "RollingUpdate", "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": "25%"},
    });
    object
}
