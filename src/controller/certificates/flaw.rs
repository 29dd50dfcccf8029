//! Why a certificate has to be replaced, or cannot be used.

use k8s_openapi::jiff::Timestamp;
use rustls::{CertificateError, Error};

/// Why a certificate has to be replaced, or cannot be used.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub(in crate::controller) enum Flaw {
    #[error("{0} may not sign for {1}")]
    Constrained(&'static str, String),
    #[error("{0} is not valid before {1}")]
    Early(&'static str, Timestamp),
    #[error("{0} expired at {1}")]
    Expired(&'static str, Timestamp),
    #[error("{0} is not the key of its certificate")]
    Mismatch(&'static str),
    #[error("{0} is missing")]
    Missing(&'static str),
    #[error("{0} is not that of an authority")]
    NoAuthority(&'static str),
    #[error("{0} is of another authority")]
    OtherAuthority(&'static str),
    #[error("{0} is not accepted: {1}")]
    Rejected(&'static str, Error),
    #[error("{0} has lived for two thirds of its life")]
    Old(&'static str),
    #[error("{0} cannot be read")]
    Unreadable(&'static str),
}

impl Flaw {
    /// Whether it says no more than that signatures of this kind are not verified here.
    pub(super) fn is_of_an_unknown_algorithm(&self) -> bool {
        matches!(
            self,
            Self::Rejected(
                _,
                Error::InvalidCertificate(
                    CertificateError::UnsupportedSignatureAlgorithmContext { .. }
                )
            )
        )
    }
}
