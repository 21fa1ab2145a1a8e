//! The operation of a request, read from its method, its query and the end of its path (contract 1.1).

use gatehouse_access_api::Operation;

use super::errors::ApiError;
use super::fields::parse_boolean;
use super::name_normalization;
use crate::cubbyhole_paths;
use crate::http::{Method, Request};
use crate::path::CanonicalPath;
use crate::query;

const PATCH_MEDIA_TYPE: &str = "application/merge-patch+json";

/// The operation that a request asks for.
///
/// # Errors
///
/// When the method, the query or the end of the path allows no operation.
pub(super) fn requested(request: &Request, path: &CanonicalPath) -> Result<Operation, ApiError> {
    match request.method {
        _ if asks_for_help(request) => Ok(Operation::Help),
        Method::Get => read(&request.query),
        Method::List => Ok(Operation::List),
        Method::Post | Method::Put if path.has_trailing_slash() => {
            Err(ApiError::plain(400, "cannot write to a path ending in '/'"))
        }
        Method::Post | Method::Put if has_existence_check(path) => Ok(Operation::CreateOrUpdate),
        Method::Post | Method::Put => Ok(Operation::Update),
        Method::Patch => patch(request.media_type().unwrap_or_default()),
        Method::Delete => Ok(Operation::Delete),
        Method::Head | Method::Options | Method::Other => Err(ApiError::silent(405)),
    }
}

/// True if a request asks for help, with any method that selects an operation. Nothing else is then done.
pub(super) fn asks_for_help(request: &Request) -> bool {
    let does_something = !matches!(
        request.method,
        Method::Head | Method::Options | Method::Other
    );
    does_something && query::first(&request.query, "help").is_some_and(|help| !help.is_empty())
}

fn read(query: &str) -> Result<Operation, ApiError> {
    if query.is_empty() {
        return Ok(Operation::Read);
    }
    match query::first(query, "list").as_deref() {
        None | Some("") => Ok(Operation::Read),
        Some(text) => match parse_boolean(text) {
            Some(true) => Ok(Operation::List),
            Some(false) => Ok(Operation::Read),
            None => Err(ApiError::silent(400)),
        },
    }
}

fn patch(media_type: &str) -> Result<Operation, ApiError> {
    if media_type.eq_ignore_ascii_case(PATCH_MEDIA_TYPE) {
        return Ok(Operation::Patch);
    }
    Err(ApiError::plain(
        415,
        format!("PATCH requires Content-Type of {PATCH_MEDIA_TYPE}, provided {media_type}"),
    ))
}

/// True if a write to the path needs `create` or `update`, depending on whether the object exists: for a secret in the cubbyhole, and for a possible
/// role. The mount's part of the path is known only after admission. So a mount whose own path ends in `role` counts as a role here, and the handler
/// that serves the request requires `update`.
fn has_existence_check(path: &CanonicalPath) -> bool {
    path.below("v1").is_some_and(|path| {
        name_normalization::role_name(path).is_some()
            || name_normalization::is_token_role(path)
            || cubbyhole_paths::is_secret(path)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn operation(method: Method, target: &str) -> Result<Operation, ApiError> {
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let mut request = Request::new(method, path);
        request.query = query.to_owned();
        requested(&request, &CanonicalPath::parse(path).unwrap())
    }

    #[test]
    fn a3_every_spelling_of_list_is_the_same_operation() {
        for (method, target) in [
            (Method::List, "/v1/auth/gcp/roles"),
            (Method::List, "/v1/auth/gcp/roles/"),
            (Method::Get, "/v1/auth/gcp/roles?list=true"),
            (Method::Get, "/v1/auth/gcp/roles/?list=1"),
            (Method::Get, "/v1/auth/gcp/roles?a=b&list=T"),
        ] {
            assert_eq!(operation(method, target), Ok(Operation::List), "{target}");
        }
        for target in [
            "/v1/x",
            "/v1/x?list=false",
            "/v1/x?list=",
            "/v1/x?lists=true",
        ] {
            assert_eq!(
                operation(Method::Get, target),
                Ok(Operation::Read),
                "{target}"
            );
        }
        assert_eq!(
            operation(Method::Get, "/v1/x?list=yes"),
            Err(ApiError::silent(400))
        );
    }

    #[test]
    fn a3_post_and_put_are_the_same_operation() {
        for method in [Method::Post, Method::Put] {
            assert_eq!(
                operation(method, "/v1/sys/policies/acl/x"),
                Ok(Operation::Update)
            );
            assert_eq!(
                operation(method, "/v1/auth/gcp/role/x"),
                Ok(Operation::CreateOrUpdate)
            );
            assert_eq!(
                operation(method, "/v1/auth/gcp/role"),
                Ok(Operation::Update)
            );
            assert_eq!(operation(method, "/v1/sys/role/x"), Ok(Operation::Update));
            assert!(operation(method, "/v1/auth/gcp/role/x/").is_err());
        }
    }

    #[test]
    fn patch_needs_its_media_type() {
        let refused = operation(Method::Patch, "/v1/x").unwrap_err();
        let expected = "PATCH requires Content-Type of application/merge-patch+json, provided ";
        assert_eq!(refused, ApiError::plain(415, expected));
    }
}
