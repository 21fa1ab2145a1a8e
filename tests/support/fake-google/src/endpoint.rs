//! The paths that the fake answers.

use std::borrow::Cow;

use http::Method;
use percent_encoding::percent_decode_str;

/// One kind of request that Google is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Endpoint {
    /// Google's own keys as X.509 certificates.
    GoogleCertificates,
    /// Google's own keys as a JWK set.
    GoogleKeySet,
    /// A service account's keys as X.509 certificates.
    AccountCertificates,
    /// A service account's keys as a JWK set.
    AccountKeySet,
    /// The OAuth 2.0 token endpoint.
    Token,
    /// A service account's record in IAM.
    ServiceAccount,
    /// Anything else, answered with 404.
    Unknown,
}

/// What a request asks for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Route<'a> {
    GoogleCertificates,
    GoogleKeySet,
    AccountCertificates {
        account: Cow<'a, str>,
    },
    AccountKeySet {
        account: Cow<'a, str>,
    },
    Token,
    ServiceAccount {
        project: &'a str,
        account: Cow<'a, str>,
    },
    Unknown,
}

impl<'a> Route<'a> {
    /// Finds what `method` on `path` (without its query) asks for.
    pub(crate) fn of(method: &Method, path: &'a str) -> Self {
        let mut segments = path.strip_prefix('/').unwrap_or(path).split('/');
        // Longer than any route: what comes after the sixth segment only has to be noticed.
        let parts: [&str; 7] = std::array::from_fn(|_| segments.next().unwrap_or_default());
        let read = method == Method::GET;
        match parts {
            ["oauth2", "v1", "certs", "", ..] if read => Self::GoogleCertificates,
            ["oauth2", "v3", "certs", "", ..] if read => Self::GoogleKeySet,
            [
                "service_accounts",
                "v1",
                "metadata",
                "x509",
                account,
                "",
                ..,
            ] if read => Self::AccountCertificates {
                account: decode(account),
            },
            ["service_accounts", "v1", "metadata", "jwk", account, "", ..] if read => {
                Self::AccountKeySet {
                    account: decode(account),
                }
            }
            [
                "v1",
                "projects",
                project,
                "serviceAccounts",
                account,
                "",
                ..,
            ] if read => Self::ServiceAccount {
                project,
                account: decode(account),
            },
            ["token", "", ..] if method == Method::POST => Self::Token,
            _ => Self::Unknown,
        }
    }

    /// The kind of request, by which calls are counted and faults are set.
    pub(crate) fn endpoint(&self) -> Endpoint {
        match self {
            Self::GoogleCertificates => Endpoint::GoogleCertificates,
            Self::GoogleKeySet => Endpoint::GoogleKeySet,
            Self::AccountCertificates { .. } => Endpoint::AccountCertificates,
            Self::AccountKeySet { .. } => Endpoint::AccountKeySet,
            Self::Token => Endpoint::Token,
            Self::ServiceAccount { .. } => Endpoint::ServiceAccount,
            Self::Unknown => Endpoint::Unknown,
        }
    }

    /// The same request for another account; requests that name no account stay as they are.
    pub(crate) fn for_account(self, other: &'a str) -> Self {
        let account = Cow::Borrowed(other);
        match self {
            Self::AccountCertificates { .. } => Self::AccountCertificates { account },
            Self::AccountKeySet { .. } => Self::AccountKeySet { account },
            Self::ServiceAccount { project, .. } => Self::ServiceAccount { project, account },
            accountless => accountless,
        }
    }
}

/// A path segment without its percent-encoding; one that is not UTF-8 names no account, so any replacement will do.
fn decode(segment: &str) -> Cow<'_, str> {
    percent_decode_str(segment).decode_utf8_lossy()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn routes_are_found_by_method_and_whole_path() {
        let get = |path| Route::of(&Method::GET, path).endpoint();
        assert_eq!(get("/oauth2/v1/certs"), Endpoint::GoogleCertificates);
        assert_eq!(get("/oauth2/v3/certs"), Endpoint::GoogleKeySet);
        assert_eq!(get("/oauth2/v1/certs/more"), Endpoint::Unknown);
        assert_eq!(
            get("/v1/projects/-/serviceAccounts/a/keys"),
            Endpoint::Unknown
        );
        assert_eq!(get("/token"), Endpoint::Unknown);
        assert_eq!(Route::of(&Method::POST, "/token"), Route::Token);
        assert_eq!(Route::of(&Method::POST, "/oauth2/v1/certs"), Route::Unknown);
    }

    #[test]
    fn account_segments_are_percent_decoded() {
        assert_eq!(
            Route::of(&Method::GET, "/v1/projects/-/serviceAccounts/a%40b"),
            Route::ServiceAccount {
                project: "-",
                account: "a@b".into()
            },
        );
    }
}
