//! What a whole process takes, from its start to its end, as the kernel counts it.

use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use wait4::Wait4;

use crate::Outcome;
use crate::common::median;

/// What one run took.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Run {
    /// From before its start until its end was seen.
    pub(crate) wall: Duration,
    /// User and system time of all its threads.
    pub(crate) cpu: Duration,
    /// The most memory that was resident at once, in bytes. Linux counts what the process was forked from too, which is this one:
    /// it must be the smaller.
    pub(crate) memory: u64,
}

/// Runs a program to its end. `codes` are the exit codes with which it has done its work.
///
/// # Errors
///
/// That it did not run, or ended otherwise.
pub(crate) fn run(command: &mut Command, codes: &[i32]) -> Outcome<Run> {
    let line = format!("{command:?}");
    let begun = Instant::now();
    let child = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| format!("{line}: {error}"))?;
    let done = child.wait4().map_err(|error| format!("{line}: {error}"))?;
    let wall = begun.elapsed();
    if !ended(done.status, codes) {
        let line: String = line.chars().take(300).collect();
        return Err(format!("{line}: {}", done.status).into());
    }
    Ok(Run {
        wall,
        cpu: done.rusage.utime + done.rusage.stime,
        memory: done.rusage.maxrss,
    })
}

fn ended(status: ExitStatus, codes: &[i32]) -> bool {
    status.code().is_some_and(|code| codes.contains(&code))
}

/// The medians of several runs, and how far their wall times lie apart.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Medians {
    pub(crate) runs: usize,
    pub(crate) wall: f64,
    pub(crate) cpu: f64,
    pub(crate) memory: f64,
    /// Shortest and longest wall time.
    pub(crate) range: (f64, f64),
}

impl Medians {
    /// Of at least one run; times in seconds, memory in MB (10^6 bytes).
    pub(crate) fn of(runs: &[Run]) -> Self {
        let of = |figure: fn(&Run) -> f64| runs.iter().map(figure).collect::<Vec<f64>>();
        let walls = of(|run| run.wall.as_secs_f64());
        Self {
            runs: runs.len(),
            range: (
                walls.iter().copied().fold(f64::INFINITY, f64::min),
                walls.iter().copied().fold(0.0, f64::max),
            ),
            wall: median(walls),
            cpu: median(of(|run| run.cpu.as_secs_f64())),
            memory: median(of(|run| run.memory as f64 / 1e6)),
        }
    }
}
