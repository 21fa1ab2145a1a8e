//! The URLs of Google's APIs, for a mount and a server (contract 2.3, 8.5; SEC-N1, N2).

use gatehouse_ports::{NamedBy, Reach, Scheme};
use serde::{Deserialize, Serialize};
use url::{Host, Url};

use super::Settings;
use crate::{CustomEndpoints, EndpointError};

/// Longest base URL, in bytes.
const MAXIMUM_BASE_BYTES: usize = 2048;
/// Paths of its own that the compute API has, which an operator may give with Google's host.
const COMPUTE_PATHS: [&str; 3] = ["/compute/v1", "/compute/beta", "/compute/alpha"];

/// An API of Google that is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Api {
    /// Key documents.
    Certificates,
    /// Service accounts.
    Iam,
    /// Instances and instance groups.
    Compute,
    /// Projects and what is above them.
    Crm,
    /// Access tokens for keys and refresh tokens.
    OAuth,
    /// Access tokens for identity tokens.
    Sts,
    /// Access tokens for a service account to act as.
    IamCredentials,
    /// Access tokens of the machine that the server runs on.
    Metadata,
}

impl Api {
    /// The name that operators know it by.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Certificates => "api",
            Self::Iam => "iam",
            Self::Compute => "compute",
            Self::Crm => "crm",
            Self::OAuth => "oauth2",
            Self::Sts => "sts",
            Self::IamCredentials => "iamcredentials",
            Self::Metadata => "metadata",
        }
    }
}

/// Base URLs in force for one mount; `None` where the server does not allow the one that is configured.
#[derive(Debug, Clone)]
pub(crate) struct Endpoints {
    certificates: Option<Url>,
    iam: Option<Url>,
    compute: Option<Url>,
    crm: Option<Url>,
    token: Option<Url>,
    sts: Option<Url>,
    iam_credentials: Option<Url>,
    metadata: Option<Url>,
}

impl Endpoints {
    pub(crate) fn new(custom: &CustomEndpoints, settings: &Settings) -> Self {
        let base = |custom: Option<&String>, service: &str| match custom {
            Some(value) => read_custom(value, settings).ok(),
            None => Url::parse(&format!("https://{service}.{}", settings.universe_domain)).ok(),
        };
        Self {
            certificates: base(custom.api.as_ref(), "www"),
            iam: base(custom.iam.as_ref(), "iam"),
            compute: base(custom.compute.as_ref(), "compute").map(with_compute_path),
            crm: base(custom.crm.as_ref(), "cloudresourcemanager"),
            token: read_base(&settings.token_url(), settings).ok(),
            sts: read_base(&settings.sts_url(), settings).ok(),
            iam_credentials: read_base(&settings.iam_credentials_url(), settings).ok(),
            // Not a base like the others: it is link-local, plain HTTP, and named by the operator alone.
            metadata: settings
                .metadata_host
                .as_ref()
                .and_then(|host| Url::parse(&format!("http://{host}")).ok()),
        }
    }

    /// The URL of `segments` below the base of `api`, each percent-encoded as one path segment.
    pub(super) fn url(&self, api: Api, segments: &[&str]) -> Option<Url> {
        let mut url = match api {
            Api::Certificates => self.certificates.clone()?,
            Api::Iam => self.iam.clone()?,
            Api::Compute => self.compute.clone()?,
            Api::Crm => self.crm.clone()?,
            Api::OAuth => self.token.clone()?,
            Api::Sts => self.sts.clone()?,
            Api::IamCredentials => self.iam_credentials.clone()?,
            Api::Metadata => self.metadata.clone()?,
        };
        if !segments.is_empty() {
            url.path_segments_mut()
                .ok()?
                .pop_if_empty()
                .extend(segments);
        }
        Some(url)
    }
}

/// The compute API has a path of its own, which an operator's value without a path leaves to us (contract 2.3 rule 5, D25).
fn with_compute_path(mut base: Url) -> Url {
    if base.path() == "/" {
        base.set_path("/compute/v1/");
    }
    base
}

/// The flaw of `value` as a base URL; `None` when it can be stored.
pub(crate) fn endpoint_error(value: &str, settings: &Settings) -> Option<EndpointError> {
    read_custom(value, settings).err()
}

/// True if the host of a base URL that was accepted is neither Google's nor this machine (contract 9.3 rule 3).
pub(crate) fn is_foreign(value: &str, settings: &Settings) -> bool {
    let Ok(url) = read_custom(value, settings) else {
        return false;
    };
    let is_ours = url.host().is_some_and(|host| is_loopback(&host));
    !is_ours && named_by_google(&url, settings).is_none()
}

/// A base URL that came through the API. On Google's own hosts it has no path but the compute API's: below others of
/// `www.googleapis.com` lies what any customer of Google has uploaded (SEC-G15).
fn read_custom(value: &str, settings: &Settings) -> Result<Url, EndpointError> {
    let url = read_base(value, settings)?;
    let path = url.path().strip_suffix('/').unwrap_or(url.path());
    let is_plain = path.is_empty() || COMPUTE_PATHS.contains(&path);
    match named_by(&url, settings) {
        Some(NamedBy::Google | NamedBy::GooglePrivately) if !is_plain => {
            Err(EndpointError::PathNotAllowed)
        }
        _ => Ok(url),
    }
}

fn named_by(url: &Url, settings: &Settings) -> Option<NamedBy> {
    let (scheme, host, port) = destination(url)?;
    settings.callable_hosts().named_by(scheme, &host, port)
}

fn named_by_google(url: &Url, settings: &Settings) -> Option<NamedBy> {
    let (scheme, host, port) = destination(url)?;
    settings.callable_hosts().of_google(scheme, &host, port)
}

fn destination(url: &Url) -> Option<(Scheme, Host<String>, u16)> {
    Some((
        Scheme::from_name(url.scheme())?,
        url.host()?.to_owned(),
        url.port_or_known_default()?,
    ))
}

fn read_base(value: &str, settings: &Settings) -> Result<Url, EndpointError> {
    // The URL standard would drop tabs, turn backslashes and more; an operator's value has none of these.
    let plain = value
        .bytes()
        .all(|byte| byte.is_ascii_graphic() && byte != b'\\');
    if !plain || value.len() > MAXIMUM_BASE_BYTES {
        return Err(EndpointError::NotUrl);
    }
    let url = if value.contains("://") {
        Url::parse(value)
    } else {
        Url::parse(&format!("https://{value}"))
    }
    .map_err(|_| EndpointError::NotUrl)?;
    if !matches!(url.scheme(), "https" | "http") {
        return Err(EndpointError::Scheme);
    }
    if !url.username().is_empty() || url.password().is_some() || value.contains('@') {
        return Err(EndpointError::UserInformation);
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err(EndpointError::QueryOrFragment);
    }
    if !is_called_as_written(value) {
        return Err(EndpointError::NotUrl);
    }
    let host = url.host().ok_or(EndpointError::NotUrl)?;
    if let Some(Reach::Metadata | Reach::NotAHost) = Reach::of_host(&host) {
        return Err(EndpointError::LinkLocal);
    }
    if is_loopback(&host) && settings.allow_http_loopback {
        return Ok(url);
    }
    if url.scheme() == "http" {
        return Err(EndpointError::PlainHttp);
    }
    match named_by(&url, settings) {
        Some(_) => Ok(url),
        None => Err(EndpointError::HostNotAllowed),
    }
}

/// True if the URL standard leaves host and path of `value` as they are. It would skip slashes before the host, and resolve segments
/// `.` and `..`, so that what operators are shown would not be what is called.
fn is_called_as_written(value: &str) -> bool {
    let location = value.split_once("://").map_or(value, |(_, rest)| rest);
    let is_dots = |segment: &str| {
        let segment = segment.to_ascii_lowercase().replace("%2e", ".");
        matches!(segment.as_str(), "." | "..")
    };
    !location.starts_with('/') && !location.split('/').any(is_dots)
}

/// True if `host` is this machine.
pub(crate) fn is_loopback(host: &Host<&str>) -> bool {
    Reach::of_host(host) == Some(Reach::Loopback)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn for_development() -> Settings {
        Settings {
            allow_http_loopback: true,
            allowed_hosts: ["google.example", "google.example:8443", "10.0.0.7"]
                .map(str::to_owned)
                .into(),
            ..Settings::default()
        }
    }

    fn flaw(value: &str) -> Option<EndpointError> {
        endpoint_error(value, &for_development())
    }

    #[test]
    fn contract_2_3_hosts_with_and_without_scheme_port_and_path_are_accepted() {
        for value in [
            "iam.googleapis.com",
            "https://iam.googleapis.com",
            "https://iam.googleapis.com/",
            "https://google.example:8443/base/path/",
            "google.example/base",
            "https://10.0.0.7",
            "http://127.0.0.1:8085",
            "http://localhost:8085/",
            "http://[::1]:8085",
        ] {
            assert_eq!(flaw(value), None, "{value}");
        }
    }

    #[test]
    fn contract_2_3_rule_3_malformed_values_are_refused() {
        for (value, expected) in [
            ("", EndpointError::NotUrl),
            ("https://", EndpointError::NotUrl),
            ("ftp://google.example", EndpointError::Scheme),
            ("file:///etc/passwd", EndpointError::Scheme),
            ("google.example:port", EndpointError::NotUrl),
            ("https://google.example/a b", EndpointError::NotUrl),
            (
                "https://google.example\\@evil.example",
                EndpointError::NotUrl,
            ),
            ("https://google.example/\n", EndpointError::NotUrl),
            ("https:///google.example", EndpointError::NotUrl),
            ("/google.example", EndpointError::NotUrl),
            (
                "https://user@google.example",
                EndpointError::UserInformation,
            ),
            (
                "https://user:password@google.example",
                EndpointError::UserInformation,
            ),
            ("https://@google.example", EndpointError::UserInformation),
            ("https://google.example?x=1", EndpointError::QueryOrFragment),
            ("https://google.example/#x", EndpointError::QueryOrFragment),
            ("http://google.example", EndpointError::PlainHttp),
        ] {
            assert_eq!(flaw(value), Some(expected), "{value}");
        }
        assert_eq!(flaw(&"a".repeat(3000)), Some(EndpointError::NotUrl));
    }

    #[test]
    fn contract_2_3_rule_3_a_path_that_would_be_called_otherwise_than_shown_is_refused() {
        for path in [
            "..",
            "../",
            "base/..",
            "base/../x",
            "base/./x",
            ".",
            "base/%2e%2E/x",
            "base/.%2e",
            "%2E",
        ] {
            for prefix in [
                "https://google.example/",
                "google.example/",
                "http://127.0.0.1:1/",
            ] {
                let value = format!("{prefix}{path}");
                assert_eq!(flaw(&value), Some(EndpointError::NotUrl), "{value}");
            }
        }
        for path in ["...", "v1.2/.well-known", "a..b", "..a/"] {
            assert_eq!(flaw(&format!("google.example/{path}")), None, "{path}");
        }
    }

    #[test]
    fn n2_link_local_addresses_are_refused_in_every_spelling() {
        for value in [
            "http://169.254.169.254",
            "https://169.254.169.254",
            "https://2852039166",
            "https://0xa9fea9fe",
            "https://0251.0376.0251.0376",
            "https://[::ffff:169.254.169.254]",
            "https://[fe80::1]",
            "https://[fd20:ce::254]",
            "https://metadata.google.internal",
            "https://METADATA.google.internal.",
            "https://metadata",
            "https://0.0.0.0",
        ] {
            assert_eq!(flaw(value), Some(EndpointError::LinkLocal), "{value}");
        }
    }

    #[test]
    fn n1_other_hosts_are_refused() {
        for value in [
            "https://evil.example",
            "https://10.0.0.8",
            "https://[::2]",
            "https://google.example:444",
            "https://www.googleapis.com:8443",
        ] {
            assert_eq!(flaw(value), Some(EndpointError::HostNotAllowed), "{value}");
        }
    }

    #[test]
    fn g15_hosts_that_any_customer_can_write_to_are_refused_unless_the_operator_names_them() {
        for value in [
            "storage.googleapis.com",
            "https://storage.googleapis.com/bucket",
            "https://bucket.storage.googleapis.com",
            "https://firebasestorage.googleapis.com/v0/b/bucket/o",
            "https://STORAGE.googleapis.com./bucket",
            "https://commondatastorage.googleapis.com/bucket",
            "https://firestore.googleapis.com",
            "https://x.googleapis.com",
        ] {
            assert_eq!(flaw(value), Some(EndpointError::HostNotAllowed), "{value}");
        }
        let settings = Settings {
            allowed_hosts: vec!["storage.googleapis.com".to_owned()],
            ..Settings::default()
        };
        let named = "https://storage.googleapis.com/bucket";
        assert_eq!(endpoint_error(named, &settings), None);
        assert!(is_foreign(named, &settings));
    }

    #[test]
    fn g15_a_path_on_googles_own_host_is_refused_unless_the_operator_names_the_host() {
        for value in [
            "https://www.googleapis.com/storage/v1/b/bucket/o",
            "https://www.googleapis.com/download/storage/v1/b/bucket/o/x",
            "www.googleapis.com/drive/v3/files/x",
            "restricted.googleapis.com/storage/v1/b/bucket/o",
            "private.googleapis.com/base",
            "https://www-endpoint.p.googleapis.com/storage/v1",
            "https://compute.googleapis.com/compute/v1/projects/p",
            "https://compute.googleapis.com//",
        ] {
            assert_eq!(flaw(value), Some(EndpointError::PathNotAllowed), "{value}");
        }
        let settings = Settings {
            allowed_hosts: vec!["www.googleapis.com".to_owned()],
            ..Settings::default()
        };
        let named = "https://www.googleapis.com/base";
        assert_eq!(endpoint_error(named, &settings), None);
        assert!(!is_foreign(named, &settings));
    }

    #[test]
    fn g15_googles_private_restricted_and_regional_hosts_are_accepted() {
        for value in [
            "https://www.googleapis.com",
            "www.googleapis.com/",
            "iam.googleapis.com",
            "cloudresourcemanager.googleapis.com",
            "compute.googleapis.com/compute/v1",
            "compute.googleapis.com/compute/beta/",
            "https://restricted.googleapis.com",
            "https://private.googleapis.com:443",
            "compute-endpoint1.p.googleapis.com",
            "iam.europe-west3.rep.googleapis.com",
            "iam.mtls.googleapis.com",
        ] {
            assert_eq!(flaw(value), None, "{value}");
        }
    }

    #[test]
    fn n4_loopback_needs_the_operators_permission() {
        let production = Settings::default();
        assert_eq!(
            endpoint_error("http://127.0.0.1:1", &production),
            Some(EndpointError::PlainHttp)
        );
        assert_eq!(
            endpoint_error("https://127.0.0.1:1", &production),
            Some(EndpointError::HostNotAllowed)
        );
    }

    #[test]
    fn n1_a_stored_value_that_is_no_longer_allowed_is_not_used() {
        let custom = CustomEndpoints {
            iam: Some("https://google.example".to_owned()),
            ..CustomEndpoints::default()
        };
        let before = Endpoints::new(&custom, &for_development());
        assert!(before.url(Api::Iam, &["v1"]).is_some());
        let after = Endpoints::new(&custom, &Settings::default());
        assert!(after.url(Api::Iam, &["v1"]).is_none());
        assert!(after.url(Api::Certificates, &["v1"]).is_some());
    }

    #[test]
    fn g5_segments_are_escaped_one_by_one_below_the_base() {
        let custom = CustomEndpoints {
            iam: Some("http://127.0.0.1:9/base/".to_owned()),
            ..CustomEndpoints::default()
        };
        let endpoints = Endpoints::new(&custom, &for_development());
        let url = endpoints.url(Api::Iam, &["v1", "a/b?c#d%"]).unwrap();
        assert_eq!(url.as_str(), "http://127.0.0.1:9/base/v1/a%2Fb%3Fc%23d%25");
        let token = endpoints.url(Api::OAuth, &[]).unwrap();
        assert_eq!(token.as_str(), "https://oauth2.googleapis.com/token");
    }
}
