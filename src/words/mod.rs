//! The words every room speaks: where a field stands, how long something takes, what was found.

mod field;
mod finding;
mod seconds;

pub use field::{FieldPath, Segment};
pub use finding::{Finding, MESSAGE_LIMIT, Severity, clip};
pub use seconds::{ParseSecondsError, Seconds};
