//! Whole seconds, as the Kubernetes API counts them.

use std::fmt;

/// A length of time in whole seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Seconds(pub i64);

/// Why a text is no duration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParseSecondsError {
    /// The text is not of the form.
    #[error("is no duration: write 900, 900s, 15m or 1h30m")]
    Form,
    /// The duration is longer than a day, or no time at all.
    #[error("is not between 1s and 24h: write 900, 900s, 15m or 1h30m")]
    Range,
}

impl Seconds {
    /// The longest duration that an annotation may declare.
    pub const DAY: Self = Self(24 * 60 * 60);

    /// Reads whole seconds (`900`), or hours, minutes and seconds in that order (`1h30m`, `15 min`, `90 sec`), from 1 s to
    /// 24 h.
    ///
    /// # Errors
    /// [`ParseSecondsError`] says whether the form or the length is wrong.
    pub fn parse(text: &str) -> Result<Self, ParseSecondsError> {
        let mut total: i64 = 0;
        let mut rest = text.trim();
        let mut last_unit = i64::MAX;
        if rest.is_empty() {
            return Err(ParseSecondsError::Form);
        }
        while !rest.is_empty() {
            let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
            let (number, behind) = rest.split_at(digits);
            if number.is_empty() {
                return Err(ParseSecondsError::Form);
            }
            let number: i64 = number.parse().map_err(|_| ParseSecondsError::Range)?;
            let behind = behind.trim_start();
            let letters = behind.bytes().take_while(u8::is_ascii_alphabetic).count();
            let (unit, behind) = behind.split_at(letters);
            let unit = match unit {
                "h" => 3600,
                "m" | "min" => 60,
                "s" | "sec" => 1,
                "" if last_unit == i64::MAX && behind.is_empty() => 1,
                _ => return Err(ParseSecondsError::Form),
            };
            if unit >= last_unit {
                return Err(ParseSecondsError::Form);
            }
            last_unit = unit;
            total = number
                .checked_mul(unit)
                .and_then(|more| total.checked_add(more))
                .ok_or(ParseSecondsError::Range)?;
            rest = behind.trim_start();
        }
        if (1..=Self::DAY.0).contains(&total) {
            Ok(Self(total))
        } else {
            Err(ParseSecondsError::Range)
        }
    }

    /// The shortest way to write it in an annotation: `15m`, `1h30m`, `90s`.
    pub fn short(self) -> String {
        let (hours, minutes, seconds) = (self.0 / 3600, self.0 / 60 % 60, self.0 % 60);
        match (hours, minutes, seconds) {
            (0, 0, _) => format!("{seconds}s"),
            (0, _, 0) => format!("{minutes}m"),
            (_, 0, 0) => format!("{hours}h"),
            (_, _, 0) => format!("{hours}h{minutes}m"),
            _ => format!("{}s", self.0),
        }
    }
}

impl fmt::Display for Seconds {
    /// `900 s`, as messages write it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} s", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_every_form() {
        for (text, seconds) in [
            ("900", 900),
            ("900s", 900),
            (" 15m ", 900),
            ("15 min", 900),
            ("1h30m", 5400),
            ("1h 30 min 5 sec", 5405),
            ("24h", 86400),
            ("1", 1),
        ] {
            assert_eq!(Seconds::parse(text), Ok(Seconds(seconds)), "{text}");
        }
    }

    #[test]
    fn refuses_everything_else() {
        for text in [
            "",
            " ",
            "fifteen minutes",
            "1.5h",
            "-5",
            "+5",
            "10m5",
            "5 6",
            "30m1h",
            "1h1h",
            "m",
            "15M",
            "٣",
            "1d",
        ] {
            assert_eq!(Seconds::parse(text), Err(ParseSecondsError::Form), "{text}");
        }
        for text in [
            "0",
            "0s",
            "25h",
            "86401",
            "99999999999999999999",
            "9223372036854775807h",
        ] {
            assert_eq!(
                Seconds::parse(text),
                Err(ParseSecondsError::Range),
                "{text}"
            );
        }
    }

    #[test]
    fn what_is_written_short_reads_back() {
        for seconds in [1, 59, 60, 61, 900, 3600, 3660, 5400, 5405, 86400] {
            assert_eq!(
                Seconds::parse(&Seconds(seconds).short()),
                Ok(Seconds(seconds))
            );
        }
    }
}
