//! The grammar of annotations: a key in the first line, and its value below.

#![no_main]

#[path = "../../tests/core/told.rs"]
mod told;

use libfuzzer_sys::fuzz_target;
use serde_json::{Value, json};
use warmgate::annotations;
use warmgate_fuzz::within_limits;

fuzz_target!(|text: &str| within_limits(|| {
    let (key, value) = text.split_once('\n').unwrap_or((text, ""));
    told::read_or_told_of(key, &json!(value));
    // A value that its owner forgot to quote.
    if let Ok(value) = serde_json::from_str::<Value>(value) {
        told::read_or_told_of(key, &value);
        annotations::labels(Some(&value));
        annotations::read(Some(&value), &told::RULES);
    }
}));
