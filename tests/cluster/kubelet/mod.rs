//! What the kubelet of a cluster of our own did, read where it is exact: its own log, the runtime's events, and the servers'
//! logs. The API says times in whole seconds, and leaves events out after 25 of a pod.

pub(crate) mod batch;
pub(crate) mod conformance;
pub(crate) mod observe;
pub(crate) mod record;
pub(crate) mod recording;
pub(crate) mod runs;
pub(crate) mod sample;
pub(crate) mod server_logs;

mod kept;
mod published;
mod runtime;
