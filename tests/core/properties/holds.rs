//! A property held against many draws.

use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestError, TestRng, TestRunner};

use crate::generate::bytes;

/// How many inputs are drawn: what `WARMGATE_CASES` says, or as many as are judged in a minute without being optimised.
pub(crate) fn cases() -> u32 {
    let cases = std::env::var("WARMGATE_CASES").ok();
    cases.map_or(1_000, |text| {
        text.parse().expect("WARMGATE_CASES is a number")
    })
}

/// Checks a property on many draws of bytes, always the same ones; a failure is made small first.
pub(super) fn holds(property: impl Fn(&[u8]) -> Result<(), String>) {
    let config = Config {
        cases: cases(),
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
