//! Reviews and their answers, and everything that is no review.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use json_patch::Patch;
use serde_json::{Value, json};
use warmgate::admit::{Endpoint, admit};
use warmgate::facts::{Facts, Mode, Origin};
use warmgate::review::{Request, answer};

use super::client::Client;
use super::{Fixture, body, review};

#[tokio::test]
async fn every_route_answers_with_the_uid() {
    let fixture = Fixture::start().await;
    let mut client = fixture.connect().await;
    for path in [
        "/mutate/fix",
        "/mutate/enforce",
        "/validate/audit",
        "/validate/warn",
        "/validate/fix",
        "/validate/enforce",
        "/validate/enforce?timeout=2s",
        "/validate/unknown",
    ] {
        let answer = client.post(path, body("llm")).await.unwrap();
        assert_eq!(answer.status, 200, "{path}");
        assert_eq!(answer.header("content-type"), Some("application/json"));
        let response = answer.response();
        assert_eq!(response["uid"], "uid of llm", "{path}");
        assert_eq!(response["allowed"], true, "{path}");
        assert_eq!(response.get("patch"), None);
        assert_eq!(response.get("patchType"), None);
    }
}

#[tokio::test]
async fn there_is_no_other_route() {
    let fixture = Fixture::start().await;
    for path in [
        "/mutate/audit",
        "/mutate/warn",
        "/mutate/unknown",
        "/validate/off",
        "/validate/Fix",
        "/mutate",
        "/",
        "/livez",
        "/metrics",
    ] {
        let mut client = fixture.connect().await;
        let answer = client.post(path, body("llm")).await.unwrap();
        assert_eq!(answer.status, 404, "{path}");
    }
    let mut client = fixture.connect().await;
    assert_eq!(client.get("/validate/fix").await.unwrap().status, 405);
}

/// A model server whose liveness probe kills it while it loads.
fn server_that_is_killed() -> Value {
    let mut review = review("llm");
    review["request"]["kind"] = json!({"group": "apps", "version": "v1", "kind": "Deployment"});
    review["request"]["object"] = json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "llm", "namespace": "serving", "unknown": [1.50, null]},
        "spec": {
            "selector": {"matchLabels": {"app": "llm"}},
            "template": {
                "metadata": {
                    "labels": {"app": "llm"},
                    "annotations": {"warmgate.io/max-startup-time": "15m"},
                },
                "spec": {
                    "containers": [{
                        "name": "engine",
                        "image": "vllm/vllm-openai:v0.11.0",
                        "args": ["--model", "m"],
                        "ports": [{"containerPort": 8000}],
                        "resources": {"limits": {"nvidia.com/gpu": "1"}},
                        "livenessProbe": {"httpGet": {"path": "/health", "port": 8000}},
                    }],
                },
            },
        },
    });
    review
}

#[tokio::test]
async fn the_answer_is_that_of_the_core_and_the_patch_applies() {
    let fixture = Fixture::start().await;
    let mut client = fixture.connect().await;
    let review = server_that_is_killed();
    for (path, endpoint, mode) in [
        ("/mutate/fix", Endpoint::Mutate, Mode::Fix),
        ("/mutate/enforce", Endpoint::Mutate, Mode::Enforce),
        ("/validate/audit", Endpoint::Validate, Mode::Audit),
        ("/validate/warn", Endpoint::Validate, Mode::Warn),
        ("/validate/fix", Endpoint::Validate, Mode::Fix),
        ("/validate/enforce", Endpoint::Validate, Mode::Enforce),
    ] {
        let request = Request::from_value(&review).unwrap();
        let decision = admit(&request, &Facts::new(mode, Origin::Admission));
        let expected = answer(&request.uid, &decision.response(endpoint));
        let answered = client.post(path, review.to_string()).await.unwrap();
        assert_eq!(
            answered.text(),
            String::from_utf8(expected).unwrap(),
            "{path}"
        );
        let response = answered.response();
        let patches = endpoint == Endpoint::Mutate;
        assert_eq!(response.get("patchType").is_some(), patches, "{path}");
        assert_eq!(response.get("patch").is_some(), patches, "{path}");
    }
    let answered = client
        .post("/mutate/fix", review.to_string())
        .await
        .unwrap();
    let patch = STANDARD
        .decode(answered.response()["patch"].as_str().unwrap())
        .unwrap();
    let patch: Patch = serde_json::from_slice(&patch).unwrap();
    let mut object = review["request"]["object"].clone();
    json_patch::patch(&mut object, &patch).unwrap();
    let container = &object["spec"]["template"]["spec"]["containers"][0];
    assert!(container["startupProbe"].is_object());
    let metrics = fixture.metrics().await;
    for line in [
        r#"warmgate_edits_total{kind="startup-probe"} 3"#,
        r#"warmgate_findings_total{rule="liveness-kills-startup",severity="deny"} 4"#,
        r#"{endpoint="mutate",mode="fix",kind="Deployment",outcome="changed"} 2"#,
    ] {
        assert!(metrics.contains(line), "{line} is missing in {metrics}");
    }
}

#[tokio::test]
async fn a_refusal_is_an_answer_and_only_of_validation() {
    let fixture = Fixture::start().await;
    let mut client = fixture.connect().await;
    let refused = client
        .post("/validate/enforce", body("refuse"))
        .await
        .unwrap();
    assert_eq!(refused.status, 200);
    assert_eq!(refused.response()["allowed"], false);
    assert_eq!(refused.response()["status"]["code"], 403);
    let mutated = client
        .post("/mutate/enforce", body("refuse"))
        .await
        .unwrap();
    assert_eq!(mutated.response()["allowed"], true);
    let metrics = fixture.metrics().await;
    let count = r#"warmgate_admission_requests_total{endpoint="validate",mode="enforce",kind="Pod",outcome="refused"} 1"#;
    assert!(metrics.contains(count), "{metrics}");
}

#[tokio::test]
async fn a_label_that_is_no_mode_is_said_to_whoever_stands_there() {
    let fixture = Fixture::start().await;
    let mut client = fixture.connect().await;
    let answer = client
        .post("/validate/unknown", body("refuse"))
        .await
        .unwrap();
    let response = answer.response();
    assert_eq!(response["allowed"], true);
    let warning = response["warnings"][0].as_str().unwrap();
    assert!(
        warning.contains("warmgate.io/mode") && warning.len() <= 256,
        "{warning}"
    );
    let mut owned = review("llm");
    owned["request"]["object"]["metadata"]["ownerReferences"] = json!([{"controller": true}]);
    let answer = client
        .post("/validate/unknown", owned.to_string())
        .await
        .unwrap();
    assert_eq!(answer.response().get("warnings"), None);
}

#[tokio::test]
async fn what_is_not_understood_is_allowed_and_counted() {
    let fixture = Fixture::start().await;
    let mut client = fixture.connect().await;
    let mut strange = review("llm");
    strange["apiVersion"] = json!("admission.k8s.io/v2");
    let answer = client
        .post("/validate/enforce", strange.to_string())
        .await
        .unwrap();
    assert_eq!(answer.status, 200);
    assert_eq!(answer.response()["uid"], "uid of llm");
    assert_eq!(answer.response()["allowed"], true);
    assert_eq!(answer.response()["warnings"].as_array().unwrap().len(), 1);
    assert!(
        fixture
            .metrics()
            .await
            .contains("warmgate_not_understood_total 1")
    );
}

#[tokio::test]
async fn without_a_uid_there_is_a_400_with_words() {
    let fixture = Fixture::start().await;
    let mut client = fixture.connect().await;
    for body in [
        "",
        "null",
        "{}",
        "{\"request\":null}",
        "\u{feff}{}",
        "{\"request\":{\"uid\":\"a\"}} x",
    ] {
        let answer = client.post("/validate/fix", body).await.unwrap();
        assert_eq!(answer.status, 400, "{body}");
        assert!(answer.text().starts_with("the "), "{}", answer.text());
    }
    let metrics = fixture.metrics().await;
    assert!(
        metrics.contains(r#"warmgate_rejected_requests_total{reason="unreadable"} 6"#),
        "{metrics}"
    );
}

#[tokio::test]
async fn a_panic_is_a_500_with_the_uid_and_the_connection_lives_on() {
    let fixture = Fixture::start().await;
    let mut client = fixture.connect().await;
    let answer = client
        .post("/validate/enforce", body("panic"))
        .await
        .unwrap();
    assert_eq!(answer.status, 500);
    assert_eq!(answer.response()["uid"], "uid of panic");
    assert_eq!(answer.response()["allowed"], false);
    let answer = client.post("/validate/enforce", body("llm")).await.unwrap();
    assert_eq!(answer.status, 200);
    let metrics = fixture.metrics().await;
    assert!(metrics.contains("warmgate_panics_total 1"), "{metrics}");
}

#[tokio::test]
async fn a_large_review_is_judged_like_a_small_one() {
    let fixture = Fixture::start().await;
    let mut client = fixture.connect().await;
    let mut large = review("refuse");
    large["request"]["object"]["metadata"]["annotations"] = json!({"note": "x".repeat(6 << 20)});
    for _ in 0..2 {
        let answer = client
            .post("/validate/enforce", large.to_string())
            .await
            .unwrap();
        assert_eq!(answer.response()["allowed"], false);
    }
    large["request"]["name"] = json!("panic");
    let answer = client
        .post("/validate/enforce", large.to_string())
        .await
        .unwrap();
    assert_eq!(answer.status, 500);
    assert_eq!(answer.response()["uid"], "uid of refuse");
}

#[tokio::test]
async fn a_dry_run_has_the_same_answer_and_leaves_no_trace() {
    let fixture = Fixture::start().await;
    let mut client = fixture.connect().await;
    let wet = client
        .post("/validate/enforce", body("refuse"))
        .await
        .unwrap();
    let mut review = review("refuse");
    review["request"]["dryRun"] = json!(true);
    let before = fixture.metrics().await;
    let dry = client
        .post("/validate/enforce", review.to_string())
        .await
        .unwrap();
    assert_eq!(dry.body, wet.body);
    let after = fixture.metrics().await;
    let counted = |metrics: &str, of: &str| {
        let lines = metrics.lines().filter(|line| line.starts_with(of));
        lines.map(str::to_owned).collect::<Vec<_>>()
    };
    for of in ["warmgate_findings", "warmgate_skips", "warmgate_edits"] {
        assert_eq!(counted(&before, of), counted(&after, of));
    }
    assert!(after.contains(r#"outcome="refused"} 1"#) && after.contains(r#"outcome="dry-run"} 1"#));
}

#[tokio::test]
async fn each_thing_is_counted_at_one_endpoint() {
    let fixture = Fixture::start().await;
    let mut client = fixture.connect().await;
    for name in ["find", "skip"] {
        for endpoint in ["mutate", "validate"] {
            let path = format!("/{endpoint}/fix");
            client.post(&path, body(name)).await.unwrap();
        }
    }
    let metrics = fixture.metrics().await;
    for line in [
        r#"warmgate_findings_total{rule="no-probes",severity="warn"} 1"#,
        r#"warmgate_findings_total{rule="no-probes",severity="note"} 1"#,
        r#"warmgate_skips_total{reason="batch"} 1"#,
        r#"{endpoint="validate",mode="fix",kind="Pod",outcome="findings"} 1"#,
        r#"{endpoint="validate",mode="fix",kind="Pod",outcome="skipped"} 1"#,
    ] {
        assert!(metrics.contains(line), "{line} is missing in {metrics}");
    }
}

#[tokio::test]
async fn kinds_that_nobody_knows_share_a_label() {
    let fixture = Fixture::start().await;
    let mut client = fixture.connect().await;
    for kind in ["Gadget", "Widget"] {
        let mut review = review("llm");
        review["request"]["kind"]["kind"] = json!(kind);
        review["request"]["object"]["kind"] = json!(kind);
        client
            .post("/validate/audit", review.to_string())
            .await
            .unwrap();
    }
    let metrics = fixture.metrics().await;
    assert!(metrics.contains(r#"kind="other""#));
    assert!(
        !metrics.contains("Gadget") && !metrics.contains("Widget"),
        "{metrics}"
    );
}

#[tokio::test]
async fn the_plain_port_says_how_it_is() {
    let fixture = Fixture::start().await;
    fixture
        .connect()
        .await
        .post("/validate/fix", body("llm"))
        .await
        .unwrap();
    let mut client = Client::plain(fixture.server.health_address()).await;
    for path in ["/livez", "/readyz"] {
        let answer = client.get(path).await.unwrap();
        assert_eq!(
            (answer.status, answer.text().as_str()),
            (200, "ok"),
            "{path}"
        );
    }
    let metrics = client.get("/metrics").await.unwrap();
    assert!(
        metrics
            .header("content-type")
            .unwrap()
            .starts_with("application/openmetrics-text")
    );
    let text = metrics.text();
    for line in [
        "# TYPE warmgate_admission_requests counter",
        "# TYPE warmgate_admission_duration_seconds histogram",
        r#"warmgate_admission_duration_seconds_bucket{le="0.0001",endpoint="validate"}"#,
        "# TYPE warmgate_certificate_expiry_timestamp_seconds gauge",
        r#"warmgate_reloads_total{file="certificate",result="ok"} 1"#,
        r#"warmgate_handshakes_total{result="ok"} 1"#,
        "warmgate_panics_total 0",
        "warmgate_not_understood_total 0",
        "warmgate_log_lines_dropped_total 0",
        "# EOF",
    ] {
        let found = text.lines().any(|found| found.starts_with(line));
        assert!(found, "{line} is missing in {text}");
    }
    for path in ["/", "/validate/fix", "/readyz/x"] {
        assert_eq!(client.get(path).await.unwrap().status, 404, "{path}");
    }
}
