//! Tests of the shells: the binary as a user runs it and the server as an API server calls it.

#[cfg(feature = "webhook")]
mod webhook;
