//! Signals, by the number of a process.

use rustix::process::{Pid, Signal, kill_process};

use super::fault::{Context, Fault, Outcome};

/// Sends `signal` to the process `pid`.
///
/// # Errors
///
/// There is no such process.
pub(crate) fn send(pid: u32, signal: Signal) -> Outcome<()> {
    let found = i32::try_from(pid).ok().and_then(Pid::from_raw);
    let found = found.ok_or_else(|| Fault::new(format!("{pid} is no process id")))?;
    kill_process(found, signal).context(format_args!("a signal to {pid}"))
}
