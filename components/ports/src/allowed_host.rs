//! The name of a host that may be called, as an operator writes it.

use std::fmt;
use std::str::FromStr;

use url::{Host, Url};

/// A host, or all hosts of a domain, on one port: `[scheme://]host[:port]`, where the host may begin with `*.`.
///
/// Without a scheme it is `https`, without a port the scheme's own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AllowedHost {
    scheme: Scheme,
    name: Name,
    port: u16,
}

/// The two schemes of HTTP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scheme {
    /// Plain HTTP.
    Http,
    /// HTTP over TLS.
    Https,
}

impl Scheme {
    /// The port where none is given.
    #[must_use]
    pub fn default_port(self) -> u16 {
        match self {
            Self::Http => 80,
            Self::Https => 443,
        }
    }

    /// As in a URL, in lower case.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Https => "https",
        }
    }

    /// The scheme of this name in lower case; `None` where it is neither.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "http" => Some(Self::Http),
            "https" => Some(Self::Https),
            _ => None,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Name {
    Exact(Host<String>),
    /// All names below this domain, at any depth; not the domain itself.
    Below(String),
}

/// The text does not name a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a host of the form [scheme://]host[:port]")]
pub struct AllowedHostError;

impl AllowedHost {
    /// Exactly `host`.
    #[must_use]
    pub fn exactly(scheme: Scheme, host: Host<String>, port: Option<u16>) -> Self {
        Self {
            scheme,
            name: Name::Exact(host),
            port: port.unwrap_or_else(|| scheme.default_port()),
        }
    }

    /// Exactly the host of `url`, by its scheme and port; `None` where it has none.
    #[must_use]
    pub fn of_url(url: &Url) -> Option<Self> {
        Some(Self::exactly(
            Scheme::from_name(url.scheme())?,
            url.host()?.to_owned(),
            url.port(),
        ))
    }

    /// True if it covers `host`, which must be in lower case.
    #[must_use]
    pub fn covers(&self, scheme: Scheme, host: &Host<String>, port: u16) -> bool {
        self.scheme == scheme && self.port == port && self.names(host)
    }

    fn names(&self, host: &Host<String>) -> bool {
        match (&self.name, host) {
            (Name::Exact(name), host) => name == host,
            (Name::Below(domain), Host::Domain(host)) => host
                .strip_suffix(domain.as_str())
                .and_then(|start| start.strip_suffix('.'))
                .is_some_and(|label| !label.is_empty()),
            (Name::Below(_), _) => false,
        }
    }
}

impl FromStr for AllowedHost {
    type Err = AllowedHostError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (scheme, rest) = match text.split_once("://") {
            Some((scheme, rest)) => (Scheme::from_name(scheme).ok_or(AllowedHostError)?, rest),
            None => (Scheme::Https, text),
        };
        let (below, rest) = match rest.strip_prefix("*.") {
            Some(domain) => (true, domain),
            None => (false, rest),
        };
        let (host, port) = split_port(rest)?;
        let host = Host::parse(host).map_err(|_| AllowedHostError)?;
        let name = match (below, host) {
            (_, Host::Domain(domain)) if !is_name(&domain) => return Err(AllowedHostError),
            (false, host) => Name::Exact(host),
            (true, Host::Domain(domain)) => Name::Below(domain),
            (true, _) => return Err(AllowedHostError),
        };
        Ok(Self {
            scheme,
            name,
            port: port.unwrap_or_else(|| scheme.default_port()),
        })
    }
}

fn is_name(text: &str) -> bool {
    text.bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_'))
}

fn split_port(text: &str) -> Result<(&str, Option<u16>), AllowedHostError> {
    match text.rsplit_once(':') {
        Some((host, port)) if !port.contains(']') => {
            let port = port.parse().map_err(|_| AllowedHostError)?;
            Ok((host, Some(port)))
        }
        _ => Ok((text, None)),
    }
}

impl fmt::Display for AllowedHost {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.scheme == Scheme::Http {
            formatter.write_str("http://")?;
        }
        match &self.name {
            Name::Exact(host) => write!(formatter, "{host}")?,
            Name::Below(domain) => write!(formatter, "*.{domain}")?,
        }
        if self.port == self.scheme.default_port() {
            Ok(())
        } else {
            write!(formatter, ":{}", self.port)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn domain(name: &str) -> Host<String> {
        Host::Domain(name.to_owned())
    }

    #[test]
    fn a_name_alone_means_https_on_its_own_port() {
        let allowed: AllowedHost = "Private.Example.com".parse().unwrap();
        assert!(allowed.covers(Scheme::Https, &domain("private.example.com"), 443));
        assert!(!allowed.covers(Scheme::Http, &domain("private.example.com"), 80));
        assert!(!allowed.covers(Scheme::Https, &domain("private.example.com"), 8443));
        assert!(!allowed.covers(Scheme::Https, &domain("a.private.example.com"), 443));
    }

    #[test]
    fn a_star_covers_every_name_below_and_not_the_domain_or_a_look_alike() {
        let allowed = "*.googleapis.com".parse::<AllowedHost>().unwrap();
        assert!(allowed.covers(Scheme::Https, &domain("iam.googleapis.com"), 443));
        assert!(allowed.covers(Scheme::Https, &domain("a.b.googleapis.com"), 443));
        assert!(!allowed.covers(Scheme::Https, &domain("googleapis.com"), 443));
        assert!(!allowed.covers(Scheme::Https, &domain(".googleapis.com"), 443));
        assert!(!allowed.covers(Scheme::Https, &domain("evilgoogleapis.com"), 443));
        assert!(!allowed.covers(Scheme::Https, &domain("googleapis.com.evil.com"), 443));
    }

    #[test]
    fn what_is_shown_reads_back_as_the_same() {
        for text in [
            "private.example.com",
            "*.example.com:8443",
            "http://127.0.0.1:8080",
            "[2001:db8::1]:8443",
            "http://[::1]",
        ] {
            let allowed: AllowedHost = text.parse().unwrap();
            assert_eq!(allowed.to_string(), text);
        }
    }

    #[test]
    fn anything_beyond_scheme_host_and_port_is_refused() {
        for text in [
            "",
            "*",
            "a.*.example.com",
            "ftp://example.com",
            "example.com/path",
            "user@example.com",
            "example.com:port",
            "example.com:99999",
            "*.127.0.0.1",
            "a b",
        ] {
            assert_eq!(
                text.parse::<AllowedHost>(),
                Err(AllowedHostError),
                "{text:?}"
            );
        }
    }
}
