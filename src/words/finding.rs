//! What a rule has to say about the user's object.

use serde::Deserialize;

use super::FieldPath;

/// The longest message, in characters: the API server cuts longer warnings off
/// (`endpoints/filters/warning.go` of the Kubernetes API server).
pub const MESSAGE_LIMIT: usize = 256;

/// How grave a finding is, the gravest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// As it stands this cannot work in any phase of the kubelet's grid.
    Deny,
    /// This will hurt in some phase, under load, or at the next rollout.
    Warn,
    /// Worth knowing.
    Note,
}

impl Severity {
    /// The word that users and the JSON report see.
    pub fn word(self) -> &'static str {
        match self {
            Self::Deny => "deny",
            Self::Note => "note",
            Self::Warn => "warn",
        }
    }
}

/// One thing that is wrong, or worth knowing, about the user's object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The id of the rule, which names the bad thing.
    pub rule: &'static str,
    /// How grave it is.
    pub severity: Severity,
    /// The container it is about, where it is about one.
    pub container: Option<String>,
    /// The field it is about, from the root of the object.
    pub path: FieldPath,
    /// One line: what the kubelet will do, with seconds in it, and what to set. Lower case, no full stop, without the rule.
    pub message: String,
    /// More than fits into the message.
    pub help: Option<String>,
}

impl Finding {
    /// The message with its rule behind it, never longer than [`MESSAGE_LIMIT`] characters.
    pub fn line(&self) -> String {
        let rule = format!(" [{}]", self.rule);
        format!(
            "{}{rule}",
            clip(&self.message, MESSAGE_LIMIT - rule.chars().count())
        )
    }
}

/// `text` on one line and cut to `limit` characters; where something was cut off, its last character is an ellipsis.
pub fn clip(text: &str, limit: usize) -> String {
    // Nearly every text is short and plain ASCII, of which each byte is a character.
    if text.len() <= limit && text.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
        return text.to_owned();
    }
    let line: String = text
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    if line.chars().count() <= limit {
        return line;
    }
    let mut kept: String = line.chars().take(limit.saturating_sub(1)).collect();
    kept.push('…');
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_cut_before_its_rule() {
        let finding = Finding {
            rule: "no-probes",
            severity: Severity::Warn,
            container: None,
            path: FieldPath::root(),
            message: "ü".repeat(400),
            help: None,
        };
        let line = finding.line();
        assert_eq!(line.chars().count(), MESSAGE_LIMIT);
        assert!(line.ends_with("ü… [no-probes]"), "{line}");
    }

    #[test]
    fn clip_keeps_one_line() {
        assert_eq!(clip("a\nb\u{7}c", 10), "a b c");
        assert_eq!(clip("abcdef", 4), "abc…");
    }
}
