//! What a request is told and when: the simulator's model of an endpoint (`src/kubelet/answer`), for a real kubelet to meet.

use std::time::Duration;

use crate::flags::{Flags, Loading, Stall};

/// What a server does with a request that it takes. All moments count from its start.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Reply {
    /// Whether it says that it is well.
    pub(crate) well: bool,
    /// The head of the answer comes at once, and only the body waits. Of HTTP alone.
    pub(crate) head_first: bool,
    /// When the answer is complete.
    pub(crate) done: Duration,
}

impl Flags {
    /// What becomes of a request that comes at `at`.
    pub(crate) fn reply(&self, at: Duration) -> Reply {
        let loads = at < self.ready_after;
        let waits = loads && matches!(self.while_loading, Loading::Hang | Loading::Stall);
        Reply {
            well: !loads || waits || self.while_loading == Loading::Ok,
            head_first: waits && self.while_loading == Loading::Stall,
            done: self.worked(if waits { self.ready_after } else { at }),
        }
    }

    /// When an answer is complete that is begun at `from`.
    fn worked(&self, from: Duration) -> Duration {
        let mut stalls = self.stalls.clone();
        stalls.sort_by_key(|stall| stall.from);
        let (mut at, mut left) = (from, self.answers_in);
        for Stall { from, to } in stalls {
            let until = from.saturating_sub(at);
            if !until.is_zero() && left <= until {
                break;
            }
            left -= until;
            at = at.max(to);
        }
        at.saturating_add(left)
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    fn flags(line: &str) -> Flags {
        Flags::parse_from(format!("slowserver {line}").split_whitespace())
    }

    /// Whether a request that comes at `at` is told that all is well, whether the head comes first, and when it has its answer.
    fn reply(line: &str, at: u64) -> (bool, bool, u64) {
        let reply = flags(line).reply(Duration::from_secs(at));
        (reply.well, reply.head_first, reply.done.as_secs())
    }

    #[test]
    fn nothing_answers_faster_than_it_is_told() {
        for (loading, well) in [("503", false), ("200", true)] {
            let line = format!("--ready-after 9 --answers-in 2 --while-loading {loading}");
            assert_eq!(reply(&line, 3), (well, false, 5));
            assert_eq!(reply(&line, 8), (well, false, 10));
            assert_eq!(reply(&line, 9), (true, false, 11));
        }
    }

    #[test]
    fn what_waits_for_the_load_is_answered_after_it() {
        for (loading, head_first) in [("hang", false), ("stall", true)] {
            let line = format!("--ready-after 9 --answers-in 2 --while-loading {loading}");
            assert_eq!(reply(&line, 3), (true, head_first, 11));
            assert_eq!(reply(&line, 9), (true, false, 11));
        }
    }

    /// The numbers of the simulator's own test.
    #[test]
    fn a_stall_delays_what_falls_into_it() {
        let done = |line: &str, at: &[u64]| -> Vec<u64> {
            at.iter().map(|at| reply(line, *at).2).collect()
        };
        let line = "--answers-in 2 --stall 10=15";
        assert_eq!(done(line, &[8, 9, 10, 14, 15]), [10, 16, 17, 17, 17]);
        let line = "--stall 10=15";
        assert_eq!(done(line, &[9, 10, 14, 15]), [9, 15, 15, 15]);
        let line = "--ready-after 12 --while-loading hang --answers-in 2 --stall 10=15";
        assert_eq!(done(line, &[3, 11]), [17, 17]);
    }

    #[test]
    fn stalls_add_up() {
        let line = "--answers-in 3 --stall 20=30 --stall 10=15";
        assert_eq!(reply(line, 9).2, 17);
        assert_eq!(reply(line, 14).2, 18);
        let line = "--answers-in 7 --stall 20=30 --stall 10=15";
        assert_eq!(reply(line, 9).2, 31);
        let line = "--answers-in 3 --stall 10=15 --stall 12=13 --stall 14=20";
        assert_eq!(reply(line, 11).2, 23);
    }
}
