//! Authorities and certificates made on the spot.

use std::ops::Range;

use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, date_time_ymd};

/// The name that every server certificate here is for.
pub(super) const NAME: &str = "warmgate.warmgate.svc";

/// A certificate chain and its key, as PEM.
#[derive(Clone)]
pub(super) struct Pair {
    pub(super) chain: String,
    pub(super) key: String,
}

/// A certificate authority.
pub(super) struct Authority {
    pub(super) pem: String,
    issuer: Issuer<'static, KeyPair>,
}

impl Authority {
    pub(super) fn new() -> Self {
        Self::made(|params, key| params.self_signed(key).expect("the authority signs itself"))
    }

    /// An authority below this one.
    fn below(&self) -> Self {
        Self::made(|params, key| params.signed_by(key, &self.issuer).expect("it is signed"))
    }

    fn made(sign: impl FnOnce(&CertificateParams, &KeyPair) -> rcgen::Certificate) -> Self {
        let key = KeyPair::generate().expect("a key is made");
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let pem = sign(&params, &key).pem();
        Self {
            pem,
            issuer: Issuer::new(params, key),
        }
    }

    /// A P-256 certificate for [`NAME`] with this common name.
    pub(super) fn pair(&self, common_name: &str) -> Pair {
        self.sign(common_name, &KeyPair::generate().expect("a key is made"))
    }

    /// The same, valid from the first day of one year to that of another.
    pub(super) fn pair_of(&self, common_name: &str, years: Range<i32>) -> Pair {
        let key = KeyPair::generate().expect("a key is made");
        self.sign_with(common_name, &key, |params| {
            params.not_before = date_time_ymd(years.start, 1, 1);
            params.not_after = date_time_ymd(years.end, 1, 1);
        })
    }

    /// A certificate for a key.
    pub(super) fn sign(&self, common_name: &str, key: &KeyPair) -> Pair {
        self.sign_with(common_name, key, |_| ())
    }

    fn sign_with(
        &self,
        common_name: &str,
        key: &KeyPair,
        change: impl FnOnce(&mut CertificateParams),
    ) -> Pair {
        let mut params = CertificateParams::new([NAME.to_owned()]).expect("it is a name");
        params
            .distinguished_name
            .push(DnType::CommonName, common_name);
        change(&mut params);
        let certificate = params.signed_by(key, &self.issuer).expect("it is signed");
        Pair {
            chain: certificate.pem(),
            key: key.serialize_pem(),
        }
    }

    /// A certificate from an authority between, which the chain carries.
    pub(super) fn chain(&self, common_name: &str) -> Pair {
        let between = self.below();
        let mut pair = between.pair(common_name);
        pair.chain.push_str(&between.pem);
        pair
    }
}
