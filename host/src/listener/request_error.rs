//! The answers that the listener gives by itself, before any component sees the request.

use bytes::Bytes;
use gatehouse_ports::console_paths::{PAGE_POLICY, is_for_console, refusal_page};
use gatehouse_ports::organizations_api::MEDIA_TYPE;
use http::header::{CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderValue, RETRY_AFTER};
use http::{Response, StatusCode};

/// Seconds after which a client may try again when the server was too slow.
const RETRY_AFTER_SECONDS: &str = "1";

/// Why a request is not passed on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RequestError {
    /// The request's framing or header block is ambiguous or malformed (SEC-H5); holds what was found.
    #[error("malformed request: {0}")]
    Malformed(&'static str),
    /// A header value is not UTF-8 (SEC-H2).
    #[error("a header value is not valid UTF-8")]
    HeaderNotText,
    /// A trusted proxy sent no `X-Forwarded-For`, or one without an address where one must be (SEC-H9).
    #[error("a trusted proxy must send X-Forwarded-For with the address of its client")]
    ForwardedFor,
    /// Too many header fields, or too many bytes of them.
    #[error("the header block is too large")]
    HeadersTooLarge,
    /// The target is too long.
    #[error("the request target is too long")]
    TargetTooLong,
    /// The body is larger than allowed.
    #[error("the request body is too large")]
    BodyTooLarge,
    /// The header block did not arrive in time.
    #[error("the header block took too long to arrive")]
    HeaderTimeout,
    /// The body did not arrive in time.
    #[error("the request body took too long to arrive")]
    BodyTimeout,
    /// There was no answer in time.
    #[error("the request took too long")]
    RequestTimeout,
    /// More requests are in progress than the server can take.
    #[error("the server is busy; try again")]
    Overloaded,
    /// The server failed; what happened is in its log.
    #[error("internal error")]
    Internal,
    /// A method that would turn the connection into something else.
    #[error("the method is not supported")]
    Method,
}

impl RequestError {
    /// The status of the answer.
    #[must_use]
    pub fn status(self) -> StatusCode {
        match self {
            Self::Malformed(_) | Self::HeaderNotText | Self::ForwardedFor => {
                StatusCode::BAD_REQUEST
            }
            Self::HeadersTooLarge => StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE,
            Self::TargetTooLong => StatusCode::URI_TOO_LONG,
            Self::BodyTooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            Self::HeaderTimeout | Self::BodyTimeout => StatusCode::REQUEST_TIMEOUT,
            Self::RequestTimeout | Self::Overloaded => StatusCode::SERVICE_UNAVAILABLE,
            Self::Internal => StatusCode::INTERNAL_SERVER_ERROR,
            Self::Method => StatusCode::METHOD_NOT_ALLOWED,
        }
    }

    /// True if it leaves doubt about what comes next on an HTTP/1 connection.
    pub(super) fn ends_connection(self) -> bool {
        !matches!(self, Self::Overloaded | Self::Internal)
    }

    /// The answer, in the form of the API that was asked.
    pub(super) fn answer(self, dialect: Dialect) -> Response<Bytes> {
        let status = self.status();
        let (media_type, body) = match dialect {
            Dialect::Vault => ("application/json", format!(r#"{{"errors":["{self}"]}}"#)),
            Dialect::Organizations => {
                let title = status
                    .canonical_reason()
                    .unwrap_or("error")
                    .to_ascii_lowercase();
                (
                    MEDIA_TYPE,
                    format!(
                        r#"{{"errors":[{{"status":"{}","title":"{title}","detail":"{self}"}}]}}"#,
                        status.as_u16()
                    ),
                )
            }
            Dialect::Pages => ("text/html; charset=utf-8", refusal_page(&self.to_string())),
        };
        let mut answer = Response::new(Bytes::from(body));
        *answer.status_mut() = status;
        let headers = answer.headers_mut();
        if dialect == Dialect::Pages {
            headers.insert(
                CONTENT_SECURITY_POLICY,
                HeaderValue::from_static(PAGE_POLICY),
            );
        }
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(media_type));
        if status == StatusCode::SERVICE_UNAVAILABLE {
            headers.insert(RETRY_AFTER, HeaderValue::from_static(RETRY_AFTER_SECONDS));
        }
        answer
    }
}

/// How an API, or the console, writes its errors (contract 1.7; organizations contract 1.8).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dialect {
    /// A list of texts.
    Vault,
    /// A list of JSON:API error objects.
    Organizations,
    /// A page for a person.
    Pages,
}

impl Dialect {
    /// The dialect of that to which `path` belongs.
    pub(super) fn serving(path: &str) -> Self {
        if path.starts_with("/api/v2/") {
            Self::Organizations
        } else if is_for_console(path, []) {
            Self::Pages
        } else {
            Self::Vault
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_api_gets_its_own_form_of_error() {
        let vault = RequestError::BodyTooLarge.answer(Dialect::serving("/v1/auth/gcp/login"));
        assert_eq!(vault.status(), 413);
        assert_eq!(vault.headers()[CONTENT_TYPE], "application/json");
        assert_eq!(
            vault.body().as_ref(),
            br#"{"errors":["the request body is too large"]}"#
        );

        let organizations =
            RequestError::BodyTooLarge.answer(Dialect::serving("/api/v2/organizations"));
        assert_eq!(
            organizations.headers()[CONTENT_TYPE],
            "application/vnd.api+json"
        );
        let body: serde_json::Value = serde_json::from_slice(organizations.body()).unwrap();
        assert_eq!(body["errors"][0]["status"], "413");
        assert_eq!(body["errors"][0]["title"], "payload too large");
    }

    #[test]
    fn a_browser_gets_a_page_that_says_what_happened_and_runs_nothing() {
        let page = RequestError::BodyTooLarge.answer(Dialect::serving("/ui/explain"));
        assert_eq!(page.status(), 413);
        assert_eq!(page.headers()[CONTENT_TYPE], "text/html; charset=utf-8");
        let policy = page.headers()[CONTENT_SECURITY_POLICY].to_str().unwrap();
        assert!(policy.starts_with("default-src 'none'"), "{policy}");
        let text = str::from_utf8(page.body()).unwrap();
        for said in [
            "the request body is too large",
            "href=\"/ui/\"",
            "lang=\"en\"",
        ] {
            assert!(text.contains(said), "{said}: {text}");
        }
        for path in ["/uix", "/", "/v1/ui/"] {
            assert_eq!(Dialect::serving(path), Dialect::Vault, "{path}");
        }
    }
}
