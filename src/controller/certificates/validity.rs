//! The life of a certificate, in wall-clock time.

use std::time::Duration;

use k8s_openapi::jiff::{SignedDuration, Timestamp};
use rcgen::{CertificateParams, date_time_ymd};
use x509_parser::certificate::X509Certificate;

use super::flaw::Flaw;

/// How far back a life begins, for clocks that are behind ours.
const BACK: SignedDuration = SignedDuration::from_hours(1);

/// From when to when a certificate is valid, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::controller) struct Validity {
    pub(in crate::controller) not_before: Timestamp,
    pub(in crate::controller) not_after: Timestamp,
}

impl Validity {
    /// A life that lasts `length` from now on.
    pub(super) fn from_now(now: Timestamp, length: Duration) -> Self {
        Self {
            not_before: now.saturating_sub(BACK).unwrap_or(Timestamp::MIN),
            not_after: now.saturating_add(length).unwrap_or(Timestamp::MAX),
        }
    }

    pub(super) fn of(certificate: &X509Certificate<'_>) -> Option<Self> {
        let validity = certificate.validity();
        Some(Self {
            not_before: Timestamp::from_second(validity.not_before.timestamp()).ok()?,
            not_after: Timestamp::from_second(validity.not_after.timestamp()).ok()?,
        })
    }

    /// The same, over with `other` at the latest.
    pub(super) fn within(self, other: Self) -> Self {
        Self {
            not_after: self.not_after.min(other.not_after),
            ..self
        }
    }

    /// Whether two thirds are over: time for a new one, with a third left for repairs.
    pub(super) fn is_old(self, now: Timestamp) -> bool {
        let life = self.not_after.duration_since(self.not_before);
        now.duration_since(self.not_before) >= life / 3 * 2
    }

    /// Whether `what` is valid now.
    pub(super) fn check(self, what: &'static str, now: Timestamp) -> Result<(), Flaw> {
        if now < self.not_before {
            Err(Flaw::Early(what, self.not_before))
        } else if now > self.not_after {
            Err(Flaw::Expired(what, self.not_after))
        } else {
            Ok(())
        }
    }

    pub(super) fn write(self, params: &mut CertificateParams) {
        let date_time = |time: Timestamp| {
            let seconds = u64::try_from(time.as_second()).unwrap_or(0);
            date_time_ymd(1970, 1, 1) + Duration::from_secs(seconds)
        };
        params.not_before = date_time(self.not_before);
        params.not_after = date_time(self.not_after);
    }
}
