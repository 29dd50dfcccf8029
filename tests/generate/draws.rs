//! Chance that is the same every time, as bytes to draw from.

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

/// Bytes to draw an object from.
pub(crate) fn bytes() -> impl Strategy<Value = Vec<u8>> {
    proptest::collection::vec(any::<u8>(), 0..800)
}

/// Bytes to draw object after object from, always the same ones.
pub(crate) fn draws() -> impl Iterator<Item = Vec<u8>> {
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    std::iter::repeat_with(move || {
        bytes()
            .new_tree(&mut runner)
            .expect("bytes can always be drawn")
            .current()
    })
}
