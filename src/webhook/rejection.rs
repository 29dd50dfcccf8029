//! Requests that are answered without a judgement.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};

use crate::review::ReviewError;

/// Why a request is not judged.
#[derive(Debug, thiserror::Error)]
pub(super) enum Rejection {
    #[error("the content type is not application/json in UTF-8")]
    ContentType,
    #[error("a content encoding is not supported")]
    ContentEncoding,
    #[error("the body is longer than {0} bytes")]
    TooLarge(usize),
    #[error("the body did not arrive in time")]
    Late,
    #[error("the body broke off")]
    Broken,
    /// The API server tries again after a 503 that says when, and after no other failure.
    #[error("too much is under way, try again")]
    Busy,
    #[error("{0}")]
    Unreadable(#[from] ReviewError),
    /// Reading the review panicked.
    #[error("the review could not be read by a fault of warmgate")]
    Failed,
}

impl Rejection {
    fn status(&self) -> StatusCode {
        match self {
            Self::ContentType | Self::ContentEncoding => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Self::TooLarge(_) => StatusCode::PAYLOAD_TOO_LARGE,
            Self::Late => StatusCode::REQUEST_TIMEOUT,
            Self::Broken | Self::Unreadable(_) => StatusCode::BAD_REQUEST,
            Self::Busy => StatusCode::SERVICE_UNAVAILABLE,
            Self::Failed => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }

    /// The label of the metric.
    pub(super) fn reason(&self) -> &'static str {
        match self {
            Self::Broken => "broken-body",
            Self::Busy => "busy",
            Self::ContentEncoding => "content-encoding",
            Self::ContentType => "content-type",
            Self::Failed => "panic",
            Self::Late => "late-body",
            Self::TooLarge(_) => "too-large",
            Self::Unreadable(_) => "unreadable",
        }
    }
}

impl IntoResponse for Rejection {
    fn into_response(self) -> Response {
        let mut response = (self.status(), format!("{self}\n")).into_response();
        if let Self::Busy = self {
            let headers = response.headers_mut();
            headers.insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
        }
        response
    }
}
