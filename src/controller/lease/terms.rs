//! The terms of a lease: when it may be taken, and what it says then.

use std::time::Duration;

use k8s_openapi::api::coordination::v1::LeaseSpec;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::MicroTime;
use k8s_openapi::jiff::Timestamp;

/// The times of an election.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ElectionTimes {
    /// How long a lease holds without being renewed.
    pub duration: Duration,
    /// How often it is renewed.
    pub renewal: Duration,
    /// How long a leader goes on at most after it has last renewed, also while a call is under way. Shorter than
    /// [`duration`](Self::duration), so that it has stopped before another one leads.
    pub deadline: Duration,
    /// How often the others look.
    pub retry: Duration,
}

impl Default for ElectionTimes {
    fn default() -> Self {
        Self {
            duration: Duration::from_secs(10),
            renewal: Duration::from_secs(2),
            deadline: Duration::from_secs(7),
            retry: Duration::from_secs(2),
        }
    }
}

/// What to do about a lease.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Move {
    Follow,
    Renew,
    Take,
}

/// What to do about a lease that has stood unchanged for `unchanged`.
pub(super) fn decide(
    lease: &LeaseSpec,
    unchanged: Duration,
    identity: &str,
    times: ElectionTimes,
) -> Move {
    let holder = lease.holder_identity.as_deref().unwrap_or_default();
    let holds = lease
        .lease_duration_seconds
        .and_then(|seconds| u64::try_from(seconds).ok())
        .map_or(times.duration, Duration::from_secs);
    if holder == identity {
        Move::Renew
    } else if holder.is_empty() || unchanged >= holds {
        Move::Take
    } else {
        Move::Follow
    }
}

/// The lease as `identity` holds it from now on.
pub(super) fn held(
    before: &LeaseSpec,
    identity: &str,
    now: Timestamp,
    times: ElectionTimes,
) -> LeaseSpec {
    let renewed = before.holder_identity.as_deref() == Some(identity);
    let transitions = before.lease_transitions.unwrap_or(0);
    let acquired = before.acquire_time.clone().filter(|_| renewed);
    let seconds = times.duration.as_secs().max(1);
    LeaseSpec {
        holder_identity: Some(identity.to_owned()),
        lease_duration_seconds: Some(i32::try_from(seconds).unwrap_or(i32::MAX)),
        acquire_time: Some(acquired.unwrap_or(MicroTime(now))),
        renew_time: Some(MicroTime(now)),
        lease_transitions: Some(transitions.saturating_add(i32::from(!renewed))),
        ..before.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lease(holder: Option<&str>, seconds: Option<i32>) -> LeaseSpec {
        LeaseSpec {
            holder_identity: holder.map(str::to_owned),
            lease_duration_seconds: seconds,
            ..LeaseSpec::default()
        }
    }

    #[test]
    fn a_lease_is_taken_when_nobody_holds_it_or_its_holder_is_silent() {
        let times = ElectionTimes::default();
        let ten = times.duration.as_secs();
        for (holder, seconds, unchanged, expected) in [
            (None, None, 0, Move::Take),
            (Some(""), Some(1), 0, Move::Take),
            (Some("me"), Some(15), 0, Move::Renew),
            // Restarted in the same pod, long after: it is still ours.
            (Some("me"), Some(15), 100, Move::Renew),
            (Some("other"), Some(15), 14, Move::Follow),
            (Some("other"), Some(15), 15, Move::Take),
            // The holder says how long, not we.
            (Some("other"), Some(60), ten, Move::Follow),
            (Some("other"), None, ten - 1, Move::Follow),
            (Some("other"), None, ten, Move::Take),
            (Some("other"), Some(-1), ten - 1, Move::Follow),
        ] {
            let lease = lease(holder, seconds);
            let unchanged = Duration::from_secs(unchanged);
            let decided = decide(&lease, unchanged, "me", times);
            assert_eq!(decided, expected, "{lease:?} {unchanged:?}");
        }
    }

    #[test]
    fn a_renewal_keeps_when_it_was_acquired_and_a_change_counts() {
        let times = ElectionTimes::default();
        let at = |second| Timestamp::from_second(second).unwrap();
        let first = held(&LeaseSpec::default(), "one", at(100), times);
        assert_eq!(first.holder_identity.as_deref(), Some("one"));
        assert_eq!(first.lease_transitions, Some(1));
        let renewed = held(&first, "one", at(200), times);
        assert_eq!(renewed.acquire_time, Some(MicroTime(at(100))));
        assert_eq!(renewed.renew_time, Some(MicroTime(at(200))));
        assert_eq!(renewed.lease_transitions, Some(1));
        let taken = held(&renewed, "two", at(300), times);
        assert_eq!(taken.acquire_time, Some(MicroTime(at(300))));
        assert_eq!(taken.lease_transitions, Some(2));
        assert_eq!(taken.lease_duration_seconds, Some(10));
    }
}
