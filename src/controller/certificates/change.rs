//! What a step writes.

use std::time::Duration;

use k8s_openapi::jiff::Timestamp;

use super::authority::{Authority, CaCertificate};
use super::flaw::Flaw;
use super::secrets::{Data, Retired, State, authorities, signed};
use super::step::Step;
use super::validity::Validity;

/// How long certificates live.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lifetimes {
    /// An authority.
    pub authority: Duration,
    /// A leaf: what the webhook shows.
    pub leaf: Duration,
}

impl Default for Lifetimes {
    /// Five years and 30 days.
    fn default() -> Self {
        const DAY: u64 = 24 * 60 * 60;
        Self {
            authority: Duration::from_secs(5 * 365 * DAY),
            leaf: Duration::from_secs(30 * DAY),
        }
    }
}

/// Why a certificate cannot be made.
#[derive(Debug, thiserror::Error)]
pub(in crate::controller) enum MakeError {
    #[error("a certificate cannot be made")]
    Make(#[from] rcgen::Error),
    #[error("a certificate that was just made is of no use")]
    Useless(#[source] Flaw),
}

/// The new content of a Secret.
#[derive(Debug)]
pub(super) enum Change {
    /// Of the authorities.
    Authorities(Data),
    /// Of the leaf.
    Leaf(Data),
}

/// What `step` writes, if it writes.
pub(super) fn change(
    step: &Step,
    state: &State,
    service: &str,
    lifetimes: Lifetimes,
    now: Timestamp,
) -> Result<Option<Change>, MakeError> {
    let make = || Authority::make(service, Validity::from_now(now, lifetimes.authority));
    let signing = state.signing.as_ref().ok();
    let coming = state.coming.as_ref();
    let retired = &state.retired;
    let data = match step {
        // While a leaf works, its callers have to learn of the new authority first.
        Step::Found(_) if state.leaf.is_ok() => authorities(None, Some(&make()?), retired),
        Step::Found(_) => authorities(Some(&make()?), None, retired),
        Step::Prepare => authorities(signing, Some(&make()?), retired),
        Step::Promote => {
            let before = signing.map(|authority| authority.certificate.clone());
            let retired = retired.with(before, now, lifetimes);
            authorities(coming, None, &retired)
        }
        Step::Retire => {
            let signer = state.leaf.as_ref().ok().map(|leaf| leaf.signer.clone());
            authorities(signing, coming, &retired.with(signer, now, lifetimes))
        }
        Step::Forget => authorities(signing, coming, &Retired::default()),
        Step::Issue(_) => {
            let Some(signing) = signing else {
                return Ok(None);
            };
            let leaf = signing.sign(service, Validity::from_now(now, lifetimes.leaf))?;
            // An authority that somebody else put there may be one that callers reject; then nothing better would follow.
            leaf.accepted(&signing.certificate, service, now)
                .map_err(MakeError::Useless)?;
            return Ok(Some(Change::Leaf(signed(&leaf, &signing.certificate))));
        }
        Step::Rest | Step::Wait => return Ok(None),
    };
    Ok(Some(Change::Authorities(data)))
}

impl Retired {
    /// These and one more, which signed until now, without those that have expired: no leaf outlives what signed it, and where
    /// an authority is replaced before its last leaf can be over, they would pile up.
    fn with(
        &self,
        certificate: Option<CaCertificate>,
        now: Timestamp,
        lifetimes: Lifetimes,
    ) -> Self {
        let mut retired = self.clone();
        let lives = |one: &CaCertificate| one.validity.not_after >= now;
        retired.certificates.retain(lives);
        if let Some(certificate) = certificate {
            retired.certificates.push(certificate);
            retired.until = Some(Validity::from_now(now, lifetimes.leaf).not_after);
        }
        retired
    }
}
