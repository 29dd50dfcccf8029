//! What the tests of the simulator draw by chance, drawn from the fuzzer's bytes.

/// A source of numbers that says what the bytes say, and the least of everything once they have run out.
pub(crate) struct Random(std::vec::IntoIter<u8>);

impl Random {
    /// A source that bytes determine.
    pub(crate) fn of_bytes(bytes: &[u8]) -> Self {
        Self(Vec::from(bytes).into_iter())
    }

    /// A source that a seed determines.
    pub(crate) fn new(seed: u64) -> Self {
        Self::of_bytes(&seed.to_be_bytes())
    }

    /// One of `from..=to`, with as few bytes as that needs.
    pub(crate) fn of(&mut self, from: i64, to: i64) -> i64 {
        let span = (to - from).unsigned_abs() + 1;
        let needed = (u64::BITS - (span - 1).leading_zeros()).div_ceil(u8::BITS) as usize;
        let bytes = self.0.by_ref().take(needed);
        let number = bytes.fold(0, |number, byte| number << u8::BITS | u64::from(byte));
        from + (number % span).cast_signed()
    }

    /// Whether something is so that is so in `percent` of all cases.
    pub(crate) fn percent(&mut self, percent: i64) -> bool {
        self.of(1, 100) <= percent
    }
}
