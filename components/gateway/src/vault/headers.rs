//! The meaning of request headers (contract 1.2).

use gatehouse_access_api::duration;

use super::errors::ApiError;
use crate::http::Request;

/// The client's token. Its own header takes precedence over `Authorization`.
pub(crate) fn token(request: &Request) -> Option<&str> {
    let own = request.headers.get("x-vault-token").map(str::trim);
    own.filter(|token| !token.is_empty())
        .or_else(|| request.bearer_token())
}

/// Refuses all namespaces except the root, so that a client that names another one does not believe that it writes there.
///
/// # Errors
///
/// 404, as for a namespace that does not exist.
pub(super) fn check_namespace(request: &Request) -> Result<(), ApiError> {
    let namespace = request.headers.get("x-vault-namespace").unwrap_or_default();
    match namespace.trim().trim_matches('/') {
        "" | "root" => Ok(()),
        _ => Err(ApiError::plain(404, "namespace not found")),
    }
}

const NEGATIVE_WRAP_TTL: &str = "requested wrap ttl cannot be negative";

/// The lifetime of the wrapping token for the answer, in seconds; `None` for an answer in clear. `X-Vault-Wrap-Format` is ignored, since there is
/// only the plain kind of token.
///
/// # Errors
///
/// 400 for an invalid duration, including one of less than a second: if it counted as none, the secret would go in clear to an intermediary that
/// should only carry the wrapping token.
pub(super) fn wrap_ttl(request: &Request) -> Result<Option<u64>, ApiError> {
    let Some(value) = request.headers.get("x-vault-wrap-ttl") else {
        return Ok(None);
    };
    let value = value.trim();
    let refused = |reason: &str| {
        let text = format!("error parsing X-Vault-Wrap-TTL header: {reason}");
        Err(ApiError::plain(400, text))
    };
    match duration::parse(value).map(u64::try_from) {
        Ok(Ok(0)) if value.starts_with('-') && has_nonzero_digit(value) => {
            refused(NEGATIVE_WRAP_TTL)
        }
        Ok(Ok(0)) if has_nonzero_digit(value) => {
            refused("requested wrap ttl is less than a second")
        }
        Ok(Ok(0)) => Ok(None),
        Ok(Ok(seconds)) => Ok(Some(seconds)),
        Ok(Err(_)) => refused(NEGATIVE_WRAP_TTL),
        Err(error) => refused(&error.to_string()),
    }
}

fn has_nonzero_digit(value: &str) -> bool {
    value.bytes().any(|byte| matches!(byte, b'1'..=b'9'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::Method;

    fn with(name: &str, value: &str) -> Request {
        let mut request = Request::new(Method::Get, "/v1/x");
        request.headers.push(name, value);
        request
    }

    #[test]
    fn the_own_header_wins_over_authorization() {
        let mut request = with("X-Vault-Token", "own");
        request.headers.push("Authorization", "Bearer other");
        assert_eq!(token(&request), Some("own"));
        assert_eq!(token(&with("authorization", "bearer other")), Some("other"));
        let mut request = with("X-Vault-Token", "");
        request.headers.push("Authorization", "Bearer other");
        assert_eq!(token(&request), Some("other"));
    }

    #[test]
    fn only_the_root_namespace_exists() {
        for root in ["", "/", "root", "root/", " "] {
            assert!(
                check_namespace(&with("X-Vault-Namespace", root)).is_ok(),
                "{root:?}"
            );
        }
        for other in ["team", "root/team", "ROOT"] {
            let refused = check_namespace(&with("X-Vault-Namespace", other));
            assert_eq!(refused, Err(ApiError::plain(404, "namespace not found")));
        }
    }

    #[test]
    fn contract_1_2_a_wrap_ttl_is_seconds_or_a_duration() {
        for (value, ttl) in [
            ("", None),
            ("0", None),
            ("0s", None),
            (" 60 ", Some(60)),
            ("1m", Some(60)),
            ("5m0s", Some(300)),
            ("1.5s", Some(1)),
            ("2d", Some(172_800)),
        ] {
            let read = wrap_ttl(&with("X-Vault-Wrap-TTL", value));
            assert_eq!(read, Ok(ttl), "{value:?}");
        }
        assert_eq!(wrap_ttl(&with("X-Vault-Wrap-Format", "jwt")), Ok(None));
    }

    #[test]
    fn a_bad_wrap_ttl_is_never_taken_for_none() {
        for (value, reason) in [
            ("-1", "requested wrap ttl cannot be negative"),
            ("-1ms", "requested wrap ttl cannot be negative"),
            ("999ms", "requested wrap ttl is less than a second"),
            ("0.9s", "requested wrap ttl is less than a second"),
            ("x", "time: invalid duration \"x\""),
            ("1.5", "time: missing unit in duration \"1.5\""),
        ] {
            let refused = wrap_ttl(&with("X-Vault-Wrap-TTL", value));
            let text = format!("error parsing X-Vault-Wrap-TTL header: {reason}");
            assert_eq!(refused, Err(ApiError::plain(400, text)), "{value:?}");
        }
    }
}
