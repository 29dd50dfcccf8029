//! What holds for every object, whatever it looks like: 20,000 objects a property, or as many as `WARMGATE_CASES` says.

mod cure;
mod edits;
mod foreign;
mod robust;
mod undo;
mod updates;
mod verdicts;

use json_patch::Patch;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestError, TestRng, TestRunner};
use serde_json::{Value, json};
use warmgate::admit::{Decision, admit};
use warmgate::facts::{Facts, Mode};
use warmgate::review::Request;

use crate::generate::{Drawn, bytes};

/// Checks a property on many draws of bytes, always the same ones; a failure is made small first.
pub(crate) fn holds(property: impl Fn(&[u8]) -> Result<(), String>) {
    let cases = std::env::var("WARMGATE_CASES").ok();
    let cases = cases.map_or(20_000, |text| {
        text.parse().expect("WARMGATE_CASES is a number")
    });
    let config = Config {
        cases,
        failure_persistence: None,
        max_shrink_iters: 10_000,
        ..Config::default()
    };
    let mut runner =
        TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    let result = runner.run(&bytes(), |bytes| {
        property(&bytes).map_err(TestCaseError::fail)
    });
    // The reason shows the object; the bytes that made it would say nothing.
    match result {
        Ok(()) => {}
        Err(TestError::Fail(reason, _)) => panic!("{reason}"),
        Err(aborted) => panic!("{aborted}"),
    }
}

/// The facts of an API server that asks in a mode that edits: the drawn one, or `fix`.
fn editing(drawn: &Drawn) -> Facts {
    drawn.admission(drawn.facts.mode.max(Mode::Fix))
}

/// The object with the patch in it.
fn patched(object: &Value, patch: &Patch) -> Result<Value, String> {
    let mut patched = object.clone();
    json_patch::patch(&mut patched, patch).map_err(|error| format!("{error}\n{}", json!(patch)))?;
    Ok(patched)
}

/// A request with another object in it.
fn with_object(request: &Request, object: &Value) -> Request {
    Request {
        object: Some(object.clone()),
        ..request.clone()
    }
}

/// The decision on a request, and what it makes of the object.
fn mended(request: &Request, facts: &Facts) -> Result<(Decision, Value), String> {
    let decision = admit(request, facts);
    let object = request
        .object
        .as_ref()
        .expect("drawn requests have an object");
    let after = patched(object, &decision.patch)?;
    Ok((decision, after))
}

/// The default annotations that hold for an object.
fn namespace_defaults(drawn: &Drawn) -> Value {
    let own = drawn.object["metadata"]["namespace"]
        .as_str()
        .filter(|own| !own.is_empty());
    let defaults = drawn
        .facts
        .namespace_defaults(own.unwrap_or(drawn.namespace));
    defaults.cloned().map_or(Value::Null, Value::Object)
}

/// Fails with what was seen.
fn ensure(holds: bool, what: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(what()) }
}
