//! Refusals, and their three renderings, which clients match on (contract 1.7).

use gatehouse_access_api::{AdmissionError, ServiceError};
use gatehouse_auth_method_api::StorageError;
use gatehouse_ports::RandomError;
use serde::Serialize;

use super::fields::{ContentError, ConversionError};
use super::text;
use crate::host::AuditError;
use crate::http::Response;
use gatehouse_json::JsonError;

/// The media type of every answer with a body, in exactly this spelling: clients compare it as a whole.
pub(crate) const MEDIA_TYPE: &str = "application/json";

/// The reason why a request is not served, with the content of its answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ApiError {
    status: u16,
    rendering: Rendering,
    text: String,
    /// The text for the operator; not part of the answer.
    pub(crate) detail: Option<String>,
    /// The seconds after which a retry is worthwhile.
    retry_after: Option<u32>,
    /// True if the store failed.
    is_of_store: bool,
}

/// The rendering of the text of an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rendering {
    /// No text: `[]`.
    Empty,
    /// The text as it is: `["text"]`.
    Plain,
    /// `["1 error occurred:\n\t* text\n\n"]`; on paths that need no token, the text as it is.
    Listed,
}

/// The kind of caller, with a token or without, which determines the rendering of listed errors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Audience {
    /// A caller with a token.
    Authenticated,
    /// A caller of a login path, or of another path that needs no token.
    Login,
}

impl ApiError {
    fn new(status: u16, rendering: Rendering, text: impl Into<String>) -> Self {
        Self {
            status,
            rendering,
            text: text.into(),
            detail: None,
            retry_after: None,
            is_of_store: false,
        }
    }

    /// A refusal with a plain text.
    pub(crate) fn plain(status: u16, text: impl Into<String>) -> Self {
        Self::new(status, Rendering::Plain, text)
    }

    /// A refusal with a text in the listed rendering.
    pub(crate) fn listed(status: u16, text: impl Into<String>) -> Self {
        Self::new(status, Rendering::Listed, text)
    }

    /// A refusal without a text.
    pub(crate) fn silent(status: u16) -> Self {
        Self::new(status, Rendering::Empty, "")
    }

    /// The object does not exist, or a list has no keys.
    pub(crate) fn absent() -> Self {
        Self::silent(404)
    }

    /// The path does not exist within its mount.
    pub(crate) fn unsupported_path() -> Self {
        Self::listed(404, "unsupported path")
    }

    /// The path exists, but not with this operation.
    pub(crate) fn unsupported_operation() -> Self {
        Self::listed(405, "unsupported operation")
    }

    /// No mount exists there. It is for callers who may know that.
    pub(crate) fn no_handler(path: &str) -> Self {
        Self::plain(
            404,
            format!(
                "no handler for route {}. route entry not found.",
                text::quoted(path)
            ),
        )
    }

    /// A client sends too many requests; a retry is worthwhile after `seconds` (contract 1.6).
    pub(crate) fn too_many_requests(seconds: u32) -> Self {
        let mut error = Self::plain(429, "rate limit quota exceeded");
        error.retry_after = Some(seconds);
        error
    }

    /// A policy or an address rule forbids it. The text never mentions the token, since daemons would log in again (contract 1.7).
    pub(crate) fn denied() -> Self {
        Self::listed(403, "permission denied")
    }

    /// The path does not have these fields, which are sorted (contract 2.2).
    pub(crate) fn unknown_fields(names: &[String]) -> Self {
        Self::listed(422, format!("unknown fields: {}", text::quoted_list(names)))
    }

    /// The server failed; `detail` is for the operator.
    pub(crate) fn internal(detail: impl Into<String>) -> Self {
        Self::listed(500, "internal error").with_detail(detail)
    }

    /// The store failed; `detail` is for the operator.
    pub(crate) fn of_store(detail: impl Into<String>) -> Self {
        let mut error = Self::internal(detail);
        error.is_of_store = true;
        error
    }

    /// The same, as 503 if the store failed because it cannot be reached. Of all failures, only this one makes a retry worthwhile (contract 1.6,
    /// SEC-S8).
    pub(crate) fn while_away(self, is_away: impl FnOnce() -> bool) -> Self {
        if !self.is_of_store || !is_away() {
            return self;
        }
        Self {
            status: 503,
            text: "the store cannot be reached, try again".to_owned(),
            retry_after: Some(1),
            ..self
        }
    }

    /// Adds a text for the operator.
    pub(crate) fn with_detail(mut self, detail: impl Into<String>) -> Self {
        self.detail = Some(detail.into());
        self
    }

    /// The same with other words before the text, also for the operator.
    pub(crate) fn after(mut self, words: &str) -> Self {
        self.text.insert_str(0, words);
        if let Some(detail) = &mut self.detail {
            detail.insert_str(0, words);
        }
        self
    }

    /// The same with the subject added for the operator, if there is a text for the operator.
    pub(crate) fn concerning(mut self, subject: &str) -> Self {
        if let Some(detail) = &mut self.detail {
            detail.insert_str(0, ": ");
            detail.insert_str(0, subject);
        }
        self
    }

    /// True if the caller caused it, and not a failure.
    pub(crate) const fn is_refusal(&self) -> bool {
        self.status == 400
    }

    /// The text, without the rendering.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// The answer.
    pub(crate) fn response(&self, audience: Audience) -> Response {
        let mut response = match (self.rendering, audience) {
            (Rendering::Empty, _) => rendered(self.status, &[]),
            (Rendering::Listed, Audience::Authenticated) => {
                let text = format!("1 error occurred:\n\t* {}\n\n", self.text);
                rendered(self.status, &[&text])
            }
            _ => rendered(self.status, &[&self.text]),
        };
        if let Some(seconds) = self.retry_after {
            response = response.with_header("retry-after", seconds.to_string());
        }
        response
    }
}

impl From<ServiceError> for ApiError {
    fn from(failure: ServiceError) -> Self {
        match failure {
            ServiceError::NotInitialized => Self::plain(503, "Vault is not initialized"),
            ServiceError::Sealed => Self::plain(503, "Vault is sealed"),
            ServiceError::Contended => Self::listed(503, "too many writers at once, try again"),
            ServiceError::Unavailable(_) => Self::of_store(failure.to_string()),
            failure => Self::internal(failure.to_string()),
        }
    }
}

impl From<StorageError> for ApiError {
    fn from(error: StorageError) -> Self {
        match error {
            StorageError::Sealed => ServiceError::Sealed.into(),
            StorageError::Contended(_) => ServiceError::Contended.into(),
            StorageError::Unavailable(_) => Self::of_store(error.to_string()),
            error => Self::internal(error.to_string()),
        }
    }
}

impl From<AuditError> for ApiError {
    fn from(failure: AuditError) -> Self {
        Self::internal(failure.to_string())
    }
}

impl From<RandomError> for ApiError {
    fn from(error: RandomError) -> Self {
        Self::internal(error.to_string())
    }
}

impl From<ConversionError> for ApiError {
    fn from(error: ConversionError) -> Self {
        Self::plain(400, error.to_string())
    }
}

impl From<ContentError> for ApiError {
    fn from(error: ContentError) -> Self {
        match error {
            ContentError::Json(JsonError::Malformed | JsonError::NotAnObject) => {
                Self::plain(400, "error parsing JSON")
            }
            ContentError::Json(JsonError::DuplicateMember) => Self::plain(400, "duplicate key"),
            ContentError::Json(error) => Self::plain(400, format!("error parsing JSON: {error}")),
            error => Self::plain(415, error.to_string()),
        }
    }
}

/// The answer to a request that was not admitted (contract 1.6, 1.7).
pub(crate) fn refusal(refusal: AdmissionError, path: &str) -> ApiError {
    match refusal {
        AdmissionError::NoToken => ApiError::plain(403, "permission denied"),
        AdmissionError::InvalidToken => ApiError::plain(
            403,
            "2 errors occurred:\n\t* permission denied\n\t* invalid token\n\n",
        ),
        AdmissionError::Denied
        | AdmissionError::ParametersNeeded
        | AdmissionError::AddressDenied
        | AdmissionError::EntityUnusable => ApiError::denied(),
        AdmissionError::NoMount => ApiError::no_handler(path),
        // The root has no mount.
        AdmissionError::MalformedPath if path.is_empty() => ApiError::no_handler(path),
        AdmissionError::MalformedPath => ApiError::plain(400, "malformed path"),
        AdmissionError::Failure(failure) => failure.into(),
    }
}

#[derive(Serialize)]
struct Errors<'a> {
    errors: &'a [&'a str],
}

/// `{"errors":["message"]}`.
pub fn error_response(status: u16, message: &str) -> Response {
    rendered(status, &[message])
}

/// `{"errors":[]}` with status 404.
pub(crate) fn not_found() -> Response {
    rendered(404, &[])
}

/// A status with an empty body.
pub(crate) fn without_content(status: u16) -> Response {
    Response::new(status, MEDIA_TYPE, Vec::new())
}

fn rendered(status: u16, errors: &[&str]) -> Response {
    // Strings always serialize.
    let body = serde_json::to_vec(&Errors { errors }).unwrap_or_default();
    Response::new(status, MEDIA_TYPE, body)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::SealError;

    fn body(error: &ApiError, audience: Audience) -> String {
        String::from_utf8(error.response(audience).body).unwrap()
    }

    #[test]
    fn a_coded_error_is_listed_for_callers_and_plain_on_login() {
        let error = ApiError::unsupported_operation();
        assert_eq!(
            body(&error, Audience::Authenticated),
            r#"{"errors":["1 error occurred:\n\t* unsupported operation\n\n"]}"#
        );
        assert_eq!(
            body(&error, Audience::Login),
            r#"{"errors":["unsupported operation"]}"#
        );
    }

    #[test]
    fn the_three_kinds_of_permission_denied_differ() {
        let rendered = |refused| body(&refusal(refused, "x"), Audience::Authenticated);
        assert_eq!(
            rendered(AdmissionError::NoToken),
            r#"{"errors":["permission denied"]}"#
        );
        assert_eq!(
            rendered(AdmissionError::InvalidToken),
            r#"{"errors":["2 errors occurred:\n\t* permission denied\n\t* invalid token\n\n"]}"#
        );
        assert_eq!(
            rendered(AdmissionError::Denied),
            r#"{"errors":["1 error occurred:\n\t* permission denied\n\n"]}"#
        );
    }

    #[test]
    fn details_of_a_failed_store_stay_with_the_operator() {
        let error = ApiError::from(ServiceError::Unavailable(
            "disk /dev/sda1 is full".to_owned(),
        ));
        assert!(!body(&error, Audience::Authenticated).contains("sda1"));
        assert!(error.detail.unwrap().contains("sda1"));
    }

    #[test]
    fn s8_only_what_a_store_failed_to_do_that_is_away_is_worth_trying_again() {
        let status = |error: ApiError, is_away: bool| {
            let response = error
                .while_away(|| is_away)
                .response(Audience::Authenticated);
            let retry = response.header("retry-after").map(str::to_owned);
            (response.status, retry)
        };
        let again = Some("1".to_owned());
        let failed = || ServiceError::Unavailable("it is silent".to_owned());
        assert_eq!(status(failed().into(), true), (503, again.clone()));
        assert_eq!(status(failed().into(), false), (500, None));
        let storage = StorageError::Unavailable(String::new());
        assert_eq!(status(storage.into(), true), (503, again.clone()));
        let seal = SealError::Unavailable(String::new());
        assert_eq!(status(seal.into(), true), (503, again));
        let damaged = ServiceError::Damaged("record".to_owned());
        assert_eq!(status(damaged.into(), true), (500, None));
        assert_eq!(status(ApiError::absent(), true), (404, None));
        let told = ApiError::from(failed()).while_away(|| true);
        assert!(told.detail.is_some_and(|detail| detail.contains("silent")));
    }

    #[test]
    fn what_a_parser_refuses_is_not_repeated() {
        let error = ApiError::from(ContentError::Json(JsonError::Malformed));
        assert_eq!(
            body(&error, Audience::Login),
            r#"{"errors":["error parsing JSON"]}"#
        );
    }
}
