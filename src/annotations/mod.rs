//! The annotations an owner writes: one table, from which the parser, the reference and the "did you mean" are made.
//!
//! What cannot be read is a [`Trouble`] that the user sees, never silence: the field then stays absent.

mod grammar;
mod handler;
mod read;
mod reference;
mod table;
mod trouble;
mod value;

pub use handler::{HandlerPort, HandlerValue, StartupProbe};
pub use read::{Annotations, is_ours, labels, read, read_map};
pub use reference::reference;
pub use table::{
    ACCELERATOR, ALLOW_PREFIX, CHANGES, CONTAINERS, DRAIN_TIME, MAX_STARTUP_TIME, MODE, PREFIX,
    PRESTOP_SLEEP, PROBE_TIMEOUT, ROLLOUT, Row, SKIP, STARTUP_PROBE, TABLE,
};
pub use trouble::{Trouble, TroubleKind};
pub use value::{PerContainer, Rollout, Setting, StepDown};
