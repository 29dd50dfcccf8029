//! Bodies that no API server sends.

use serde_json::{Value, json};

use super::super::review;
use super::Caller;

/// What is made of a body that has a uid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It is judged, or there is nothing to judge.
    Judged,
    /// It is allowed with a warning, because it is not understood.
    Strange,
}

/// A body, and what it must be answered.
#[derive(Clone)]
pub(in crate::webhook) struct Body {
    pub(super) what: &'static str,
    pub(super) bytes: Vec<u8>,
    /// The uid that comes back; without one there is a 400.
    pub(super) uid: Option<String>,
    pub(super) verdict: Verdict,
}

impl Body {
    pub(super) async fn assert_told(&self, caller: &mut Caller) {
        let what = self.what;
        let answer = caller.post(what, "/validate/fix", &self.bytes).await;
        assert!(!answer.closes(), "{what}");
        let text = answer.text();
        let Some(uid) = &self.uid else {
            assert_eq!(answer.status, 400, "{what}: {text:.300}");
            assert!(text.starts_with("the "), "{what}: {text:.300}");
            return;
        };
        assert_eq!(answer.status, 200, "{what}: {text:.300}");
        let response = answer.response();
        assert_eq!(response["uid"], **uid, "{what}");
        assert_eq!(response["allowed"], true, "{what}");
        assert_eq!(response.get("patch"), None, "{what}");
        let warnings = response["warnings"].as_array().map_or(0, Vec::len);
        let expected = usize::from(self.verdict == Verdict::Strange);
        assert_eq!(warnings, expected, "{what}: {text:.300}");
    }
}

const NAME: &str = "llm";

/// Changes a review.
type Change = fn(&mut Value);

fn text() -> String {
    review(NAME).to_string()
}

fn body(what: &'static str, bytes: impl Into<Vec<u8>>, verdict: Verdict) -> Body {
    let uid = review(NAME)["request"]["uid"].as_str().map(str::to_owned);
    Body {
        what,
        bytes: bytes.into(),
        uid,
        verdict,
    }
}

fn judged(what: &'static str, bytes: impl Into<Vec<u8>>) -> Body {
    body(what, bytes, Verdict::Judged)
}

fn strange(what: &'static str, bytes: impl Into<Vec<u8>>) -> Body {
    body(what, bytes, Verdict::Strange)
}

fn unreadable(what: &'static str, bytes: impl Into<Vec<u8>>) -> Body {
    Body {
        uid: None,
        ..judged(what, bytes)
    }
}

/// The review with `members` written into its object, JSON or not.
fn in_object(members: &str) -> String {
    text().replacen(r#""metadata":"#, &format!(r#"{members},"metadata":"#), 1)
}

/// The review with `members` written into its request.
fn in_request(members: &str) -> String {
    text().replacen(r#""uid":"#, &format!(r#"{members},"uid":"#), 1)
}

/// The review after a change.
fn changed(change: impl FnOnce(&mut Value)) -> String {
    let mut review = review(NAME);
    change(&mut review);
    review.to_string()
}

fn nested(depth: usize) -> String {
    "[".repeat(depth) + &"]".repeat(depth)
}

/// Bodies of some kilobytes.
pub(super) fn small() -> Vec<Body> {
    let mut all = no_json();
    all.extend(no_reviews());
    all.extend(odd_json());
    all.extend(odd_reviews());
    all
}

/// What is not JSON in UTF-8.
fn no_json() -> Vec<Body> {
    let wide =
        |bytes: fn(u16) -> [u8; 2]| -> Vec<u8> { text().encode_utf16().flat_map(bytes).collect() };
    let broken = |bytes: &[u8]| {
        let name = [&b"\"name\":\""[..], bytes].concat();
        let (before, behind) = text()
            .split_once("\"name\":\"")
            .map(|(before, behind)| (before.to_owned(), behind.to_owned()))
            .expect("it has a name");
        [before.as_bytes(), &name, behind.as_bytes()].concat()
    };
    vec![
        unreadable("nothing", ""),
        unreadable("a blank", " "),
        unreadable("a byte order mark", format!("\u{feff}{}", text())),
        unreadable("UTF-16, the low byte first", wide(u16::to_le_bytes)),
        unreadable("UTF-16, the high byte first", wide(u16::to_be_bytes)),
        unreadable("a byte that is no text", broken(b"\xff")),
        unreadable("a slash that is too long", broken(b"\xc0\xaf")),
        unreadable("half of a pair in UTF-8", broken(b"\xed\xa0\x80")),
        unreadable("a control character in a text", broken(b"\n")),
        unreadable("a NUL behind it", text() + "\0"),
        unreadable("garbage behind it", text() + "x"),
        unreadable("two documents", text() + &text()),
        unreadable("a line for each of two", text() + "\n" + &text()),
        unreadable("half of it", &text()[..text().len() / 2]),
        unreadable("no number", in_object(r#""x":NaN"#)),
        unreadable("a comment", in_object(r#""x":1/*y*/"#)),
        unreadable("a comma too many", in_object(r#""x":[1,]"#)),
        unreadable("single quotes", in_object("'x':1")),
        unreadable("YAML", "request:\n  uid: u\n"),
        unreadable("brackets that nobody closes", "[".repeat(100_000)),
    ]
}

/// JSON that is no review with a uid.
fn no_reviews() -> Vec<Body> {
    [
        "null",
        "true",
        "7",
        "\"x\"",
        "[]",
        "{}",
        r#"{"request":null}"#,
        r#"{"request":[]}"#,
        r#"{"request":{}}"#,
        r#"{"request":{"uid":null}}"#,
        r#"{"request":{"uid":""}}"#,
        r#"{"request":{"uid":7}}"#,
        r#"{"request":{"uid":{}}}"#,
        r#"{"request":{"uid":"\ud800"}}"#,
        r#"{"response":{"uid":"u","allowed":true}}"#,
        r#"{"Request":{"uid":"u"}}"#,
        r#"{"request":[],"request":{"uid":"u"}}"#,
    ]
    .map(|text| unreadable(text, text))
    .into()
}

/// JSON as nobody writes it.
fn odd_json() -> Vec<Body> {
    let wrapped = |member: &str| format!(r#""x":{member}"#);
    vec![
        judged("depth 100", in_object(&wrapped(&nested(100)))),
        strange("depth 129", in_object(&wrapped(&nested(129)))),
        strange("depth 10,000", in_object(&wrapped(&nested(10_000)))),
        judged("a deep neighbour", in_request(&wrapped(&nested(10_000)))),
        strange("a number beyond all numbers", in_object(r#""x":1e400"#)),
        strange("half of a pair", in_object(r#""x":"\ud800""#)),
        judged("a NUL in a text", in_object(r#""x":"\u0000""#)),
        judged(
            "the largest number",
            in_object(r#""x":18446744073709551616"#),
        ),
        judged("less than nothing", in_object(r#""x":-0"#)),
        judged("the first uid of two", in_request(r#""uid":"another""#)),
        judged("the first object of two", in_request(r#""object":7"#)),
        judged("a map twice", in_object(r#""metadata":7"#)),
        judged(
            "a key that is escaped",
            text().replacen("\"uid\"", r#""\u0075id""#, 1),
        ),
        judged("blanks", text().replace(':', " \t\r\n : ")),
    ]
}

/// Reviews that say something else than those of an API server.
fn odd_reviews() -> Vec<Body> {
    let changes: [(&str, Verdict, Change); 20] = [
        ("an old version", Verdict::Strange, |r| {
            r["apiVersion"] = json!("admission.k8s.io/v1beta1")
        }),
        ("a version of the future", Verdict::Strange, |r| {
            r["apiVersion"] = json!("admission.k8s.io/v2")
        }),
        ("no version", Verdict::Strange, |r| {
            r["apiVersion"] = json!(null)
        }),
        ("a list", Verdict::Strange, |r| r["kind"] = json!("List")),
        ("an unknown operation", Verdict::Strange, |r| {
            r["request"]["operation"] = json!("MERGE")
        }),
        ("no operation", Verdict::Strange, |r| {
            r["request"]["operation"] = json!(null)
        }),
        ("a connection", Verdict::Judged, |r| {
            r["request"]["operation"] = json!("CONNECT")
        }),
        ("a removal", Verdict::Judged, |r| {
            r["request"]["operation"] = json!("DELETE");
            r["request"]["object"] = json!(null);
        }),
        ("an update of nothing", Verdict::Judged, |r| {
            r["request"]["operation"] = json!("UPDATE")
        }),
        ("an update of a text", Verdict::Strange, |r| {
            r["request"]["operation"] = json!("UPDATE");
            r["request"]["oldObject"] = json!("x");
        }),
        ("a subresource", Verdict::Judged, |r| {
            r["request"]["subResource"] = json!("ephemeralcontainers")
        }),
        ("a number for a subresource", Verdict::Strange, |r| {
            r["request"]["subResource"] = json!(1)
        }),
        ("another kind", Verdict::Strange, |r| {
            r["request"]["object"]["kind"] = json!("Node")
        }),
        ("a kind of nobody", Verdict::Judged, |r| {
            r["request"]["kind"] = json!({"group": "x", "version": "v9", "kind": "Gadget"});
            r["request"]["object"]["kind"] = json!("Gadget");
        }),
        ("no object", Verdict::Strange, |r| {
            r["request"]["object"] = json!(null)
        }),
        ("a text for an object", Verdict::Strange, |r| {
            r["request"]["object"] = json!("x")
        }),
        ("a list for an object", Verdict::Strange, |r| {
            r["request"]["object"] = json!([{}])
        }),
        ("an empty object", Verdict::Judged, |r| {
            r["request"]["object"] = json!({})
        }),
        ("a name like a path", Verdict::Judged, |r| {
            r["request"]["name"] = json!("../~1/~0%2f")
        }),
        ("a user of nobody", Verdict::Judged, |r| {
            r["request"]["userInfo"] = json!([7])
        }),
    ];
    let mut all: Vec<Body> = changes
        .into_iter()
        .map(|(what, verdict, change)| body(what, changed(change), verdict))
        .collect();
    for uid in [
        "\"quotes\" and \\",
        "control \u{0}\u{1f}\u{7f}\n",
        "\u{202e}🚀</script>",
    ] {
        all.push(Body {
            uid: Some(uid.to_owned()),
            ..judged(
                "a strange uid",
                changed(|r| r["request"]["uid"] = json!(uid)),
            )
        });
    }
    all
}

/// Bodies of some megabytes.
pub(super) fn large() -> Vec<Body> {
    let metadata =
        |key: &str, value: Value| changed(|r| r["request"]["object"]["metadata"][key] = value);
    let annotations = |count: usize| {
        let keys = (0..count).map(|number| (format!("x/{number}"), json!("")));
        metadata("annotations", keys.collect())
    };
    let spec = |value: Value| changed(|r| r["request"]["object"]["spec"] = value);
    let container = |count: usize, one: Value| spec(json!({"containers": vec![one; count]}));
    let uid = "u".repeat(1 << 20);
    let long_uid = Body {
        uid: Some(uid.clone()),
        ..judged("a long uid", changed(|r| r["request"]["uid"] = json!(uid)))
    };
    vec![
        long_uid,
        strange(
            "depth 1,000,000",
            in_object(&format!(r#""x":{}"#, nested(1_000_000))),
        ),
        judged(
            "a deep neighbour",
            in_request(&format!(r#""x":{}"#, nested(1_000_000))),
        ),
        judged(
            "a long text",
            metadata("annotations", json!({"x/y": "x".repeat(6 << 20)})),
        ),
        judged(
            "a long key",
            metadata("annotations", json!({"k".repeat(1 << 20): ""})),
        ),
        judged("many annotations", annotations(100_000)),
        strange("too many annotations", annotations(400_000)),
        judged("many containers", container(30_000, json!({"name": "a"}))),
        strange(
            "too many containers",
            container(100_000, json!({"name": "a"})),
        ),
        judged("many variables", {
            let env = vec![json!({"name": "A", "value": "$(A)"}); 50_000];
            container(1, json!({"name": "a", "env": env}))
        }),
        strange("too many variables", {
            let env = vec![json!({"name": "A", "value": "$(A)"}); 100_000];
            container(1, json!({"name": "a", "env": env}))
        }),
    ]
}
