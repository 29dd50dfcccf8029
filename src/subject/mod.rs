//! What an object is.

mod probe;

pub use probe::{Handler, Port, Probe, Role};
