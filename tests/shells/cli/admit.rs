//! `warmgate admit`.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use warmgate::admit::{Endpoint, admit};
use warmgate::facts::{Facts, Mode, Origin};
use warmgate::manifest::Manifest;
use warmgate::review;

use super::{example, run_with};

fn review(file: &str) -> Value {
    let object = Manifest::read(file, &example(file)).objects.remove(0).value;
    json!({
        "apiVersion": "admission.k8s.io/v1",
        "kind": "AdmissionReview",
        "request": {
            "uid": "3c5e",
            "kind": {"group": "apps", "version": "v1", "kind": "Deployment"},
            "namespace": "ml",
            "operation": "CREATE",
            "object": object,
        },
    })
}

fn args<'a>(endpoint: &'a str, mode: &'a str) -> [&'a str; 6] {
    ["admit", "--endpoint", endpoint, "--mode", mode, "-"]
}

#[test]
fn the_answer_is_that_of_the_core() {
    for file in ["vllm-crash-loop.yaml", "contradiction.yaml"] {
        let body = review(file).to_string();
        for endpoint in [Endpoint::Mutate, Endpoint::Validate] {
            for mode in Mode::ALL {
                let ran = run_with(&args(endpoint.word(), mode.word()), &body);
                assert_eq!(ran.code, 0, "{}", ran.err);
                let request = review::read(body.as_bytes()).expect("it is a review");
                let facts = Facts::new(mode, Origin::Admission);
                let response = admit(&request, &facts).response(endpoint);
                let answer = review::answer("3c5e", &response);
                let wanted: Value = serde_json::from_slice(&answer).expect("it is JSON");
                assert_eq!(ran.json(), wanted);
            }
        }
    }
}

#[test]
fn patches_and_refusals_come_out() {
    let mutated = run_with(
        &args("mutate", "fix"),
        &review("vllm-crash-loop.yaml").to_string(),
    );
    let response = mutated.json()["response"].take();
    assert_eq!(response["patchType"], "JSONPatch");
    let patch = response["patch"].as_str().expect("a patch is text");
    let patch = STANDARD.decode(patch).expect("a patch is base64");
    assert!(String::from_utf8_lossy(&patch).contains("startupProbe"));
    let refused = run_with(
        &args("validate", "enforce"),
        &review("contradiction.yaml").to_string(),
    );
    assert_eq!(refused.code, 0, "an answer is an answer");
    let response = refused.json()["response"].take();
    assert_eq!(response["allowed"], false);
    let message = response["status"]["message"].as_str().unwrap_or_default();
    assert!(message.contains("[startup-window-too-short]"), "{message}");
}

#[test]
fn yaml_is_read_as_well() {
    let json = review("vllm-crash-loop.yaml");
    let object = example("vllm-crash-loop.yaml")
        .lines()
        .map(|line| format!("    {line}\n"))
        .collect::<String>();
    let yaml = format!(
        "apiVersion: admission.k8s.io/v1\nkind: AdmissionReview\nrequest:\n  uid: 3c5e\n  kind: {{group: apps, version: v1, kind: Deployment}}\n  namespace: ml\n  operation: CREATE\n  object:\n{object}"
    )
    .replace("uid: 3c5e", "uid: \"3c5e\"");
    let args = args("mutate", "enforce");
    assert_eq!(
        run_with(&args, &yaml).json(),
        run_with(&args, &json.to_string()).json()
    );
}

#[test]
fn what_is_no_review_is_told() {
    for input in [
        "",
        "{",
        "a: [1",
        "kind: Pod",
        r#"{"request": {}}"#,
        "a: 1\n---\nb: 2\n",
    ] {
        let ran = run_with(&args("mutate", "fix"), input);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{input}");
        assert!(ran.err.starts_with("error: "), "{}", ran.err);
    }
}
