//! What signs certificates here.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, Error, IsCa, KeyPair, date_time_ymd,
};

/// An authority.
pub(super) struct Authority(CertifiedIssuer<'static, KeyPair>);

/// A certificate for a server, and its key.
pub(super) struct Leaf {
    certificate: String,
    key: String,
    /// When it expires, in seconds of Unix time. No two here expire at the same time.
    pub(super) expires: i64,
}

impl Authority {
    pub(super) fn make() -> Self {
        Self::of(expect(KeyPair::generate()))
    }

    /// Another certificate for the same key.
    pub(super) fn renewed(&self) -> Self {
        Self::of(expect(KeyPair::from_pem(&self.key())))
    }

    fn of(key: KeyPair) -> Self {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        Self(expect(CertifiedIssuer::self_signed(params, key)))
    }

    /// PEM.
    pub(super) fn certificate(&self) -> String {
        self.0.pem()
    }

    /// PEM.
    pub(super) fn key(&self) -> String {
        self.0.key().serialize_pem()
    }

    /// Signs a certificate for these DNS `names`, until the first day of `year`.
    pub(super) fn sign(&self, names: &[&str], year: i32) -> Leaf {
        let names: Vec<_> = names.iter().map(ToString::to_string).collect();
        let key = expect(KeyPair::generate());
        let mut params = expect(CertificateParams::new(names));
        params.not_after = date_time_ymd(year, 1, 1);
        Leaf {
            certificate: expect(params.signed_by(&key, &self.0)).pem(),
            key: key.serialize_pem(),
            expires: params.not_after.unix_timestamp(),
        }
    }
}

impl Leaf {
    /// Both, as PEM.
    pub(super) fn pair(&self) -> [&str; 2] {
        [&self.certificate, &self.key]
    }
}

/// What the API takes as bytes.
pub(super) fn base64(text: &str) -> String {
    STANDARD.encode(text)
}

/// The text in what the API gives as bytes.
pub(super) fn text(base64: &str) -> String {
    let bytes = STANDARD.decode(base64);
    let bytes = bytes.unwrap_or_else(|error| panic!("{error}: {base64}"));
    String::from_utf8_lossy(&bytes).into_owned()
}

fn expect<T>(made: Result<T, Error>) -> T {
    made.unwrap_or_else(|error| panic!("{error}"))
}
