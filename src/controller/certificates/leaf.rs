//! The certificate that the webhook shows.

use std::sync::Arc;
use std::time::Duration;

use k8s_openapi::jiff::Timestamp;
use rustls::client::danger::ServerCertVerifier;
use rustls::client::{WebPkiServerVerifier, verify_server_name};
use rustls::crypto::ring::default_provider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::sign::CertifiedKey;
use rustls::{CertificateError, Error, RootCertStore};
use x509_parser::parse_x509_certificate;

use super::authority::CaCertificate;
use super::flaw::Flaw;
use super::secrets::{TLS_CRT, TLS_KEY};
use super::validity::Validity;

/// A chain, the server's own certificate first, and its key.
#[derive(Clone)]
pub(super) struct Leaf {
    chain: Vec<CertificateDer<'static>>,
    /// PEM.
    pub(super) certificate: String,
    /// PEM.
    pub(super) key: String,
    pub(super) validity: Validity,
}

impl Leaf {
    pub(super) fn new(
        der: CertificateDer<'static>,
        certificate: String,
        key: String,
        validity: Validity,
    ) -> Self {
        Self {
            chain: vec![der],
            certificate,
            key,
            validity,
        }
    }

    /// Reads a chain whose first certificate is that of the key.
    pub(super) fn read(certificate: Option<&[u8]>, key: Option<&[u8]>) -> Result<Self, Flaw> {
        let certificate = text(TLS_CRT, certificate)?;
        let key = text(TLS_KEY, key)?;
        let chain: Vec<_> = CertificateDer::pem_slice_iter(certificate.as_bytes())
            .collect::<Result<_, _>>()
            .map_err(|_| Flaw::Unreadable(TLS_CRT))?;
        let first = chain.first().ok_or(Flaw::Unreadable(TLS_CRT))?;
        let validity = parse_x509_certificate(first)
            .ok()
            .and_then(|(_, first)| Validity::of(&first))
            .ok_or(Flaw::Unreadable(TLS_CRT))?;
        let private =
            PrivateKeyDer::from_pem_slice(key.as_bytes()).map_err(|_| Flaw::Unreadable(TLS_KEY))?;
        CertifiedKey::from_der(chain.clone(), private, &default_provider()).map_err(|error| {
            match error {
                Error::InconsistentKeys(_) => Flaw::Mismatch(TLS_KEY),
                error => Flaw::Rejected(TLS_KEY, error),
            }
        })?;
        Ok(Self {
            chain,
            certificate,
            key,
            validity,
        })
    }

    /// Whether the API server, if it trusts this authority, takes the certificate for `service` now.
    pub(super) fn accepted(
        &self,
        authority: &CaCertificate,
        service: &str,
        now: Timestamp,
    ) -> Result<(), Flaw> {
        // Go looks at the life of the root as well, rustls does not.
        authority.validity.check("the authority", now)?;
        if self.is(authority) {
            return self.fits(service, now);
        }
        let mut roots = RootCertStore::empty();
        roots.add(authority.der.clone()).map_err(rejected)?;
        let provider = Arc::new(default_provider());
        let verifier = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider)
            .build()
            .map_err(|error| rejected(Error::General(error.to_string())))?;
        let seconds = u64::try_from(now.as_second()).unwrap_or(0);
        let now = UnixTime::since_unix_epoch(Duration::from_secs(seconds));
        let (first, between) = self.chain.split_first().expect("a leaf has a certificate");
        verifier
            .verify_server_cert(first, between, &name(service)?, &[], now)
            .map(|_| ())
            .map_err(rejected)
    }

    /// Whether it is this very certificate.
    pub(super) fn is(&self, certificate: &CaCertificate) -> bool {
        self.chain.first() == Some(&certificate.der)
    }

    /// Whether it is for `service`, and now, whoever signed it. Of one that is trusted itself Go wants no more, whether or not
    /// it is that of an authority (`Verify` in `crypto/x509`); rustls takes none that is.
    pub(super) fn fits(&self, service: &str, now: Timestamp) -> Result<(), Flaw> {
        self.validity.check(TLS_CRT, now)?;
        let certificate = ParsedCertificate::try_from(&self.chain[0]).map_err(rejected)?;
        verify_server_name(&certificate, &name(service)?).map_err(rejected)?;
        let serves = parse_x509_certificate(&self.chain[0]).is_ok_and(|(_, certificate)| {
            let usage = certificate.extended_key_usage();
            usage.is_ok_and(|usage| {
                usage.is_none_or(|usage| usage.value.any || usage.value.server_auth)
            })
        });
        if serves {
            Ok(())
        } else {
            Err(rejected(CertificateError::InvalidPurpose.into()))
        }
    }
}

fn rejected(error: Error) -> Flaw {
    Flaw::Rejected(TLS_CRT, error)
}

fn name(service: &str) -> Result<ServerName<'static>, Flaw> {
    ServerName::try_from(service.to_owned())
        .map_err(|error| rejected(Error::General(error.to_string())))
}

fn text(name: &'static str, bytes: Option<&[u8]>) -> Result<String, Flaw> {
    let bytes = bytes.ok_or(Flaw::Missing(name))?;
    String::from_utf8(bytes.to_vec()).map_err(|_| Flaw::Unreadable(name))
}
