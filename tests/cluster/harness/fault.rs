//! What keeps a cluster from starting, as one chain of words.

use std::fmt::{self, Display};

/// Why a step failed, outermost step first.
#[derive(Debug)]
pub(crate) struct Fault(String);

/// The result of every step of the harness.
pub(crate) type Outcome<T> = Result<T, Fault>;

impl Fault {
    /// A fault that says `text`.
    pub(crate) fn new(text: impl Display) -> Self {
        Self(text.to_string())
    }
}

impl Display for Fault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// Says what was being done when something failed.
pub(crate) trait Context<T> {
    /// Puts `doing` before the cause.
    ///
    /// # Errors
    ///
    /// The same failure, with `doing` in front of it.
    fn context(self, doing: impl Display) -> Outcome<T>;
}

impl<T, E: Display> Context<T> for Result<T, E> {
    fn context(self, doing: impl Display) -> Outcome<T> {
        self.map_err(|cause| Fault(format!("{doing}: {cause}")))
    }
}
