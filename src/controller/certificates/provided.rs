//! A Secret that somebody else fills: whom it says to trust, and whether that lets the API server take what the webhook shows.

use std::fmt;

use k8s_openapi::api::core::v1::Secret;
use k8s_openapi::jiff::Timestamp;

use super::authority::{CaCertificate, bundle};
use super::flaw::Flaw;
use super::leaf::Leaf;
use super::secrets::{CA_CRT, Data, TLS_CRT, TLS_KEY, get};
use super::validity::Validity;
use super::{Kept, shown};

/// Who fills it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::controller) enum Filler {
    /// cert-manager. Its CA injector takes `ca.crt` from the same Secret.
    CertManager,
    /// A user, who may leave `ca.crt` out and say elsewhere whom to trust.
    User,
}

impl fmt::Display for Filler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::CertManager => "cert-manager",
            Self::User => "its owner",
        })
    }
}

/// Why it is of no use yet, or no more.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub(in crate::controller) enum Unusable {
    #[error("waiting for {1} to make the Secret {0}")]
    Awaited(String, Filler),
    #[error("the Secret {0}, which {1} fills, cannot be used")]
    Flawed(String, Filler, #[source] Flaw),
}

/// What stands in a Secret of a name. All of `ca.crt` that can be read is to be trusted, as the API server would: with a
/// certificate that is no authority's it takes that one alone.
pub(super) fn look(
    secret: Option<&Secret>,
    name: &str,
    filler: Filler,
    service: &str,
    now: Timestamp,
) -> Kept {
    let nothing = Data::new();
    let data = secret.and_then(|secret| secret.data.as_ref());
    let data = data.unwrap_or(&nothing);
    let trusted = get(data, CA_CRT).filter(|pem| !pem.is_empty());
    let trusted = trusted.map(CaCertificate::trusted);
    let leaf = Leaf::read(get(data, TLS_CRT), get(data, TLS_KEY));
    let judged = judge(&leaf, trusted.as_deref(), filler, service, now);
    let unusable = match &judged {
        _ if secret.is_none() => Some(Unusable::Awaited(name.to_owned(), filler)),
        Err(flaw) => Some(Unusable::Flawed(name.to_owned(), filler, flaw.clone())),
        Ok(_) => None,
    };
    Kept {
        bundle: bundle(trusted.iter().flatten().flatten()),
        shown: shown(data),
        authority: judged.ok().flatten(),
        leaf: leaf.ok().map(|leaf| leaf.validity),
        unusable,
    }
}

/// The life of what makes the API server accept the leaf, if it is for us to know, or why it does not.
fn judge(
    leaf: &Result<Leaf, Flaw>,
    trusted: Option<&[Option<CaCertificate>]>,
    filler: Filler,
    service: &str,
    now: Timestamp,
) -> Result<Option<Validity>, Flaw> {
    let leaf = leaf.as_ref().map_err(Flaw::clone)?;
    leaf.fits(service, now)?;
    let trusted = match (trusted, filler) {
        (Some(trusted), _) => trusted,
        (None, Filler::CertManager) => return Err(Flaw::Missing(CA_CRT)),
        (None, Filler::User) => return Ok(None),
    };
    if trusted.is_empty() || trusted.contains(&None) {
        return Err(Flaw::Unreadable(CA_CRT));
    }
    let mut flaw = Flaw::NoAuthority(CA_CRT);
    for root in trusted.iter().flatten() {
        if !root.signs() && !leaf.is(root) {
            continue;
        }
        match leaf.accepted(root, service, now) {
            Err(found) if !found.is_of_an_unknown_algorithm() => flaw = found,
            // What cannot be verified here Go may verify.
            Ok(()) | Err(_) => return Ok(Some(root.validity)),
        }
    }
    Err(flaw)
}

#[cfg(test)]
mod tests {
    use k8s_openapi::ByteString;
    use rcgen::{
        BasicConstraints, CertificateParams, CertifiedIssuer, ExtendedKeyUsagePurpose, IsCa,
        KeyPair, KeyUsagePurpose, date_time_ymd,
    };

    use super::*;

    const SERVICE: &str = "warmgate.serving.svc";
    const NAME: &str = "own";

    type Made = CertifiedIssuer<'static, KeyPair>;

    fn params(is_ca: IsCa, year: i32) -> CertificateParams {
        let mut params = CertificateParams::new([SERVICE.to_owned()]).unwrap();
        params.is_ca = is_ca;
        params.not_before = date_time_ymd(2026, 1, 1);
        params.not_after = date_time_ymd(year, 1, 1);
        params
    }

    /// Signed by itself, with what `change` makes of it.
    fn own(change: impl FnOnce(&mut CertificateParams)) -> Made {
        let mut params = params(IsCa::NoCa, 2040);
        change(&mut params);
        Made::self_signed(params, KeyPair::generate().unwrap()).unwrap()
    }

    fn authority() -> Made {
        own(|params| params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained))
    }

    /// The chain and the key of a certificate that `authority` signs.
    fn signed(authority: &Made, change: impl FnOnce(&mut CertificateParams)) -> [String; 2] {
        let mut params = params(IsCa::NoCa, 2030);
        change(&mut params);
        let key = KeyPair::generate().unwrap();
        let pem = params.signed_by(&key, authority).unwrap().pem();
        [pem, key.serialize_pem()]
    }

    fn pair(own: &Made) -> [String; 2] {
        [own.pem(), own.key().serialize_pem()]
    }

    fn see(filler: Filler, [certificate, key]: &[String; 2], trusted: Option<&str>) -> Kept {
        let pieces = [
            (TLS_CRT, Some(&**certificate)),
            (TLS_KEY, Some(&**key)),
            (CA_CRT, trusted),
        ];
        let there = pieces
            .into_iter()
            .filter_map(|(key, piece)| Some((key, piece?)));
        let data = there.map(|(key, piece)| (key.to_owned(), ByteString(piece.into())));
        let secret = Secret {
            data: Some(data.collect()),
            ..Secret::default()
        };
        let now = "2026-06-01T00:00:00Z".parse().unwrap();
        look(Some(&secret), NAME, filler, SERVICE, now)
    }

    fn flaw(kept: &Kept) -> Option<&Flaw> {
        kept.unusable.as_ref().map(|unusable| match unusable {
            Unusable::Flawed(_, _, flaw) => flaw,
            Unusable::Awaited(..) => panic!("{unusable:?}"),
        })
    }

    #[test]
    fn what_the_api_server_takes_is_usable() {
        let one = authority();
        let other = authority();
        let both = format!("{}{}", other.pem(), one.pem());
        // What `openssl req -x509` makes, and other tools.
        let itself = authority();
        let no_authority = own(|_| {});
        let leaf = signed(&one, |_| {});
        for (what, shown, trusted, roots) in [
            ("its authority", &leaf, one.pem(), 1),
            ("one of two", &leaf, both, 2),
            ("itself, an authority", &pair(&itself), itself.pem(), 1),
            ("itself, none", &pair(&no_authority), no_authority.pem(), 1),
        ] {
            for filler in [Filler::User, Filler::CertManager] {
                let kept = see(filler, shown, Some(&trusted));
                assert_eq!(flaw(&kept), None, "{what}");
                assert_eq!(CaCertificate::trusted(&kept.bundle).len(), roots, "{what}");
                assert!(kept.authority.is_some() && kept.leaf.is_some(), "{what}");
            }
        }
    }

    #[test]
    fn what_it_does_not_take_is_told_of() {
        let one = authority();
        let leaf = signed(&one, |_| {});
        let mismatched = [leaf[0].clone(), signed(&one, |_| {})[1].clone()];
        let cut = [leaf[0].clone(), leaf[1][..100].to_owned()];
        let late = signed(&one, |params| params.not_after = date_time_ymd(2026, 2, 1));
        let elsewhere = signed(&one, |params| params.subject_alt_names.clear());
        let client = signed(&one, |params| {
            params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
        });
        let of_none = {
            let none = own(|params| params.key_usages = vec![KeyUsagePurpose::DigitalSignature]);
            (signed(&none, |_| {}), none.pem())
        };
        for (what, shown, trusted, expected) in [
            (
                "no chain",
                &[String::new(), leaf[1].clone()],
                one.pem(),
                "tls.crt cannot be read",
            ),
            ("half a key", &cut, one.pem(), "tls.key cannot be read"),
            (
                "another key",
                &mismatched,
                one.pem(),
                "tls.key is not the key of its certificate",
            ),
            (
                "too late",
                &late,
                one.pem(),
                "tls.crt expired at 2026-02-01T00:00:00Z",
            ),
            (
                "no name",
                &elsewhere,
                one.pem(),
                "tls.crt is not accepted: ",
            ),
            (
                "a client's",
                &client,
                one.pem(),
                "tls.crt is not accepted: ",
            ),
            (
                "another authority",
                &leaf,
                authority().pem(),
                "tls.crt is not accepted: ",
            ),
            (
                "signed by none",
                &of_none.0,
                of_none.1,
                "ca.crt is not that of an authority",
            ),
            ("no PEM", &leaf, "x".to_owned(), "ca.crt cannot be read"),
            (
                "half of it",
                &leaf,
                one.pem() + &one.pem()[..200],
                "ca.crt cannot be read",
            ),
        ] {
            let kept = see(Filler::User, shown, Some(&trusted));
            let flaw = flaw(&kept).unwrap_or_else(|| panic!("{what}"));
            assert!(flaw.to_string().starts_with(expected), "{what}: {flaw}");
            assert_eq!(kept.authority, None, "{what}");
        }
        // What can be read of it is trusted all the same, as the API server would.
        let kept = see(
            Filler::User,
            &leaf,
            Some(&(one.pem() + "-----BEGIN CERTIFICATE-----\n")),
        );
        assert_eq!(kept.bundle, one.pem().replace("\r\n", "\n").into_bytes());
    }

    #[test]
    fn a_user_may_say_elsewhere_whom_to_trust_and_cert_manager_may_not() {
        let leaf = signed(&authority(), |_| {});
        for trusted in [None, Some("")] {
            let kept = see(Filler::User, &leaf, trusted);
            assert_eq!(flaw(&kept), None);
            assert_eq!(kept.bundle, Vec::<u8>::new());
            let kept = see(Filler::CertManager, &leaf, trusted);
            assert_eq!(flaw(&kept), Some(&Flaw::Missing(CA_CRT)));
        }
        let elsewhere = signed(&authority(), |params| params.subject_alt_names.clear());
        let kept = see(Filler::User, &elsewhere, None);
        assert!(matches!(flaw(&kept), Some(Flaw::Rejected(..))), "{kept:?}");
    }

    #[test]
    fn the_message_says_what_is_waited_for() {
        let now = Timestamp::UNIX_EPOCH;
        let said = |secret, filler| {
            let kept = look(secret, NAME, filler, SERVICE, now);
            crate::webhook::chain(&kept.usable().unwrap_err())
        };
        assert_eq!(
            said(None, Filler::CertManager),
            "waiting for cert-manager to make the Secret own"
        );
        assert_eq!(
            said(Some(&Secret::default()), Filler::User),
            "the Secret own, which its owner fills, cannot be used: tls.crt is missing"
        );
    }
}
