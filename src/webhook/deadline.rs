//! When an answer is too late: the API server says in `?timeout=` how long it waits.

use std::time::Duration;

/// How long the caller of a request with this query waits, at most and by default `longest`. What cannot be read counts as not
/// said: a review is not refused for its timeout.
pub(super) fn timeout(query: Option<&str>, longest: Duration) -> Duration {
    query
        .unwrap_or_default()
        .split('&')
        .find_map(|pair| pair.strip_prefix("timeout="))
        .and_then(go_duration)
        .filter(|timeout| !timeout.is_zero())
        .map_or(longest, |timeout| timeout.min(longest))
}

/// Reads a duration as Go's `time.ParseDuration` does, negative ones apart: `10s`, `1m0s`, `1.5s`, `250ms`, `0`.
fn go_duration(text: &str) -> Option<Duration> {
    let mut rest = text.strip_prefix('+').unwrap_or(text);
    if rest == "0" {
        return Some(Duration::ZERO);
    }
    if rest.is_empty() {
        return None;
    }
    let mut total = Duration::ZERO;
    while !rest.is_empty() {
        let number = prefix(rest, |c| c.is_ascii_digit() || c == '.');
        rest = &rest[number.len()..];
        let unit = prefix(rest, |c| !c.is_ascii_digit() && c != '.');
        rest = &rest[unit.len()..];
        let seconds = number.parse::<f64>().ok()? * unit_seconds(unit)?;
        total = total.checked_add(Duration::try_from_secs_f64(seconds).ok()?)?;
    }
    Some(total)
}

fn prefix(text: &str, of: impl Fn(char) -> bool) -> &str {
    let end = text.find(|c| !of(c)).unwrap_or(text.len());
    &text[..end]
}

fn unit_seconds(unit: &str) -> Option<f64> {
    match unit {
        "ns" => Some(1e-9),
        "us" | "µs" | "μs" => Some(1e-6),
        "ms" => Some(1e-3),
        "s" => Some(1.0),
        "m" => Some(60.0),
        "h" => Some(3600.0),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONGEST: Duration = Duration::from_secs(30);

    #[test]
    fn what_the_api_server_sends_is_the_timeout() {
        for (query, millis) in [
            ("timeout=2s", 2000),
            ("timeout=10s&x=1", 10_000),
            ("x=1&timeout=1.5s", 1500),
            ("timeout=250ms", 250),
            ("timeout=0m5s", 5000),
            ("timeout=+3s", 3000),
        ] {
            let expected = Duration::from_millis(millis);
            assert_eq!(timeout(Some(query), LONGEST), expected, "{query}");
        }
    }

    #[test]
    fn anything_else_is_the_longest() {
        assert_eq!(timeout(None, LONGEST), LONGEST);
        for query in [
            "",
            "timeout",
            "timeout=",
            "timeout=0",
            "timeout=0s",
            "timeout=-2s",
            "timeout=soon",
            "timeout=2",
            "timeout=s",
            "timeout=.s",
            "timeout=1m0s",
            "timeout=9999999h",
            "timeout=1..2s",
            "timeout=1e9s",
            "timeout=2s%20",
            "timeout=2d",
            "timeout=99999999999999999999999999999999h9s",
            "timeouts=2s",
        ] {
            assert_eq!(timeout(Some(query), LONGEST), LONGEST, "{query}");
        }
    }
}
