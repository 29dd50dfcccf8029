//! Calls to the API server.

use std::future::Future;
use std::time::Duration;

use kube::core::Status;
use tokio::time::timeout;

/// The field manager of everything that the controller writes.
pub(super) const MANAGER: &str = "warmgate-controller";

/// The longest that one call may take. Every call is made again a few seconds later.
const LIMIT: Duration = Duration::from_secs(5);

/// The cause that the API server names where a namespace is being deleted (`NamespaceTerminatingCause` in its API).
const TERMINATING: &str = "NamespaceTerminating";

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

    /// Whether the namespace of the object is on its way out: nothing more is created in it.
    pub(super) fn is_terminating(&self) -> bool {
        let Self::Refused(status) = self else {
            return false;
        };
        let causes = status.details.iter().flat_map(|details| &details.causes);
        { causes }.any(|cause| cause.reason == TERMINATING)
    }

    /// Whether the call was heard and refused: asking again at once would not help.
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// As the API server refuses what is created in a namespace that is being deleted, and what it does not allow.
    #[test]
    fn a_namespace_on_its_way_out_is_no_lack_of_rights() {
        let refused = |details| {
            let status = json!({
                "metadata": {}, "status": "Failure", "code": 403, "reason": "Forbidden", "message": "", "details": details,
            });
            CallError::Refused(serde_json::from_value(status).unwrap())
        };
        let cause =
            json!({"reason": "NamespaceTerminating", "field": "metadata.namespace", "message": ""});
        assert!(refused(json!({"name": "x", "causes": [cause]})).is_terminating());
        for details in [json!({"name": "x"}), json!({"causes": [{"reason": "x"}]})] {
            assert!(!refused(details).is_terminating());
        }
        assert!(!CallError::Late.is_terminating());
    }
}
