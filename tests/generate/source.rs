//! Bytes as a source of choices. Where they have run out, every choice is its first, so that fewer bytes make a simpler
//! object: that is how a failure shrinks.

use arbitrary::Unstructured;
use serde_json::{Value, json};

pub(crate) struct Source<'b> {
    bytes: Unstructured<'b>,
}

impl<'b> Source<'b> {
    pub(crate) fn new(bytes: &'b [u8]) -> Self {
        Self {
            bytes: Unstructured::new(bytes),
        }
    }

    /// A number below `limit`.
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        let most = limit.saturating_sub(1);
        self.bytes.int_in_range(0..=most).unwrap_or(0)
    }

    /// True once in `times`, never without bytes.
    pub(crate) fn chance(&mut self, times: usize) -> bool {
        self.below(times) == times - 1
    }

    /// One of several.
    pub(crate) fn one<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }

    /// One of several, as JSON.
    pub(crate) fn word(&mut self, of: &[&str]) -> Value {
        json!(self.one(of))
    }

    /// One of several numbers, as JSON.
    pub(crate) fn number(&mut self, of: &[i64]) -> Value {
        json!(self.one(of))
    }

    /// Any JSON, nested at most `depth` deep.
    pub(crate) fn any(&mut self, depth: usize) -> Value {
        const TEXTS: [&str; 10] = [
            "",
            "x",
            "8000",
            "engine",
            "15m",
            "ü",
            "a\u{0}b",
            "warmgate.io/skip",
            "{\"spec\":",
            "nvidia.com/gpu",
        ];
        let leaves = 6;
        match self.below(if depth == 0 { leaves } else { leaves + 2 }) {
            0 => Value::Null,
            1 => json!(self.chance(2)),
            2 => self.number(&[0, 1, -1, 30, 8000, 1 << 31, i64::MAX, i64::MIN]),
            3 => json!(u64::MAX),
            4 => json!(0.5),
            5 => self.word(&TEXTS),
            6 => (0..self.below(4)).map(|_| self.any(depth - 1)).collect(),
            _ => {
                let count = self.below(4);
                Value::Object(
                    (0..count)
                        .map(|_| (self.one(&TEXTS).to_owned(), self.any(depth - 1)))
                        .collect(),
                )
            }
        }
    }
}
