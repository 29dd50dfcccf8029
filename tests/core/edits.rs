//! What a fix writes into a Deployment whose one container is holds an accelerator, and why it leaves one alone.

use serde_json::{Value, json};
use warmgate::admit::{Decision, Outcome};

use super::rules_page::decisions_of_file;
use super::rules_rows::of_kind;

const STARTUP: &str = "/spec/template/spec/containers/0/startupProbe";
const PRESTOP: &str = "/spec/template/spec/containers/0/lifecycle/preStop";
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
