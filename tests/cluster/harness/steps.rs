//! What is being done, and the seconds it took.

use std::fmt::Display;
use std::time::Instant;

use super::fault::Outcome;

/// The clock of one undertaking.
pub(crate) struct Steps {
    name: String,
    start: Instant,
}

impl Steps {
    /// Starts the clock of `name`.
    pub(crate) fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            start: Instant::now(),
        }
    }

    /// Does one step and prints its seconds, and those since the start.
    ///
    /// # Errors
    ///
    /// Those of the step.
    pub(crate) fn take<T>(
        &self,
        what: impl Display,
        step: impl FnOnce() -> Outcome<T>,
    ) -> Outcome<T> {
        let start = Instant::now();
        let done = step();
        let word = if done.is_ok() { "" } else { " FAILED" };
        println!(
            "{}: {what}{word} in {:.1} s ({:.1} s)",
            self.name,
            start.elapsed().as_secs_f64(),
            self.start.elapsed().as_secs_f64()
        );
        done
    }
}
