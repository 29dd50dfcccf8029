//! Calls to the API server.

use std::future::Future;
use std::time::Duration;

use kube::core::Status;
use tokio::time::timeout;

/// The field manager of everything that the controller writes.
pub(super) const MANAGER: &str = "warmgate-controller";

/// The longest that one call may take. Every call is made again a few seconds later.
const LIMIT: Duration = Duration::from_secs(5);

/// Why a call did not do what it should.
#[derive(Debug, thiserror::Error)]
pub(super) enum CallError {
    #[error("the API server cannot be asked")]
    Failed(#[source] kube::Error),
    #[error("the API server did not answer within {} s", LIMIT.as_secs())]
    Late,
    #[error("the API server refuses: {}", .0.message)]
    Refused(Box<Status>),
}

impl CallError {
    /// Whether the object is not as it was read, or is there already.
    pub(super) fn is_conflict(&self) -> bool {
        matches!(self, Self::Refused(status) if status.code == 409)
    }

    /// Whether the object, or the namespace it should be in, is not there.
    pub(super) fn is_not_found(&self) -> bool {
        matches!(self, Self::Refused(status) if status.code == 404)
    }

    /// Whether the call was heard and refused: asking again would not help.
    pub(super) fn is_refused(&self) -> bool {
        matches!(self, Self::Refused(status) if (400..500).contains(&status.code) && status.code != 429)
    }
}

/// Makes a call, and waits for it no longer than a call may take.
pub(super) async fn call<T>(future: impl Future<Output = kube::Result<T>>) -> Result<T, CallError> {
    match timeout(LIMIT, future).await {
        Err(_) => Err(CallError::Late),
        Ok(Ok(answer)) => Ok(answer),
        Ok(Err(kube::Error::Api(status))) => Err(CallError::Refused(status)),
        Ok(Err(error)) => Err(CallError::Failed(error)),
    }
}
