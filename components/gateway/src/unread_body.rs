//! Answers to requests whose body could not be read, in the form of the protocol, or of the console, for which the request was meant.

use gatehouse_ports::console_paths;

use crate::http::Response;
use crate::organizations::{self, ApiError};
use crate::request_body::BodyError;
use crate::vault::error_response;

impl BodyError {
    /// The answer to the request for `target`, in the form of errors of its protocol.
    #[must_use]
    pub fn response(self, target: &str) -> Response {
        let why = self.to_string();
        if console_paths::is_for_console(target, []) {
            refusal_page(self.status(), &why)
        } else if organizations::concerns(target) {
            ApiError::Unread(self).response()
        } else {
            error_response(self.status(), &why)
        }
    }
}

/// An error page in place of a page of the console. `why` is a text of the server itself.
#[must_use]
pub fn refusal_page(status: u16, why: &str) -> Response {
    let page = console_paths::refusal_page(why).into_bytes();
    Response::new(status, "text/html; charset=utf-8", page)
        .with_header("content-security-policy", console_paths::PAGE_POLICY)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn a_body_that_could_not_be_read_is_told_in_the_form_of_what_was_asked() {
        let vault = BodyError::Late.response("/v1/auth/gcp/login");
        assert_eq!(vault.status, 408);
        assert_eq!(vault.header("content-type"), Some("application/json"));
        assert_eq!(
            vault.body,
            br#"{"errors":["the request body took too long"]}"#
        );

        let organizations = BodyError::Broken.response("/api/v2/organizations?x");
        assert_eq!(organizations.status, 400);
        assert_eq!(
            organizations.header("content-type"),
            Some("application/vnd.api+json")
        );
        let body: Value = serde_json::from_slice(&organizations.body).unwrap();
        let error = json!({
            "status": "400",
            "title": "bad request",
            "detail": "the request body could not be read",
        });
        assert_eq!(body, json!({ "errors": [error] }));
    }

    #[test]
    fn h15_a_browser_gets_a_page_that_says_what_happened_and_runs_nothing() {
        for (error, status) in [(BodyError::Broken, 400), (BodyError::Late, 408)] {
            let page = error.response("/ui/explain?mount=gcp");
            assert_eq!(page.status, status);
            assert_eq!(
                page.header("content-type"),
                Some("text/html; charset=utf-8")
            );
            let policy = page.header("content-security-policy").unwrap();
            assert!(policy.starts_with("default-src 'none'"), "{policy}");
            let text = str::from_utf8(&page.body).unwrap();
            assert!(text.contains(&error.to_string()), "{text}");
        }
    }
}
