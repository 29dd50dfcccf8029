//! Patterns in the data: text in which `*` stands for any run of characters.

/// Whether `text` has the form of `pattern`.
pub(super) fn matches(pattern: &str, text: &str) -> bool {
    let (pattern, text) = (pattern.as_bytes(), text.as_bytes());
    let (mut p, mut t) = (0, 0);
    // Where to go on when a mismatch shows that the last `*` has to take one character more.
    let mut retry: Option<(usize, usize)> = None;
    while t < text.len() {
        if pattern.get(p) == Some(&b'*') {
            retry = Some((p + 1, t));
            p += 1;
        } else if pattern.get(p) == Some(&text[t]) {
            p += 1;
            t += 1;
        } else if let Some((behind, taken)) = retry {
            retry = Some((behind, taken + 1));
            p = behind;
            t = taken + 1;
        } else {
            return false;
        }
    }
    pattern[p..].iter().all(|byte| *byte == b'*')
}

/// Whether one of `patterns` matches `text`.
pub(super) fn any(patterns: &[String], text: &str) -> bool {
    patterns.iter().any(|pattern| matches(pattern, text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_takes_any_run() {
        for (pattern, text) in [
            ("", ""),
            ("*", ""),
            ("*", "abc"),
            ("a*c", "ac"),
            ("a*c", "abcbc"),
            ("*-grpc", "cpu-1.8-grpc"),
            ("nvidia.com/mig-*g.*gb*", "nvidia.com/mig-1g.10gb.shared"),
            ("*ab*ab", "abab"),
        ] {
            assert!(matches(pattern, text), "{pattern} {text}");
        }
        for (pattern, text) in [
            ("", "a"),
            ("a", ""),
            ("a*c", "acd"),
            ("*-sdk", "sdk"),
            ("*ab*ab", "ab"),
            ("abc", "ABC"),
        ] {
            assert!(!matches(pattern, text), "{pattern} {text}");
        }
    }
}
