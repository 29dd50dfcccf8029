//! What the two Secrets hold.
//!
//! | Secret | key | what it is |
//! | --- | --- | --- |
//! | authority | `ca.crt`, `ca.key` | the authority that signs |
//! | | `next.crt`, `next.key` | the one that will: callers learn to trust it first |
//! | | `previous.crt`, `previous.until` | those that did, and until when a leaf of theirs may be in use |
//! | leaf | `tls.crt`, `tls.key` | what the webhook shows |
//! | | `ca.crt` | the authority that signed it |

use std::collections::BTreeMap;

use k8s_openapi::ByteString;
use k8s_openapi::jiff::Timestamp;

use super::authority::{Authority, CaCertificate, bundle};
use super::flaw::Flaw;
use super::leaf::Leaf;
use super::validity::Validity;

pub(super) const CA_CRT: &str = "ca.crt";
const CA_KEY: &str = "ca.key";
const NEXT_CRT: &str = "next.crt";
const NEXT_KEY: &str = "next.key";
const PREVIOUS_CRT: &str = "previous.crt";
const PREVIOUS_UNTIL: &str = "previous.until";
pub(super) const TLS_CRT: &str = "tls.crt";
pub(super) const TLS_KEY: &str = "tls.key";

/// The `data` of a Secret.
pub(super) type Data = BTreeMap<String, ByteString>;

/// What the two Secrets come to at one moment.
#[derive(Debug)]
pub(super) struct State {
    /// The authority that signs, or why there is none.
    pub(super) signing: Result<Authority, Flaw>,
    /// The authority that will sign.
    pub(super) coming: Option<Authority>,
    /// The authorities that signed.
    pub(super) retired: Retired,
    /// What callers who trust all of these accept, or why there is nothing.
    pub(super) leaf: Result<Accepted, Flaw>,
}

/// Authorities that sign no more.
#[derive(Clone, Debug, Default)]
pub(super) struct Retired {
    pub(super) certificates: Vec<CaCertificate>,
    /// When the last leaf of theirs has expired.
    pub(super) until: Option<Timestamp>,
}

/// A leaf that is accepted.
#[derive(Clone, Debug)]
pub(super) struct Accepted {
    pub(super) validity: Validity,
    /// The authority that makes it so.
    pub(super) signer: CaCertificate,
}

impl State {
    /// Reads the Secrets of authority and leaf; a Secret that is missing holds nothing.
    pub(super) fn read(authority: &Data, leaf: &Data, service: &str, now: Timestamp) -> Self {
        let read = |names: [&'static str; 2]| {
            let [certificate, key] = names.map(|name| get(authority, name));
            Authority::read(names, certificate, key, service, now)
        };
        let signing = read([CA_CRT, CA_KEY]);
        let coming = read([NEXT_CRT, NEXT_KEY]).ok();
        let retired = Retired {
            certificates: get(authority, PREVIOUS_CRT).map_or_else(Vec::new, CaCertificate::all),
            until: get(authority, PREVIOUS_UNTIL)
                .and_then(|text| std::str::from_utf8(text).ok()?.trim().parse().ok()),
        };
        let mut candidates: Vec<_> = [signing.as_ref().ok(), coming.as_ref()]
            .into_iter()
            .flatten()
            .map(|authority| authority.certificate.clone())
            .collect();
        candidates.extend(retired.certificates.iter().cloned());
        // Where the authority's own Secret is lost, this is what still tells whom callers trust.
        candidates.extend(get(leaf, CA_CRT).map_or_else(Vec::new, CaCertificate::all));
        Self {
            leaf: accepted(leaf, candidates, service, now),
            signing,
            coming,
            retired,
        }
    }

    /// What callers must trust, as PEM.
    pub(super) fn bundle(&self, now: Timestamp) -> Vec<u8> {
        let authorities = [self.signing.as_ref().ok(), self.coming.as_ref()];
        let certificates = authorities
            .into_iter()
            .flatten()
            .map(|authority| &authority.certificate)
            .chain(&self.retired.certificates)
            .chain(self.leaf.as_ref().ok().map(|leaf| &leaf.signer));
        bundle(certificates.filter(|certificate| certificate.validity.not_after >= now))
    }
}

/// The leaf, with the first of the candidates that makes it acceptable.
fn accepted(
    data: &Data,
    candidates: Vec<CaCertificate>,
    service: &str,
    now: Timestamp,
) -> Result<Accepted, Flaw> {
    let leaf = Leaf::read(get(data, TLS_CRT), get(data, TLS_KEY))?;
    leaf.validity.check(TLS_CRT, now)?;
    let mut flaw = Flaw::OtherAuthority(TLS_CRT);
    for signer in candidates {
        match leaf.accepted(&signer, service, now) {
            Ok(()) => {
                let validity = leaf.validity;
                return Ok(Accepted { validity, signer });
            }
            Err(found) => flaw = found,
        }
    }
    Err(flaw)
}

/// The Secret of the authorities.
pub(super) fn authorities(
    signing: Option<&Authority>,
    coming: Option<&Authority>,
    retired: &Retired,
) -> Data {
    let mut data = Data::new();
    let pairs = [(signing, [CA_CRT, CA_KEY]), (coming, [NEXT_CRT, NEXT_KEY])];
    for (authority, [certificate, key]) in pairs {
        if let Some(authority) = authority {
            put(&mut data, certificate, authority.certificate.pem());
            put(&mut data, key, authority.key.clone());
        }
    }
    if !retired.certificates.is_empty() {
        put(&mut data, PREVIOUS_CRT, bundle(retired.certificates.iter()));
        if let Some(until) = retired.until {
            put(&mut data, PREVIOUS_UNTIL, until.to_string());
        }
    }
    data
}

/// The Secret of a leaf.
pub(super) fn signed(leaf: &Leaf, signer: &CaCertificate) -> Data {
    let mut data = Data::new();
    put(&mut data, TLS_CRT, leaf.certificate.clone());
    put(&mut data, TLS_KEY, leaf.key.clone());
    put(&mut data, CA_CRT, signer.pem());
    data
}

pub(super) fn get<'a>(data: &'a Data, key: &str) -> Option<&'a [u8]> {
    data.get(key).map(|bytes| bytes.0.as_slice())
}

fn put(data: &mut Data, key: &str, value: impl Into<Vec<u8>>) {
    data.insert(key.to_owned(), ByteString(value.into()));
}
