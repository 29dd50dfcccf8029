//! Whether the machine does anything else.

use std::fs;
use std::thread;
use std::time::Duration;

/// So much of all processors' time is spent elsewhere at most, where figures are written.
const BUSY: f64 = 0.05;

/// How long is looked.
const LOOK: Duration = Duration::from_secs(3);

/// Figures of a busy machine say nothing.
///
/// # Errors
///
/// How busy it is.
pub(crate) fn must_be_idle() -> Result<(), String> {
    let (busy, all) = ticks()?;
    thread::sleep(LOOK);
    let (later, all_later) = ticks()?;
    let share = later.saturating_sub(busy) as f64 / all_later.saturating_sub(all).max(1) as f64;
    if share <= BUSY {
        return Ok(());
    }
    let percent = 100.0 * share;
    Err(format!(
        "the machine is {percent:.0} % busy: nothing would be written that holds"
    ))
}

/// The time that all processors have spent: at work, and in all (`/proc/stat` in proc(5)).
fn ticks() -> Result<(u64, u64), String> {
    let stat = fs::read_to_string("/proc/stat").map_err(|error| error.to_string())?;
    let line = stat.lines().next().unwrap_or_default();
    let ticks: Vec<u64> = line
        .split_whitespace()
        .filter_map(|word| word.parse().ok())
        .take(8)
        .collect();
    let all: u64 = ticks.iter().sum();
    let idle: u64 = ticks.iter().skip(3).take(2).sum();
    Ok((all - idle, all))
}
