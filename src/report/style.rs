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

/// What may end badly, or is not over yet.
pub(super) const WARNING: Style = AnsiColor::Yellow.on_default();

/// What is nearly good.
pub(super) const SOON: Style = AnsiColor::Cyan.on_default();

/// What looks good and is not.
pub(super) const ODD: Style = AnsiColor::Magenta.on_default().bold();

/// The style of a severity.
pub(super) fn severity(severity: Severity) -> Style {
    match severity {
        Severity::Deny => BAD,
        Severity::Note => SOON,
        Severity::Warn => WARNING.bold(),
    }
}

/// `text` in a style.
pub(super) fn paint(style: Style, text: &str) -> String {
    format!("{style}{text}{style:#}")
}
