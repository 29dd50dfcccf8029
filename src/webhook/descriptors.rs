//! File descriptors: every connection takes one, and many systems start a process with 1024 and let it have far more.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Descriptors for everything but reviews: the connections of the plain port, both listeners, files and the runtime. Without
/// them left over the kubelet's probes would not be answered, and it would restart a server that is merely popular.
const APART: u64 = 256;

/// Raises the soft limit of this process as far as `wanted` connections need it and the hard limit lets it, and returns how many
/// connections it has room for.
pub(super) fn make_room(wanted: usize) -> usize {
    let limit = getrlimit(Resource::Nofile);
    let needed = wanted as u64 + APART;
    let raised = needed.min(limit.maximum.unwrap_or(u64::MAX));
    let current = limit.current.unwrap_or(u64::MAX);
    let have = if current < raised {
        let raise = Rlimit {
            current: Some(raised),
            ..limit
        };
        setrlimit(Resource::Nofile, raise).map_or(current, |()| raised)
    } else {
        current
    };
    room(have, wanted)
}

/// How many connections fit into a limit; of a small one half is kept for the rest.
fn room(limit: u64, wanted: usize) -> usize {
    let room = limit - APART.min(limit / 2);
    usize::try_from(room).map_or(wanted, |room| room.min(wanted))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn something_is_always_left() {
        assert_eq!(room(1024, 10_000), 768);
        assert_eq!(room(64, 10_000), 32);
        assert_eq!(room(u64::MAX, 10_000), 10_000);
        assert_eq!(room(1_048_576, 10_000), 10_000);
    }
}
