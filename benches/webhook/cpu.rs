//! Cores: which one a thread runs on, and what a process has taken of them.

use std::fs;
use std::time::Duration;

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// The cores of the client and of the server under test.
#[derive(Clone, Copy)]
pub(crate) struct Cores {
    client: CpuSet,
    server: CpuSet,
    all: CpuSet,
}

impl Cores {
    /// The first two that this process may use; `None` where it has but one, so that both share it.
    pub(crate) fn new() -> Option<Self> {
        let all = sched_getaffinity(None).ok()?;
        let mut cores = (0..CpuSet::MAX_CPU).filter(|core| all.is_set(*core));
        let mut next = || {
            let mut one = CpuSet::new();
            one.set(cores.next()?);
            Some(one)
        };
        Some(Self {
            client: next()?,
            server: next()?,
            all,
        })
    }

    /// Puts this thread, and what it starts from now on, on the core of the client.
    pub(crate) fn client(&self) {
        pin(&self.client);
    }

    /// The same with that of the server.
    pub(crate) fn server(&self) {
        pin(&self.server);
    }

    /// Lets it be on all of them again.
    pub(crate) fn all(&self) {
        pin(&self.all);
    }
}

fn pin(cores: &CpuSet) {
    sched_setaffinity(None, cores).expect("the cores were among those that are allowed");
}

/// The time that the threads of a process have been on a core, in user and kernel mode.
pub(crate) fn time(process: u32) -> Duration {
    let threads = fs::read_dir(format!("/proc/{process}/task")).expect("it runs");
    let nanoseconds = threads.filter_map(|thread| {
        // A thread may end meanwhile.
        let text = fs::read_to_string(thread.ok()?.path().join("schedstat")).ok()?;
        text.split(' ').next()?.parse::<u64>().ok()
    });
    Duration::from_nanos(nanoseconds.sum())
}
