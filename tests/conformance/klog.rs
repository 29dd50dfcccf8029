//! The kubelet's own log: a line of `k8s.io/klog` is a moment to the microsecond, a message, and words with values.

use warmgate::kubelet::Micros;

/// One line.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Line {
    /// When it was written, since the epoch.
    pub(crate) at: Micros,
    /// The message.
    pub(crate) message: String,
    words: Vec<(String, String)>,
}

impl Line {
    /// Reads a line that was written in UTC in `year`; nothing where it is none of a message with words.
    pub(crate) fn read(line: &str, year: i64) -> Option<Self> {
        let (head, text) = line.split_once("] ")?;
        let mut head = head.split_ascii_whitespace();
        let (date, time) = (head.next()?, head.next()?);
        let (month, day) = (date.get(1..3)?.parse().ok()?, date.get(3..5)?.parse().ok()?);
        let mut parts = time.split([':', '.']);
        let mut part = || -> Option<i64> { parts.next()?.parse().ok() };
        let (hours, minutes, seconds, micros) = (part()?, part()?, part()?, part()?);
        let day = days_since_epoch(year, month, day);
        let whole = ((day * 24 + hours) * 60 + minutes) * 60 + seconds;
        let (message, mut rest) = quoted(text)?;
        let mut words = Vec::new();
        while let Some((word, behind)) = rest.trim_start().split_once('=') {
            let (value, behind) = match quoted(behind) {
                Some(read) => read,
                None => {
                    let end = behind.find(' ').unwrap_or(behind.len());
                    (behind[..end].to_owned(), &behind[end..])
                }
            };
            words.push((word.to_owned(), value));
            rest = behind;
        }
        Some(Self {
            at: Micros(whole * 1_000_000 + micros),
            message,
            words,
        })
    }

    /// The value of `word`, or nothing at all.
    pub(crate) fn word(&self, word: &str) -> &str {
        let found = self.words.iter().find(|(name, _)| name == word);
        found.map_or("", |(_, value)| value)
    }
}

/// A string in double quotes as Go writes it, and what stands behind it.
fn quoted(text: &str) -> Option<(String, &str)> {
    let inner = text.strip_prefix('"')?;
    let mut value = String::new();
    let mut chars = inner.char_indices();
    while let Some((at, letter)) = chars.next() {
        match letter {
            '"' => return Some((value, &inner[at + 1..])),
            '\\' => match chars.next()?.1 {
                'n' => value.push('\n'),
                't' => value.push('\t'),
                other => value.push(other),
            },
            other => value.push(other),
        }
    }
    None
}

/// The days from the epoch to a day of the Gregorian calendar, counted in years that begin in March.
pub(crate) fn days_since_epoch(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_read() {
        let line = r#"I0301 00:00:01.500000   42 prober.go:1] "Probe failed" probeType="Startup" pod="a/b" output="a \"b\"\n" n=3"#;
        let line = Line::read(line, 2028).unwrap();
        assert_eq!(line.message, "Probe failed");
        assert_eq!(line.word("output"), "a \"b\"\n");
        assert_eq!((line.word("n"), line.word("none")), ("3", ""));
        // 2028 has a 29th of February.
        assert_eq!(
            line.at,
            Micros((days_since_epoch(2028, 2, 29) + 1) * 86_400_000_000 + 1_500_000)
        );
        assert_eq!(Line::read("panic: no line of klog", 2028), None);
    }

    #[test]
    fn days_are_counted() {
        assert_eq!(days_since_epoch(1970, 1, 1), 0);
        assert_eq!(days_since_epoch(2000, 3, 1), 11_017);
        assert_eq!(days_since_epoch(2026, 11, 30), 20_787);
    }
}
