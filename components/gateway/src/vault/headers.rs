//! What request headers mean (contract 1.2).

use super::duration;
use super::errors::Fault;
use crate::http::Request;

/// The client's token. Its own header wins over `Authorization`.
pub(crate) fn token(request: &Request) -> Option<&str> {
    let own = request.headers.get("x-vault-token").map(str::trim);
    own.filter(|token| !token.is_empty())
        .or_else(|| request.bearer_token())
}

/// Refuses namespaces other than the root: a client that names one must not believe that it writes there.
///
/// # Errors
///
/// 404, as for a namespace that does not exist.
pub(super) fn check_namespace(request: &Request) -> Result<(), Fault> {
    let namespace = request.headers.get("x-vault-namespace").unwrap_or_default();
    match namespace.trim().trim_matches('/') {
        "" | "root" => Ok(()),
        _ => Err(Fault::plain(404, "namespace not found")),
    }
}

/// Refuses requests whose answer is to be wrapped: an unwrapped one would give the secret to whoever should only carry it.
///
/// # Errors
///
/// 400, for a malformed value as for a good one.
pub(super) fn check_wrapping(request: &Request) -> Result<(), Fault> {
    let Some(value) = request.headers.get("x-vault-wrap-ttl") else {
        return Ok(());
    };
    match duration::parse(value.trim()) {
        Ok(0) => Ok(()),
        Ok(1..) => Err(Fault::plain(
            400,
            "response wrapping is not supported yet: send the request without X-Vault-Wrap-TTL",
        )),
        Ok(_) => Err(Fault::plain(400, "requested wrap ttl cannot be negative")),
        Err(error) => Err(Fault::plain(
            400,
            format!("error parsing X-Vault-Wrap-TTL header: {error}"),
        )),
    }
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
            assert_eq!(refused, Err(Fault::plain(404, "namespace not found")));
        }
    }

    #[test]
    fn a_request_for_wrapping_is_never_answered_unwrapped() {
        for value in ["60", "1m", "-1", "x", "1.5"] {
            assert!(
                check_wrapping(&with("X-Vault-Wrap-TTL", value)).is_err(),
                "{value}"
            );
        }
        for value in ["", "0", "0s"] {
            assert!(
                check_wrapping(&with("X-Vault-Wrap-TTL", value)).is_ok(),
                "{value}"
            );
        }
    }
}
