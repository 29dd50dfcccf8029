//! What holds for every object, held against objects that coverage leads to: the first byte says which property, and the
//! others draw the object.

#![no_main]

#[path = "../../tests/core/answered.rs"]
mod answered;
#[path = "../../tests/generate/mod.rs"]
#[expect(dead_code, reason = "the tests look at more of what is drawn")]
mod generate;
#[path = "../../tests/core/lawful.rs"]
#[expect(dead_code, reason = "the cases use more of it")]
mod lawful;
#[path = "../../tests/core/properties/mod.rs"]
mod properties;

use libfuzzer_sys::fuzz_target;
use warmgate_fuzz::within_limits;

use crate::properties::PROPERTIES;

fuzz_target!(|bytes: &[u8]| within_limits(|| {
    let Some((first, bytes)) = bytes.split_first() else {
        return;
    };
    let (name, property) = PROPERTIES[usize::from(*first) % PROPERTIES.len()];
    if let Err(why) = property(bytes) {
        panic!("{name}: {why}");
    }
}));
