//! Reviews as API servers send them, as hostile callers do, and what is answered.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use proptest::prelude::*;
use serde_json::{Value, json};
use warmgate::review::{Operation, Request, Response, ReviewError, answer, failure, read};

/// Changes a review into one that is not understood.
type Change = fn(&mut Value);

/// A review of a Deployment whose request is changed by `change`.
fn review(change: impl FnOnce(&mut Value)) -> Value {
    let mut review = json!({
        "kind": "AdmissionReview",
        "apiVersion": "admission.k8s.io/v1",
        "request": {
            "uid": "705ab4f5-6393-11e8-b7cc-42010a800002",
            "kind": {"group": "apps", "version": "v1", "kind": "Deployment"},
            "resource": {"group": "apps", "version": "v1", "resource": "deployments"},
            "requestKind": {"group": "apps", "version": "v1beta1", "kind": "Deployment"},
            "name": "llm",
            "namespace": "serving",
            "operation": "CREATE",
            "userInfo": {"username": "admin", "groups": ["system:masters"]},
            "object": {"kind": "Deployment", "spec": {"replicas": 1, "future": [1.5, null]}},
            "oldObject": null,
            "dryRun": true,
            "options": {"kind": "CreateOptions"}
        }
    });
    change(&mut review);
    review
}

fn request(change: impl FnOnce(&mut Value)) -> Request {
    Request::from_value(&review(change)).expect("the review has a uid")
}

/// The text of a review with `member` written into its request, JSON or not.
fn raw(member: &str) -> String {
    review(|_| ())
        .to_string()
        .replacen(r#""uid""#, &format!(r#"{member},"uid""#), 1)
}

#[test]
fn what_an_api_server_sends_is_read() {
    let request = request(|_| ());
    assert_eq!(request.uid, "705ab4f5-6393-11e8-b7cc-42010a800002");
    assert_eq!(request.kind.group, "apps");
    assert_eq!(request.kind.version, "v1");
    assert_eq!(request.kind.kind, "Deployment");
    assert_eq!(
        (request.namespace.as_str(), request.name.as_str()),
        ("serving", "llm")
    );
    assert_eq!(request.operation, Operation::Create);
    assert_eq!(request.sub_resource, None);
    assert!(request.dry_run);
    assert_eq!(
        request.object.unwrap()["spec"],
        json!({"replicas": 1, "future": [1.5, null]})
    );
    assert_eq!(request.old_object, None);
    assert_eq!(request.not_understood, None);
}

#[test]
fn the_old_object_comes_with_an_update_only() {
    let old = json!({"kind": "Deployment", "spec": {}});
    let update = request(|review| {
        review["request"]["operation"] = json!("UPDATE");
        review["request"]["oldObject"] = old.clone();
    });
    assert_eq!(update.operation, Operation::Update);
    assert_eq!(update.old_object, Some(old));
    let first = request(|review| review["request"]["oldObject"] = json!({"kind": "Deployment"}));
    assert_eq!(first.old_object, None);
}

#[test]
fn what_is_never_judged_is_not_read() {
    for operation in ["DELETE", "CONNECT"] {
        let request = request(|review| {
            review["request"]["operation"] = json!(operation);
            review["request"]["object"] = json!("anything");
        });
        assert_eq!(request.operation, Operation::Other);
        assert_eq!(
            (request.object, request.not_understood),
            (None, None),
            "{operation}"
        );
    }
    let scale = request(|review| review["request"]["subResource"] = json!("scale"));
    assert_eq!(scale.sub_resource.as_deref(), Some("scale"));
    assert_eq!((scale.object, scale.not_understood), (None, None));
}

#[test]
fn without_a_uid_there_is_an_error() {
    let unusable = [
        "",
        "null",
        "[]",
        "\"x\"",
        "{}",
        r#"{"request":null}"#,
        r#"{"request":[]}"#,
        r#"{"request":{}}"#,
        r#"{"request":{"uid":""}}"#,
        r#"{"request":{"uid":null}}"#,
        r#"{"request":{"uid":7}}"#,
        r#"{"request":{"uid":"\ud800"}}"#,
        r#"{"response":{"uid":"a"}}"#,
        r#"{"request":{"uid":"a"}"#,
        r#"{"request":{"uid":"a"}}x"#,
        r#"{"request":{"uid":"a"}}{"request":{"uid":"a"}}"#,
        "\u{feff}{\"request\":{\"uid\":\"a\"}}",
        "{\"request\":{\"uid\":\"a\"}}\0",
    ];
    for body in unusable {
        assert!(read(body.as_bytes()).is_err(), "{body}");
    }
    assert!(matches!(
        read(b"\xff\xfe{\0}\0"),
        Err(ReviewError::Encoding(_))
    ));
    assert!(matches!(
        read(b"{\"request\":{\"uid\":\"\xc3\"}}"),
        Err(ReviewError::Encoding(_))
    ));
    assert!(matches!(
        read(b"{\"request\":null}"),
        Err(ReviewError::NoRequest)
    ));
    assert!(matches!(read(b"{\"request\":{}}"), Err(ReviewError::NoUid)));
}

#[test]
fn a_shape_that_is_not_understood_still_has_its_uid_and_its_name() {
    let changes: [(&str, Change); 16] = [
        ("another version", |review| {
            review["apiVersion"] = json!("admission.k8s.io/v1beta1")
        }),
        ("a version that is no text", |review| {
            review["apiVersion"] = json!(1)
        }),
        ("a list", |review| review["kind"] = json!("List")),
        ("no kind", |review| {
            drop(review.as_object_mut().unwrap().remove("kind"))
        }),
        ("an operation of the future", |review| {
            review["request"]["operation"] = json!("PATCH")
        }),
        ("no operation", |review| {
            review["request"]["operation"] = json!(null)
        }),
        ("no object", |review| {
            review["request"]["object"] = json!(null)
        }),
        ("a text for an object", |review| {
            review["request"]["object"] = json!("x")
        }),
        ("a list for an object", |review| {
            review["request"]["object"] = json!([{}])
        }),
        ("another kind", |review| {
            review["request"]["object"]["kind"] = json!("Pod")
        }),
        ("no kind of the request", |review| {
            review["request"]["kind"] = json!(null)
        }),
        ("a kind that is text", |review| {
            review["request"]["kind"] = json!("Pod")
        }),
        ("a text for dryRun", |review| {
            review["request"]["dryRun"] = json!("yes")
        }),
        ("a number for a subresource", |review| {
            review["request"]["subResource"] = json!(1)
        }),
        ("an old object that is text", |review| {
            review["request"]["operation"] = json!("UPDATE");
            review["request"]["oldObject"] = json!("x");
        }),
        ("a million values", |review| {
            review["request"]["object"]["x"] = json!(vec![0; 1_000_000])
        }),
    ];
    for (what, change) in changes {
        let request = request(change);
        assert!(request.not_understood.is_some(), "{what}");
        assert_eq!(request.object, None, "{what}");
        assert_eq!(
            request.uid, "705ab4f5-6393-11e8-b7cc-42010a800002",
            "{what}"
        );
        assert_eq!(request.name, "llm", "{what}");
    }
}

#[test]
fn a_reason_never_quotes_a_value() {
    let request = request(|review| review["request"]["dryRun"] = json!("hunter2"));
    assert!(!request.not_understood.unwrap().contains("hunter2"));
}

#[test]
fn hostile_objects_are_not_understood_and_hostile_neighbours_do_not_matter() {
    let deep = format!("{}{}", "[".repeat(1_000_000), "]".repeat(1_000_000));
    let values = [
        "1e400",
        r#""\ud800""#,
        r#"{"a":"\udfff\u0000"}"#,
        &deep,
        &format!("{{\"a\":{deep}}}"),
    ];
    for value in values {
        // Written last, so that it is the object that counts.
        let text = review(|_| ()).to_string().replacen(
            r#""dryRun""#,
            &format!(r#""object":{{"a":{value}}},"dryRun""#),
            1,
        );
        let request = read(text.as_bytes()).unwrap();
        assert!(request.not_understood.is_some(), "{:.40}", value);
        let request = read(raw(&format!(r#""future":{value}"#)).as_bytes()).unwrap();
        assert_eq!(request.not_understood, None, "{:.40}", value);
    }
}

#[test]
fn depth_129_is_not_understood_and_depth_100_is() {
    let nested = |depth: usize| {
        let mut value = json!(0);
        for _ in 0..depth {
            value = json!([value]);
        }
        read(
            review(|review| review["request"]["object"]["a"] = value)
                .to_string()
                .as_bytes(),
        )
        .unwrap()
    };
    assert_eq!(nested(100).not_understood, None);
    assert!(nested(129).not_understood.is_some());
}

#[test]
fn of_duplicate_keys_the_last_counts() {
    let text = raw(r#""uid":"first","object":7,"name":["x"]"#);
    let request = read(text.as_bytes()).unwrap();
    assert_eq!(request.uid, "705ab4f5-6393-11e8-b7cc-42010a800002");
    assert_eq!(request.not_understood, None);
    let inside = raw("\"x\":0").replacen(r#""spec":"#, r#""spec":1,"spec":"#, 1);
    let request = read(inside.as_bytes()).unwrap();
    assert_eq!(request.object.unwrap()["spec"]["replicas"], 1);
}

#[test]
fn any_uid_comes_back_as_it_went() {
    for uid in [
        "\"quotes\" and \\",
        "control \u{0}\u{1f}\n\u{7f}",
        "ünï 🚀",
        &"u".repeat(1 << 20),
    ] {
        let request = request(|review| review["request"]["uid"] = json!(uid));
        let bytes = answer(
            &request.uid,
            &Response {
                allowed: true,
                ..Response::default()
            },
        );
        let review: Value = serde_json::from_slice(&bytes).unwrap();
        assert_eq!(review["response"]["uid"], uid);
        let review: Value = serde_json::from_slice(&failure(&request.uid, "m")).unwrap();
        assert_eq!(review["response"]["uid"], uid);
    }
}

fn answered(response: &Response) -> Value {
    serde_json::from_slice(&answer("u", response)).expect("an answer is JSON")
}

#[test]
fn the_smallest_answer() {
    let allowed = Response {
        allowed: true,
        ..Response::default()
    };
    assert_eq!(
        answered(&allowed),
        json!({
            "apiVersion": "admission.k8s.io/v1",
            "kind": "AdmissionReview",
            "response": {"uid": "u", "allowed": true},
        })
    );
}

#[test]
fn a_full_answer() {
    let operations = json!([{"op": "add", "path": "/spec/x", "value": 1}]);
    let response = Response {
        allowed: true,
        message: None,
        patch: serde_json::from_value(operations.clone()).unwrap(),
        warnings: vec!["one".to_owned(), "two".to_owned()],
        audit: [("findings".to_owned(), "no-probes".to_owned())].into(),
    };
    let review = answered(&response);
    assert_eq!(review["response"]["patchType"], "JSONPatch");
    assert_eq!(review["response"]["warnings"], json!(["one", "two"]));
    assert_eq!(
        review["response"]["auditAnnotations"],
        json!({"findings": "no-probes"})
    );
    let patch = STANDARD
        .decode(review["response"]["patch"].as_str().unwrap())
        .unwrap();
    assert_eq!(serde_json::from_slice::<Value>(&patch).unwrap(), operations);
}

#[test]
fn a_refusal_has_a_status_and_no_patch() {
    let operations = json!([{"op": "add", "path": "/spec/x", "value": 1}]);
    let review = answered(&Response {
        message: Some("it cannot work".to_owned()),
        patch: serde_json::from_value(operations).unwrap(),
        ..Response::default()
    });
    assert_eq!(
        review["response"],
        json!({
            "uid": "u",
            "allowed": false,
            "status": {"code": 403, "reason": "Forbidden", "message": "it cannot work"},
        })
    );
}

#[test]
fn a_failure_says_that_it_is_ours() {
    let review: Value = serde_json::from_slice(&failure("u", "judging failed")).unwrap();
    assert_eq!(
        review["response"]["status"],
        json!({"code": 500, "reason": "InternalError", "message": "judging failed"})
    );
    assert_eq!(review["response"]["allowed"], false);
}

proptest! {
    #[test]
    fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        drop(read(&bytes));
    }

    #[test]
    fn no_cut_and_no_flipped_byte_panics(cut in 0_usize..900, at in 0_usize..900, byte in any::<u8>()) {
        let mut bytes = review(|_| ()).to_string().into_bytes();
        let at = at % bytes.len();
        bytes[at] = byte;
        bytes.truncate(cut);
        drop(read(&bytes));
    }
}
