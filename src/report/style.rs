//! The styles of texts for people.

use anstyle::{AnsiColor, Style};

use crate::words::Severity;

/// A heading.
pub(super) const TITLE: Style = Style::new().bold();

/// What is only looked at when needed.
pub(super) const FAINT: Style = Style::new().dimmed();

/// What is added.
pub(super) const GOOD: Style = AnsiColor::Green.on_default();

/// What ends badly.
pub(super) const BAD: Style = AnsiColor::Red.on_default().bold();

/// The style of a severity.
pub(super) fn severity(severity: Severity) -> Style {
    match severity {
        Severity::Deny => BAD,
        Severity::Note => AnsiColor::Cyan.on_default(),
        Severity::Warn => AnsiColor::Yellow.on_default().bold(),
    }
}

/// `text` in a style.
pub(super) fn paint(style: Style, text: &str) -> String {
    format!("{style}{text}{style:#}")
}
