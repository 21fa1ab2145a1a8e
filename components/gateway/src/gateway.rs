//! The dispatch of a request to its protocol.

use gatehouse_access_api::Access;
use gatehouse_auth_method_api::AuthMethod;
use gatehouse_orgs_api::Capability;

use crate::continuation::Continuation;
use crate::http::{Request, Response};
use crate::organizations::ApiError;
use crate::parts::{Part, ResumeError};
use crate::path::{self, CanonicalPath, PathError};
use crate::request_body::MAXIMUM_BODY_BYTES;
use crate::state::Gateway;
use crate::{organizations, vault};

impl<A: AuthMethod, C: Access + 'static, O: Capability + 'static> Gateway<A, C, O> {
    /// Answers one request. Every request gets an answer; a failure of the server is a 5xx, never a panic.
    #[must_use]
    pub fn handle(&self, request: &Request) -> Response {
        let is_json_api = organizations::concerns(&request.path);
        if request.body.len() > MAXIMUM_BODY_BYTES {
            return if is_json_api {
                organizations::refuse(self, request, &ApiError::TooLarge)
            } else {
                let response = vault::error_response(413, "request body too large");
                vault::end(self, request, response)
            };
        }
        // The path is decoded once, here, so that routing and policies see the same bytes (SEC-A2).
        let path = match CanonicalPath::parse(&request.path) {
            Ok(path) => path,
            // A malformed path does not exist in that protocol.
            Err(_) if is_json_api => {
                return organizations::refuse(self, request, &ApiError::NotFound);
            }
            Err(PathError::EmptySegment | PathError::DotSegment) => {
                let response = match path::plain_spelling(&request.path) {
                    Ok(plain) => redirected(plain, &request.query),
                    Err(error) => vault::error_response(400, &error.to_string()),
                };
                return vault::end(self, request, response);
            }
            Err(error) => {
                let response = vault::error_response(400, &error.to_string());
                return vault::end(self, request, response);
            }
        };
        match path.as_str().split_once('/') {
            Some(("v1", _)) => vault::handle(self, request, &path),
            // The resource at `v1/` has an empty name.
            None if path.as_str() == "v1" && path.has_trailing_slash() => {
                vault::handle(self, request, &path)
            }
            Some(("api", _)) => organizations::handle(self, request, &path),
            _ if is_json_api || path.as_str() == ".well-known/terraform.json" => {
                organizations::handle(self, request, &path)
            }
            _ => vault::not_found(),
        }
    }
}

impl<A: AuthMethod, C: Access + 'static, O: Capability + 'static> Gateway<A, C, O> {
    /// Continues the body of the answer to `request`. `continuation` is from the [`crate::Rest`] of the previous part.
    ///
    /// The caller's rights are checked again. A continuation takes no use of a token with limited uses, counts against no rate limit, and is not
    /// recorded: the records of request and answer stand for all parts.
    ///
    /// # Errors
    ///
    /// When the body cannot be continued. The part that has been sent must then not look complete.
    pub fn resume(&self, request: &Request, continuation: &[u8]) -> Result<Part, ResumeError> {
        match Continuation::read(continuation)? {
            Continuation::Organizations(place) => organizations::resume_list(self, request, place),
            Continuation::Log(place) => vault::resume_log(&self.into(), request, place),
            Continuation::Backup(place) => vault::resume_backup(&self.into(), request, place),
        }
    }
}

/// Redirects the client to another path, with the same method, query and body.
fn redirected(path: String, query: &str) -> Response {
    let mut target = path;
    if !query.is_empty() {
        target.push('?');
        target.push_str(query);
    }
    vault::without_content(307).with_header("location", target)
}
