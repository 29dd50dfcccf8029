//! The words every room speaks: where a field stands, how long something takes, what was found, where a word of a
//! command line ends.

mod field;
mod finding;
mod seconds;
mod shell;

pub use field::{FieldPath, Segment};
pub use finding::{Finding, MESSAGE_LIMIT, Severity, clip};
pub use seconds::{ParseSecondsError, Seconds};
pub use shell::{SplitWordsError, split_words};
