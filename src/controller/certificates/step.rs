//! What is to be done next: one step at a time, each a write of one Secret, so that whoever dies between two leaves a state
//! from which the next leader goes on.
//!
//! A new authority signs nothing before every caller trusts it: it comes, the configurations are written and read back with
//! both, a margin passes for the API servers that have not heard yet, then it signs. The one before stays trusted until its
//! last leaf has expired.

use std::time::Duration;

use k8s_openapi::jiff::Timestamp;

use super::flaw::Flaw;
use super::secrets::{Retired, State, TLS_CRT};

/// The next thing to do.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Step {
    /// Make an authority, because there is none that can sign.
    Found(Flaw),
    /// Drop the retired authorities.
    Forget,
    /// Sign a leaf.
    Issue(Flaw),
    /// Make the authority that follows the one that signs.
    Prepare,
    /// Let the coming authority sign.
    Promote,
    /// Keep the authority of the leaf among those that signed: its own Secret knows it no more.
    Retire,
    /// Nothing.
    Rest,
    /// Nothing, until the coming authority is trusted.
    Wait,
}

/// The next thing to do. `trusted` is for how long all callers have been seen to trust the whole bundle of this state, and
/// `margin` how long that must be.
pub(super) fn next(
    state: &State,
    trusted: Option<Duration>,
    margin: Duration,
    now: Timestamp,
) -> Step {
    let trusted = trusted.is_some_and(|trusted| trusted >= margin);
    match (&state.signing, &state.coming) {
        (Err(flaw), None) => Step::Found(flaw.clone()),
        // Without a leaf that works there is nothing to wait for.
        (Err(_), Some(_)) if trusted || state.leaf.is_err() => Step::Promote,
        (Err(_), Some(_)) => Step::Wait,
        (Ok(_), Some(_)) if trusted => Step::Promote,
        (Ok(signing), None) if signing.certificate.validity.is_old(now) => Step::Prepare,
        (Ok(signing), _) => match &state.leaf {
            Err(flaw) => Step::Issue(flaw.clone()),
            Ok(leaf) if leaf.signer != signing.certificate => {
                if !state.retired.certificates.contains(&leaf.signer) {
                    Step::Retire
                } else if trusted {
                    Step::Issue(Flaw::OtherAuthority(TLS_CRT))
                } else {
                    Step::Wait
                }
            }
            Ok(leaf) if leaf.validity.is_old(now) => Step::Issue(Flaw::Old(TLS_CRT)),
            Ok(_) if is_over(&state.retired, now) => Step::Forget,
            Ok(_) if state.coming.is_some() => Step::Wait,
            Ok(_) => Step::Rest,
        },
    }
}

fn is_over(retired: &Retired, now: Timestamp) -> bool {
    !retired.certificates.is_empty() && retired.until.is_none_or(|until| until <= now)
}
