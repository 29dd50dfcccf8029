//! TLS 1.3 and 1.2, HTTP/1.1 only, with the certificate at hand.

use std::sync::Arc;

use rustls::crypto::CryptoProvider;
use rustls::crypto::ring::default_provider;
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::danger::ClientCertVerifier;
use rustls::server::{NoServerSessionStorage, WebPkiClientVerifier};
use rustls::version::{TLS12, TLS13};
use rustls::{RootCertStore, ServerConfig};

/// Why a certificate cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// A file is no PEM, or has not what it should have.
    #[error("the {0} cannot be read")]
    Pem(&'static str, #[source] pem::Error),
    /// A file has no certificate in it.
    #[error("the {0} has no certificate in it")]
    Empty(&'static str),
    /// A certificate of the chain is not X.509.
    #[error("a certificate of the chain is malformed")]
    Malformed(#[source] x509_parser::error::X509Error),
    /// The key is not that of the first certificate, or of a kind that is not known.
    #[error("the certificate and its key cannot be used")]
    Unusable(#[source] rustls::Error),
    /// The authorities of callers cannot be used.
    #[error("the client CA cannot be used")]
    ClientCa(#[source] rustls::server::VerifierBuilderError),
}

/// What is shown to callers, and what they must show.
#[derive(Clone, Debug)]
pub struct Identity {
    pub(super) config: Arc<ServerConfig>,
    /// When the first certificate of the chain to expire does, in seconds of Unix time.
    pub(super) expires: i64,
}

/// Makes an identity from PEM: a chain of certificates, the key of the first of them, and the authorities of callers, where
/// those must show a certificate. Whether the certificate is valid now is for callers to say: their clock may be right.
///
/// # Errors
/// Says which of the files cannot be used, and why.
pub fn identity(chain: &[u8], key: &[u8], client_ca: Option<&[u8]>) -> Result<Identity, TlsError> {
    // Named here, because a process-wide default could be another one.
    let provider = Arc::new(default_provider());
    let chain = certificates("certificate", chain)?;
    let key = PrivateKeyDer::from_pem_slice(key).map_err(|error| TlsError::Pem("key", error))?;
    let expires = expiry(&chain)?;
    let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
        .with_protocol_versions(&[&TLS13, &TLS12])
        .map_err(TlsError::Unusable)?;
    let builder = match client_ca {
        Some(ca) => builder.with_client_cert_verifier(verifier(ca, provider)?),
        None => builder.with_no_client_auth(),
    };
    let mut config = builder
        .with_single_cert(chain, key)
        .map_err(TlsError::Unusable)?;
    // The API server never speaks HTTP/2 to a Service, and HTTP/2 is where the floods are.
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    // Its client keeps no sessions, so that tickets would be made for nobody.
    config.send_tls13_tickets = 0;
    config.session_storage = Arc::new(NoServerSessionStorage {});
    Ok(Identity {
        config: Arc::new(config),
        expires,
    })
}

fn certificates(what: &'static str, pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let certificates: Vec<_> = CertificateDer::pem_slice_iter(pem)
        .collect::<Result<_, _>>()
        .map_err(|error| TlsError::Pem(what, error))?;
    if certificates.is_empty() {
        return Err(TlsError::Empty(what));
    }
    Ok(certificates)
}

fn expiry(chain: &[CertificateDer<'_>]) -> Result<i64, TlsError> {
    let mut earliest = i64::MAX;
    for certificate in chain {
        let (_, certificate) = x509_parser::parse_x509_certificate(certificate)
            .map_err(|error| TlsError::Malformed(error.into()))?;
        earliest = earliest.min(certificate.validity().not_after.timestamp());
    }
    Ok(earliest)
}

fn verifier(
    ca: &[u8],
    provider: Arc<CryptoProvider>,
) -> Result<Arc<dyn ClientCertVerifier>, TlsError> {
    let mut roots = RootCertStore::empty();
    for certificate in certificates("client CA", ca)? {
        roots.add(certificate).map_err(TlsError::Unusable)?;
    }
    WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider)
        .build()
        .map_err(TlsError::ClientCa)
}
