//! Tests of the shells: the binary as a user runs it and the server as an API server calls it.

#![expect(
    clippy::disallowed_methods,
    reason = "tests run the binary, and read and write what it does"
)]

mod cli;
#[cfg(feature = "controller")]
mod controller;
#[cfg(feature = "webhook")]
mod webhook;
