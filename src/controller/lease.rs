//! Who leads: the holder of one Lease.
//!
//! Two leaders for a moment do no harm, since every write names the version it rests on or says the same; the Lease keeps
//! them from doing the work twice. As in client-go, a lease is over when it has not been seen to change for as long as it
//! says, by our own clock: the clocks of two nodes are never compared.
//!
//! It belongs to the pod that holds it, so that it goes when the last candidate does: nobody is left then who could delete it.

use std::time::Duration;

use k8s_openapi::api::coordination::v1::{Lease, LeaseSpec};
use k8s_openapi::api::core::v1::Pod;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{MicroTime, OwnerReference};
use k8s_openapi::jiff::Timestamp;
use kube::api::{ObjectMeta, PartialObjectMeta, PostParams};
use kube::{Api, Client, Resource, ResourceExt};
use tokio::time::{Instant, sleep};

use super::api::{CallError, MANAGER, call};

/// The times of an election.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ElectionTimes {
    /// How long a lease holds without being renewed.
    pub duration: Duration,
    /// How often it is renewed.
    pub renewal: Duration,
    /// How long a leader goes on without having renewed. Shorter than [`duration`](Self::duration).
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
enum Move {
    Follow,
    Renew,
    Take,
}

/// What to do about a lease that has stood unchanged for `unchanged`.
fn decide(lease: &LeaseSpec, unchanged: Duration, identity: &str, times: ElectionTimes) -> Move {
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
fn held(before: &LeaseSpec, identity: &str, now: Timestamp, times: ElectionTimes) -> LeaseSpec {
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

/// One candidate.
pub(super) struct Election {
    leases: Api<Lease>,
    pods: Api<PartialObjectMeta<Pod>>,
    name: String,
    identity: String,
    times: ElectionTimes,
    /// The pod of this candidate, once it has been found.
    pod: Option<OwnerReference>,
    /// What the lease last said, and since when it has.
    seen: Option<(LeaseSpec, Instant)>,
}

impl Election {
    pub(super) fn new(
        client: &Client,
        namespace: &str,
        name: String,
        identity: String,
        times: ElectionTimes,
    ) -> Self {
        Self {
            leases: Api::namespaced(client.clone(), namespace),
            pods: Api::namespaced(client.clone(), namespace),
            name,
            identity,
            times,
            pod: None,
            seen: None,
        }
    }

    /// Waits until this candidate leads. `reached` hears of every try whether the API server answered.
    pub(super) async fn won(&mut self, reached: impl Fn(bool)) {
        loop {
            let tried = self.attempt().await;
            reached(tried.is_ok());
            match tried {
                Ok(true) => return,
                Ok(false) => {}
                Err(error) => tracing::warn!(error = crate::webhook::chain(&error), "no election"),
            }
            sleep(self.times.retry).await;
        }
    }

    /// Renews the lease until it is lost.
    pub(super) async fn lost(&mut self, reached: impl Fn(bool)) {
        let mut renewed = Instant::now();
        loop {
            sleep(self.times.renewal).await;
            let tried = self.attempt().await;
            reached(tried.is_ok());
            match tried {
                Ok(true) => renewed = Instant::now(),
                Ok(false) => return,
                Err(error) => {
                    tracing::warn!(error = crate::webhook::chain(&error), "lease not renewed");
                    if renewed.elapsed() >= self.times.deadline {
                        return;
                    }
                }
            }
        }
    }

    /// Takes or renews the lease if that can be done now, and says whether this candidate leads.
    async fn attempt(&mut self) -> Result<bool, CallError> {
        let Some(mut lease) = call(self.leases.get_opt(&self.name)).await? else {
            return self.create().await;
        };
        let spec = lease.spec.take().unwrap_or_default();
        let unchanged = self.observe(&spec);
        if decide(&spec, unchanged, &self.identity, self.times) == Move::Follow {
            return Ok(false);
        }
        lease.spec = Some(held(&spec, &self.identity, Timestamp::now(), self.times));
        lease.metadata.owner_references = self.owners().await?;
        won(call(self.leases.replace(&self.name, &params(), &lease)).await)
    }

    async fn create(&mut self) -> Result<bool, CallError> {
        let before = LeaseSpec::default();
        let labels = [
            ("app.kubernetes.io/name", "warmgate"),
            ("app.kubernetes.io/managed-by", MANAGER),
        ];
        let lease = Lease {
            metadata: ObjectMeta {
                name: Some(self.name.clone()),
                labels: Some(
                    labels
                        .map(|(key, value)| (key.to_owned(), value.to_owned()))
                        .into(),
                ),
                owner_references: self.owners().await?,
                ..ObjectMeta::default()
            },
            spec: Some(held(&before, &self.identity, Timestamp::now(), self.times)),
        };
        won(call(self.leases.create(&params(), &lease)).await)
    }

    /// Who owns the lease while this candidate holds it: the pod of its name. Outside of a cluster there is none.
    async fn owners(&mut self) -> Result<Option<Vec<OwnerReference>>, CallError> {
        if self.pod.is_none() {
            let pod = call(self.pods.get_opt(&self.identity)).await?;
            self.pod = pod.map(|pod| OwnerReference {
                api_version: Pod::api_version(&()).into_owned(),
                kind: Pod::kind(&()).into_owned(),
                name: self.identity.clone(),
                uid: pod.uid().unwrap_or_default(),
                ..OwnerReference::default()
            });
        }
        Ok(self.pod.clone().map(|pod| vec![pod]))
    }

    /// How long the lease has said the same.
    fn observe(&mut self, spec: &LeaseSpec) -> Duration {
        let now = Instant::now();
        match &self.seen {
            Some((seen, since)) if seen == spec => now.duration_since(*since),
            _ => {
                self.seen = Some((spec.clone(), now));
                Duration::ZERO
            }
        }
    }

    /// Lets others lead at once, if this candidate leads.
    pub(super) async fn release(&self) -> Result<(), CallError> {
        let lease = call(self.leases.get_opt(&self.name)).await?;
        let Some(mut lease) = lease else {
            return Ok(());
        };
        let Some(spec) = lease.spec.as_mut() else {
            return Ok(());
        };
        if spec.holder_identity.as_deref() != Some(&self.identity) {
            return Ok(());
        }
        spec.holder_identity = None;
        spec.renew_time = Some(MicroTime(Timestamp::now()));
        won(call(self.leases.replace(&self.name, &params(), &lease)).await).map(|_| ())
    }
}

fn params() -> PostParams {
    PostParams {
        field_manager: Some(MANAGER.to_owned()),
        ..PostParams::default()
    }
}

/// Whoever writes first wins.
fn won<T>(written: Result<T, CallError>) -> Result<bool, CallError> {
    match written {
        Ok(_) => Ok(true),
        Err(error) if error.is_conflict() => Ok(false),
        Err(error) => Err(error),
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
