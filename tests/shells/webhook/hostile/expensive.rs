//! Objects that cost more than others of their size: to answer them must not take minutes, nor all memory, nor the stack.

use serde_json::{Map, Value, json};

use super::super::{Fixture, review};
use super::objects::Review;
use super::{Input, assert_no_panic, of, send};

/// The review of a Pod that is ours, with these containers.
fn pod(containers: &Value) -> Value {
    let mut review = review("llm");
    let object = &mut review["request"]["object"];
    object["metadata"]["annotations"] = json!({"warmgate.io/accelerator": "true"});
    object["spec"] = json!({"containers": containers});
    review
}

/// The review of such a Pod with one container that asks for an accelerator, after a change of its object.
fn changed(change: impl FnOnce(&mut Value)) -> Value {
    let limits = json!({"limits": {"nvidia.com/gpu": 1}});
    let probe = json!({"httpGet": {"port": 8000}});
    let container = json!({"name": "a", "image": "x", "resources": limits, "livenessProbe": probe});
    let mut review = pod(&json!([container]));
    change(&mut review["request"]["object"]);
    review
}

fn annotated(key: &str, value: String) -> Value {
    changed(|object| object["metadata"]["annotations"][key] = json!(value))
}

/// Variables of which each is the one before, twice.
fn doubling(count: usize) -> Vec<Value> {
    let first = json!({"name": "V0", "value": "x"});
    let rest = (1..count).map(|number| {
        let before = format!("$(V{})", number - 1);
        json!({"name": format!("V{number}"), "value": before.repeat(2)})
    });
    [first].into_iter().chain(rest).collect()
}

/// What a container runs.
fn launches() -> Vec<(&'static str, Value)> {
    let shell = |script: &str| json!({"name": "a", "image": "x", "command": ["sh", "-c", script]});
    let exec = |words: Vec<&str>| json!({"name": "a", "command": words});
    let doubled = "A=$A$A; ".repeat(64);
    let variables = vec![json!({"name": "A", "value": "$(B)$(C)"}); 60_000];
    let parameters = json!({
        "name": "a",
        "command": ["sh", "-c", "f \"$@\" $* ".repeat(50_000)],
        "args": vec!["x"; 50_000],
    });
    let containers = [
        (
            "variables that double",
            json!({"name": "a", "args": ["$(V63)"], "env": doubling(64)}),
        ),
        ("many variables", json!({"name": "a", "env": variables})),
        (
            "a script whose variables double",
            shell(&format!("A=x; {doubled} exec $A")),
        ),
        ("parameters of parameters", parameters),
        ("wrappers behind wrappers", exec(vec!["exec"; 20_000])),
        ("more wrappers behind wrappers", exec(vec!["exec"; 100_000])),
        ("wrappers in a script", shell(&"exec ".repeat(100_000))),
        ("shells in shells", shell(&"sh -c 'eval ".repeat(10_000))),
        ("shells behind shells", exec(vec!["sh"; 100_000])),
        ("brackets in brackets", shell(&"$(".repeat(500_000))),
        ("commands that might be known", {
            exec([&["env"][..], &["ray", "start"].repeat(30_000)].concat())
        }),
        ("a long word", exec(vec!["x".repeat(6 << 20).as_str()])),
    ];
    containers
        .into_iter()
        .map(|(what, container)| (what, pod(&json!([container]))))
        .collect()
}

/// What else stands in an object.
fn objects() -> Vec<(&'static str, Value)> {
    let numbered =
        |count: usize, one: fn(usize) -> String| -> Vec<String> { (0..count).map(one).collect() };
    let keys = |count: usize, one: fn(usize) -> String, value: Value| -> Map<String, Value> {
        let keys = numbered(count, one).into_iter();
        keys.map(|key| (key, value.clone())).collect()
    };
    let named = numbered(100_000, |number| format!("a{number}"));
    let container =
        |name: &String| json!({"name": name, "resources": {"limits": {"nvidia.com/gpu": 1}}});
    let claims: Vec<Value> = named[..30_000]
        .iter()
        .map(|name| json!({"name": name}))
        .collect();
    let records = keys(
        5_000,
        |number| format!("spec.containers[{number}].startupProbe"),
        json!({}),
    );
    let elements = keys(
        60_000,
        |number| format!("k:{{\"name\":\"{number}\"}}"),
        json!({}),
    );
    vec![
        ("many containers", {
            pod(&named[..20_000].iter().map(container).collect())
        }),
        ("many claims", {
            changed(|object| {
                object["spec"]["resourceClaims"] = json!(claims);
                object["spec"]["containers"][0]["resources"]["claims"] = json!(claims);
            })
        }),
        ("many resources", {
            let resources = keys(60_000, |number| format!("x/{number}"), json!("1"));
            changed(|object| {
                object["spec"]["containers"][0]["resources"] =
                    json!({"limits": resources, "requests": resources});
            })
        }),
        ("many keys of ours", {
            let keys = keys(100_000, |number| format!("warmgate.io/{number}"), json!(""));
            changed(|object| {
                object["metadata"]["annotations"] = json!(keys);
                object["metadata"]["labels"] = json!(keys);
                object["metadata"]["annotations"]["warmgate.io/accelerator"] = json!("true");
            })
        }),
        (
            "a long key of ours",
            annotated(
                &format!("warmgate.io/{}", "x".repeat(1 << 20)),
                String::new(),
            ),
        ),
        (
            "a value that names many",
            annotated("warmgate.io/drain-time", named.join("=1s,") + "=1s"),
        ),
        (
            "a list that names many",
            annotated("warmgate.io/containers", named.join(",")),
        ),
        (
            "many records",
            annotated("warmgate.io/changes", json!(records).to_string()),
        ),
        ("a record with a long path", {
            annotated(
                "warmgate.io/changes",
                json!({"a.".repeat(1 << 20): {"set": 1}}).to_string(),
            )
        }),
        ("an apply of many", {
            changed(|object| {
                let fields = json!({"f:spec": {"f:containers": elements}});
                object["metadata"]["managedFields"] =
                    json!([{"operation": "Apply", "fieldsV1": fields}]);
            })
        }),
    ]
}

/// All of them.
pub(super) fn all() -> Vec<Review> {
    let all = launches().into_iter().chain(objects());
    all.map(|(what, review)| Review::new(what, review))
        .collect()
}

#[tokio::test]
async fn what_is_made_to_be_expensive_is_answered() {
    let fixture = Fixture::start().await;
    let expensive = of(all(), Input::Review);
    send(fixture.service(), expensive, 1).await.assert_right();
    assert_no_panic(&fixture).await;
}
