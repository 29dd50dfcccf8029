//! The words every room speaks: where a field stands, how long something takes, what was found, where a word of a
//! command line ends, what shape a script has, what a value is.

mod field;
mod finding;
mod script;
mod seconds;
mod shell;
mod value;

pub use field::{FieldPath, Segment};
pub use finding::{Finding, MESSAGE_LIMIT, Severity, clip};
pub use script::{AndOr, Command, Junction, Pipeline, Redirect, Script, What, Word, read_script};
pub use seconds::{ParseSecondsError, Seconds};
pub use shell::{
    SplitWordsError, inline_script, is_shell, is_variable_name, needs_shell, split_words,
};
pub use value::type_of;
