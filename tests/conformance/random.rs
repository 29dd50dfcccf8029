//! Chance that is the same every time: SplitMix64.

/// A source of numbers that a seed determines.
pub(crate) struct Random(u64);

impl Random {
    /// A source of its own for every seed.
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// One of `from..=to`.
    pub(crate) fn of(&mut self, from: i64, to: i64) -> i64 {
        let span = (to - from).unsigned_abs() + 1;
        from + (self.next() % span).cast_signed()
    }

    /// Whether something is so that is so in `percent` of all cases.
    pub(crate) fn percent(&mut self, percent: i64) -> bool {
        self.of(1, 100) <= percent
    }

    /// One of `these`.
    pub(crate) fn one<T: Copy>(&mut self, these: &[T]) -> T {
        let last = i64::try_from(these.len()).unwrap_or(i64::MAX) - 1;
        these[usize::try_from(self.of(0, last)).unwrap_or_default()]
    }
}
