//! Answers in Google's shapes.

use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderValue};
use http::{Response, StatusCode};
use serde_json::{Value, json};

/// An HTTP answer whose body is known in full.
pub(crate) type Answer = Response<Bytes>;

/// The outcome of a call to an API: the JSON of its answer, or a refusal that is an answer already.
pub(crate) type Outcome = Result<Value, Box<Answer>>;

/// The answer that an outcome becomes.
pub(crate) fn from_outcome(outcome: Outcome) -> Answer {
    match outcome {
        Ok(body) => json(StatusCode::OK, &body),
        Err(refusal) => *refusal,
    }
}

/// An answer with a JSON body.
pub(crate) fn json(status: StatusCode, body: &Value) -> Answer {
    bytes(
        status,
        "application/json; charset=UTF-8",
        Bytes::from(body.to_string()),
    )
}

/// An answer with this body as it is.
pub(crate) fn bytes(status: StatusCode, content_type: &'static str, body: Bytes) -> Answer {
    let mut answer = Response::new(body);
    *answer.status_mut() = status;
    answer
        .headers_mut()
        .insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    answer
}

/// The error body of Google's APIs (contract 8.1).
pub(crate) fn api_error(status: StatusCode, message: &str) -> Answer {
    let (canonical, reason) = names_of(status);
    error_body(status, canonical, reason, message)
}

/// [`api_error`] as the refusing half of an [`Outcome`].
pub(crate) fn refusal(status: StatusCode, message: &str) -> Box<Answer> {
    Box::new(api_error(status, message))
}

/// The refusal of a request that is right but does not fit what there is now.
pub(crate) fn failed_precondition(message: &str) -> Box<Answer> {
    Box::new(error_body(
        StatusCode::BAD_REQUEST,
        "FAILED_PRECONDITION",
        "failedPrecondition",
        message,
    ))
}

fn error_body(status: StatusCode, canonical: &str, reason: &str, message: &str) -> Answer {
    let error = json!({
        "code": status.as_u16(),
        "message": message,
        "status": canonical,
        "errors": [{ "message": message, "domain": "global", "reason": reason }],
    });
    json(status, &json!({ "error": error }))
}

/// The error body of OAuth 2.0 token endpoints (RFC 6749, 5.2).
pub(crate) fn oauth_error(status: StatusCode, error: &str, description: &str) -> Answer {
    json(
        status,
        &json!({ "error": error, "error_description": description }),
    )
}

/// Google's canonical code and the older reason for a status.
fn names_of(status: StatusCode) -> (&'static str, &'static str) {
    match status {
        StatusCode::BAD_REQUEST => ("INVALID_ARGUMENT", "badRequest"),
        StatusCode::UNAUTHORIZED => ("UNAUTHENTICATED", "authError"),
        StatusCode::FORBIDDEN => ("PERMISSION_DENIED", "forbidden"),
        StatusCode::NOT_FOUND => ("NOT_FOUND", "notFound"),
        StatusCode::TOO_MANY_REQUESTS => ("RESOURCE_EXHAUSTED", "rateLimitExceeded"),
        StatusCode::SERVICE_UNAVAILABLE => ("UNAVAILABLE", "backendError"),
        StatusCode::GATEWAY_TIMEOUT => ("DEADLINE_EXCEEDED", "backendError"),
        _ => ("INTERNAL", "backendError"),
    }
}
