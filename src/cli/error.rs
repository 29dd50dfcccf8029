//! What keeps a verb from doing its work.

use std::io;
use std::path::PathBuf;

use crate::facts::FileError;
use crate::review::ReviewError;

/// What keeps a verb from doing its work.
#[derive(Debug, thiserror::Error)]
pub enum CliError {
    /// A file of facts or of the config cannot be used.
    #[error("cannot use {file}")]
    Beside {
        /// The file.
        file: String,
        /// Why not.
        #[source]
        source: FileError,
    },
    /// A file cannot be read as YAML or JSON.
    #[error("{0}")]
    Manifest(String),
    /// There is nothing to read.
    #[error(
        "there is no PATH, and nothing is piped in: name files or folders, or - for standard input"
    )]
    NoInput,
    /// There is no pod in the input, so there is nothing to draw.
    #[error("there is nothing to draw in {file}: {} is not written", .svg.display())]
    NothingToDraw {
        /// What was read.
        file: String,
        /// Where the drawing was wanted.
        svg: PathBuf,
    },
    /// What is asked for does not go together.
    #[error("{0}")]
    Usage(String),
    /// A file cannot be read.
    #[error("cannot read {file}")]
    Read {
        /// The file.
        file: String,
        /// Why not.
        #[source]
        source: io::Error,
    },
    /// A review cannot be answered.
    #[error("{file} cannot be answered")]
    Review {
        /// The file.
        file: String,
        /// Why not.
        #[source]
        source: ReviewError,
    },
    /// There is no rule of that name.
    #[error("there is no rule {id}{}", hint(.nearest))]
    Rule {
        /// What was asked for.
        id: String,
        /// The rule that was probably meant.
        nearest: Option<&'static str>,
    },
    /// The output cannot be written.
    #[error("cannot write the output")]
    Output(#[source] io::Error),
    /// A file cannot be written.
    #[error("cannot write {}", .file.display())]
    Write {
        /// The file.
        file: PathBuf,
        /// Why not.
        #[source]
        source: io::Error,
    },
    /// The system gives no threads to serve with.
    #[cfg(feature = "webhook")]
    #[error("cannot start the runtime")]
    Runtime(#[source] io::Error),
    /// The webhook server cannot run.
    #[cfg(feature = "webhook")]
    #[error("the webhook cannot be served")]
    Webhook(#[from] crate::webhook::Error),
    /// The controller cannot run.
    #[cfg(feature = "controller")]
    #[error("the controller cannot run")]
    Controller(#[from] crate::controller::Error),
    /// The demo cannot go on.
    #[cfg(feature = "webhook")]
    #[error("the demo cannot go on: {what}")]
    Demo {
        /// What failed.
        what: &'static str,
        /// Why.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

fn hint(nearest: &Option<&'static str>) -> String {
    nearest.map_or_else(
        || ": warmgate rules lists them".to_owned(),
        |rule| format!(": did you mean {rule}?"),
    )
}
