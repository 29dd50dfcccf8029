//! Simulated time: whole microseconds, so that no result depends on rounding.

use std::fmt;
use std::ops::{Add, Sub};

use crate::words::Seconds;

/// A moment or a length of simulated time, in microseconds. Sums saturate, so [`Micros::NEVER`] stays never.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Micros(pub i64);

impl Micros {
    /// Zero.
    pub const ZERO: Self = Self(0);

    /// Later than anything that happens.
    pub const NEVER: Self = Self(i64::MAX);

    const SECOND: i64 = 1_000_000;

    /// So many seconds.
    pub const fn secs(seconds: i64) -> Self {
        Self(seconds.saturating_mul(Self::SECOND))
    }

    /// So many milliseconds.
    pub const fn millis(milliseconds: i64) -> Self {
        Self(milliseconds.saturating_mul(1000))
    }

    /// The whole seconds in it, rounded down.
    pub const fn whole_seconds(self) -> i64 {
        self.0.div_euclid(Self::SECOND)
    }

    /// The same moment cut to the whole second, as `metav1.Time` is when it is written down.
    pub const fn floor(self) -> Self {
        Self(self.0.saturating_sub(self.0.rem_euclid(Self::SECOND)))
    }
}

impl Add for Micros {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl Sub for Micros {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl From<Seconds> for Micros {
    fn from(seconds: Seconds) -> Self {
        Self::secs(seconds.0)
    }
}

impl fmt::Display for Micros {
    /// Seconds with as many decimals as are needed: `296.8`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.0 < 0 { "-" } else { "" };
        let whole = self.0.unsigned_abs() / Self::SECOND.unsigned_abs();
        let part = self.0.unsigned_abs() % Self::SECOND.unsigned_abs();
        if part == 0 {
            return write!(f, "{sign}{whole}");
        }
        let decimals = format!("{part:06}");
        write!(f, "{sign}{whole}.{}", decimals.trim_end_matches('0'))
    }
}

#[cfg(test)]
mod tests {
    use super::Micros;

    #[test]
    fn is_shown_in_seconds() {
        assert_eq!(Micros::millis(296_800).to_string(), "296.8");
        assert_eq!(Micros::secs(31).to_string(), "31");
        assert_eq!(Micros(-1_000_001).to_string(), "-1.000001");
    }

    #[test]
    fn is_cut_downwards() {
        assert_eq!(Micros::millis(100_700).floor(), Micros::secs(100));
        assert_eq!(Micros::millis(-300).floor(), Micros::secs(-1));
        assert_eq!(Micros::millis(-300).whole_seconds(), -1);
        assert_eq!(Micros::NEVER + Micros::secs(1), Micros::NEVER);
    }
}
