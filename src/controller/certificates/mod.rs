//! Authority and leaf, kept in two Secrets.
//!
//! The Secrets are the truth: they are read at every pass, and a write names the version that was read, so that two leaders
//! for a moment cannot mix two authorities. Deciding is apart from asking: `secrets` reads what is there, `step` says what
//! comes next, `change` what it writes.

mod authority;
mod change;
mod flaw;
mod leaf;
mod provided;
mod secrets;
mod step;
mod validity;

#[cfg(test)]
mod tests;

use std::time::Duration;

use k8s_openapi::api::core::v1::Secret;
use k8s_openapi::jiff::Timestamp;
use kube::Api;
use kube::api::{ObjectMeta, PostParams};
use tokio::time::Instant;

use self::change::{Change, change};
use self::secrets::{Data, State, TLS_CRT, get};
use super::api::{CallError, MANAGER, call};

pub use self::change::Lifetimes;
pub(super) use self::change::MakeError;
pub(super) use self::provided::{Filler, Unusable};
pub(super) use self::validity::Validity;

/// Steps of one pass. From nothing to a leaf it takes two, over a new authority five; more would be a fight.
const STEPS: usize = 8;

/// Why certificates cannot be kept.
#[derive(Debug, thiserror::Error)]
pub(super) enum Error {
    #[error(transparent)]
    Call(#[from] CallError),
    #[error(transparent)]
    Make(#[from] MakeError),
    #[error("somebody else keeps changing the Secrets")]
    Unsettled,
}

/// What callers trust and what the webhook shows.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Kept {
    /// What callers must trust, as PEM.
    pub(super) bundle: Vec<u8>,
    /// What the webhook shows, as PEM, without its key; `None` where there is nothing.
    pub(super) shown: Option<Vec<u8>>,
    /// The life of the authority that signs.
    pub(super) authority: Option<Validity>,
    /// The life of the leaf.
    pub(super) leaf: Option<Validity>,
    /// Why that would not work, where somebody else has to mend it.
    pub(super) unusable: Option<Unusable>,
}

impl Kept {
    /// Whether it works as far as somebody else has to see to it.
    pub(super) fn usable(&self) -> Result<(), Unusable> {
        self.unusable.clone().map_or(Ok(()), Err)
    }
}

/// For how long all callers have been seen to trust a bundle.
#[derive(Clone, Debug, Default)]
pub(super) struct Trust(Option<(Vec<u8>, Instant)>);

impl Trust {
    /// All callers were seen to trust `bundle`, or not.
    pub(super) fn saw(&mut self, bundle: &[u8], trusted: bool, now: Instant) {
        match &self.0 {
            _ if !trusted => self.0 = None,
            Some((seen, _)) if seen == bundle => {}
            _ => self.0 = Some((bundle.to_vec(), now)),
        }
    }

    fn lasted(&self, bundle: &[u8], now: Instant) -> Option<Duration> {
        let (seen, since) = self.0.as_ref()?;
        (seen == bundle).then(|| now.saturating_duration_since(*since))
    }
}

/// The keeper of both Secrets.
pub(super) struct Certificates {
    pub(super) secrets: Api<Secret>,
    /// The name of the authorities' Secret.
    pub(super) authority: String,
    /// The name of the leaf's Secret.
    pub(super) leaf: String,
    /// The DNS name that callers use.
    pub(super) service: String,
    pub(super) lifetimes: Lifetimes,
    /// How long a bundle must have been trusted before an authority that is new in it signs.
    pub(super) margin: Duration,
}

impl Certificates {
    /// Makes and renews until nothing is left to do now.
    pub(super) async fn keep(&self, trust: &Trust) -> Result<Kept, Error> {
        for _ in 0..STEPS {
            let authority = call(self.secrets.get_opt(&self.authority)).await?;
            let leaf = call(self.secrets.get_opt(&self.leaf)).await?;
            let (now, nothing) = (Timestamp::now(), Data::new());
            let authority_data = data(&authority).unwrap_or(&nothing);
            let leaf_data = data(&leaf).unwrap_or(&nothing);
            let state = State::read(authority_data, leaf_data, &self.service, now);
            let trusted = trust.lasted(&state.bundle(now), Instant::now());
            let step = step::next(&state, trusted, self.margin, now);
            let written = match change(&step, &state, &self.service, self.lifetimes, now)? {
                None => return Ok(kept(&state, leaf_data, now)),
                Some(Change::Authorities(data)) => {
                    self.write(&self.authority, authority, data).await
                }
                Some(Change::Leaf(data)) => self.write(&self.leaf, leaf, data).await,
            };
            match written {
                Ok(()) => tracing::info!(?step, "certificates changed"),
                // Somebody else wrote first: look again.
                Err(error) if error.is_conflict() => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(Error::Unsettled)
    }

    /// What stands in the leaf's Secret that somebody else fills.
    pub(super) async fn look(&self, filler: Filler) -> Result<Kept, Error> {
        let leaf = call(self.secrets.get_opt(&self.leaf)).await?;
        let now = Timestamp::now();
        Ok(provided::look(
            leaf.as_ref(),
            &self.leaf,
            filler,
            &self.service,
            now,
        ))
    }

    /// Writes a Secret, if it is still as it was read. One that is missing is made as the chart made it, with nothing that an
    /// upgrade would want otherwise: a type of its own, which never changes, or labels, over whose fields there would be a conflict.
    async fn write(&self, name: &str, found: Option<Secret>, data: Data) -> Result<(), CallError> {
        let params = PostParams {
            field_manager: Some(MANAGER.to_owned()),
            ..PostParams::default()
        };
        if let Some(found) = found {
            // Its type cannot change.
            let data = Some(data);
            let secret = Secret { data, ..found };
            call(self.secrets.replace(name, &params, &secret)).await?;
        } else {
            let secret = Secret {
                metadata: ObjectMeta {
                    name: Some(name.to_owned()),
                    ..ObjectMeta::default()
                },
                type_: Some("Opaque".to_owned()),
                data: Some(data),
                ..Secret::default()
            };
            call(self.secrets.create(&params, &secret)).await?;
        }
        Ok(())
    }
}

fn data(secret: &Option<Secret>) -> Option<&Data> {
    secret.as_ref()?.data.as_ref()
}

fn kept(state: &State, leaf: &Data, now: Timestamp) -> Kept {
    let signing = state.signing.as_ref().ok();
    Kept {
        bundle: state.bundle(now),
        shown: shown(leaf),
        authority: signing.map(|authority| authority.certificate.validity),
        leaf: state.leaf.as_ref().ok().map(|leaf| leaf.validity),
        unusable: None,
    }
}

fn shown(leaf: &Data) -> Option<Vec<u8>> {
    get(leaf, TLS_CRT)
        .filter(|pem| !pem.is_empty())
        .map(<[u8]>::to_vec)
}
