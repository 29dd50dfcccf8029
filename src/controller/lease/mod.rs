//! Who leads: the holder of one Lease.
//!
//! Two leaders for a moment do no harm, since every write names the version it rests on or says the same; the Lease keeps
//! them from doing the work twice. As in client-go, a lease is over when it has not been seen to change for as long as it
//! says, by our own clock: the clocks of two nodes are never compared.
//!
//! It belongs to the pod that holds it, so that it goes when the last candidate does: nobody is left then who could delete it.

mod terms;

use std::time::Duration;

use k8s_openapi::api::coordination::v1::{Lease, LeaseSpec};
use k8s_openapi::api::core::v1::Pod;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{MicroTime, OwnerReference};
use k8s_openapi::jiff::Timestamp;
use kube::api::{ObjectMeta, PartialObjectMeta, PostParams};
use kube::{Api, Client, Resource, ResourceExt};
use tokio::time::{Instant, sleep, timeout_at};

use self::terms::{Move, decide, held};
use super::api::{CallError, MANAGER, call};

pub use self::terms::ElectionTimes;

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

    /// Waits until this candidate leads, and returns since when. `reached` hears of every try whether the API server answered.
    pub(super) async fn won(&mut self, reached: impl Fn(bool)) -> Instant {
        loop {
            let tried = self.attempt().await;
            reached(tried.is_ok());
            match tried {
                Ok(Some(since)) => return since,
                Ok(None) => {}
                Err(error) => tracing::warn!(error = crate::webhook::chain(&error), "no election"),
            }
            sleep(self.times.retry).await;
        }
    }

    /// Renews the lease that is held since `since`, until it is lost.
    pub(super) async fn lost(&mut self, mut since: Instant, reached: impl Fn(bool)) {
        let ElectionTimes {
            deadline, renewal, ..
        } = self.times;
        loop {
            let renewed = async {
                sleep(renewal).await;
                self.attempt().await
            };
            let Ok(tried) = timeout_at(since + deadline, renewed).await else {
                reached(false);
                tracing::warn!("lease not renewed in time");
                return;
            };
            reached(tried.is_ok());
            match tried {
                Ok(Some(again)) => since = again,
                Ok(None) => return,
                Err(error) => {
                    tracing::warn!(error = crate::webhook::chain(&error), "lease not renewed");
                }
            }
        }
    }

    /// Takes or renews the lease if that can be done now. Returns since when this candidate leads, if it does: the moment
    /// before the write, since others count from when they see it.
    async fn attempt(&mut self) -> Result<Option<Instant>, CallError> {
        let Some(mut lease) = call(self.leases.get_opt(&self.name)).await? else {
            return self.create().await;
        };
        let spec = lease.spec.take().unwrap_or_default();
        let unchanged = self.observe(&spec);
        if decide(&spec, unchanged, &self.identity, self.times) == Move::Follow {
            return Ok(None);
        }
        lease.spec = Some(held(&spec, &self.identity, Timestamp::now(), self.times));
        lease.metadata.owner_references = self.owners().await?;
        let since = Instant::now();
        let written = call(self.leases.replace(&self.name, &params(), &lease)).await;
        Ok(won(written)?.then_some(since))
    }

    async fn create(&mut self) -> Result<Option<Instant>, CallError> {
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
        let since = Instant::now();
        let written = call(self.leases.create(&params(), &lease)).await;
        Ok(won(written)?.then_some(since))
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
