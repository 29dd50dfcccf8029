//! The text of a manifest, as `fix` mends it.

#![no_main]

#[path = "../../tests/generate/mod.rs"]
#[expect(dead_code, unused_imports, reason = "the properties use more of it")]
mod generate;
#[path = "../../tests/core/lawful.rs"]
#[expect(dead_code, reason = "the properties use more of it")]
mod lawful;
#[path = "../../tests/core/mended_text.rs"]
mod mended_text;

use libfuzzer_sys::fuzz_target;
use warmgate_fuzz::within_limits;

fuzz_target!(|text: &str| within_limits(|| {
    if let Err(why) = mended_text::check(text) {
        panic!("{why}");
    }
}));
