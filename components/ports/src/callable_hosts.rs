//! The hosts that may be called: one list for the auth method, which refuses other endpoints when they are written and when they are used,
//! and for the host, which refuses the call (contract 2.3, 8.5; SEC-N1, G15).

use url::Host;

use crate::{AllowedHost, Scheme};

/// The APIs that are called, by the first label of their hosts.
///
/// Never everything below Google's domain: `storage.googleapis.com` and others there serve what any customer has uploaded.
const SERVICES: [&str; 7] = [
    "www",
    "iam",
    "compute",
    "cloudresourcemanager",
    "oauth2",
    "sts",
    "iamcredentials",
];
/// The names behind which Google's private and restricted access serve these APIs.
const VIRTUAL_HOSTS: [&str; 2] = ["private", "restricted"];
/// Longest name of an endpoint of Private Service Connect.
const MAXIMUM_ENDPOINT_BYTES: usize = 20;
/// Longest label of a host name.
const MAXIMUM_LABEL_BYTES: usize = 63;

/// On whose word a host may be called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NamedBy {
    /// It is a host of an API that is called.
    Google,
    /// It is such an API behind an endpoint of Private Service Connect, whose address is in a private network.
    GooglePrivately,
    /// The server's operator named it.
    Operator,
}

/// Google's API hosts, and what the operator added to them.
///
/// Addresses are not its matter: loopback, metadata servers and private networks are judged beside it.
#[derive(Debug, Clone)]
pub struct CallableHosts {
    /// In lower case.
    universe_domain: String,
    operator: Vec<AllowedHost>,
}

impl CallableHosts {
    /// The API hosts below `universe_domain`, and `operator`.
    #[must_use]
    pub fn new(universe_domain: &str, operator: Vec<AllowedHost>) -> Self {
        Self {
            universe_domain: universe_domain.to_ascii_lowercase(),
            operator,
        }
    }

    /// On whose word `host`, which must be in lower case, may be called; `None` where it may not. The operator's word comes first:
    /// it gives more than Google's name does.
    #[must_use]
    pub fn named_by(&self, scheme: Scheme, host: &Host<String>, port: u16) -> Option<NamedBy> {
        if self.is_named_by_operator(scheme, host, port) {
            Some(NamedBy::Operator)
        } else {
            self.of_google(scheme, host, port)
        }
    }

    /// True if the operator named it.
    #[must_use]
    pub fn is_named_by_operator(&self, scheme: Scheme, host: &Host<String>, port: u16) -> bool {
        let host = without_final_dot(host);
        let mut named = self.operator.iter();
        named.any(|allowed| allowed.covers(scheme, &host, port))
    }

    /// The kind of a host of Google's, `None` for others: the plain host of an API that is called, `private.` and `restricted.`, and
    /// the documented forms `<service>.mtls.`, `<service>.<region>.rep.` and `<service>-<endpoint>.p.`, over HTTPS on its own port.
    #[must_use]
    pub fn of_google(&self, scheme: Scheme, host: &Host<String>, port: u16) -> Option<NamedBy> {
        let Host::Domain(name) = host else {
            return None;
        };
        if scheme != Scheme::Https || port != scheme.default_port() {
            return None;
        }
        let name = name.strip_suffix('.').unwrap_or(name);
        let labels = name
            .strip_suffix(self.universe_domain.as_str())?
            .strip_suffix('.')?;
        let mut labels = labels.split('.');
        let named_by = match (labels.next()?, labels.next(), labels.next()) {
            (service, None, _) if is_service(service) || VIRTUAL_HOSTS.contains(&service) => {
                NamedBy::Google
            }
            (service, Some("mtls"), None) if is_service(service) => NamedBy::Google,
            (service, Some(region), Some("rep")) if is_service(service) && is_region(region) => {
                NamedBy::Google
            }
            (endpoint, Some("p"), None) if is_private_endpoint(endpoint) => {
                NamedBy::GooglePrivately
            }
            _ => return None,
        };
        labels.next().is_none().then_some(named_by)
    }
}

fn is_service(label: &str) -> bool {
    SERVICES.contains(&label)
}

/// A region such as `europe-west3`, or a multi-region such as `eu`.
fn is_region(label: &str) -> bool {
    let is_inner = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    (1..=MAXIMUM_LABEL_BYTES).contains(&label.len())
        && label.starts_with(|letter: char| letter.is_ascii_lowercase())
        && !label.ends_with('-')
        && label.bytes().all(is_inner)
}

/// `<service>-<endpoint>`: no service that is called has a hyphen, and no endpoint of Private Service Connect may have one.
fn is_private_endpoint(label: &str) -> bool {
    label.split_once('-').is_some_and(|(service, endpoint)| {
        is_service(service)
            && endpoint.len() <= MAXIMUM_ENDPOINT_BYTES
            && endpoint.starts_with(|letter: char| letter.is_ascii_lowercase())
            && endpoint
                .bytes()
                .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
    })
}

fn without_final_dot(host: &Host<String>) -> Host<String> {
    match host {
        Host::Domain(name) => Host::Domain(name.strip_suffix('.').unwrap_or(name).to_owned()),
        address => address.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hosts() -> CallableHosts {
        let operator = ["private.example.com", "*.corp.example:8443", "10.0.0.7"];
        let operator = operator.map(|host| host.parse().unwrap());
        CallableHosts::new("googleapis.com", operator.into())
    }

    fn named_by(host: &str, port: u16) -> Option<NamedBy> {
        hosts().named_by(Scheme::Https, &Host::parse(host).unwrap(), port)
    }

    #[test]
    fn g15_n1_googles_api_hosts_and_their_documented_forms_may_be_called() {
        for service in SERVICES {
            for form in ["", ".mtls", ".europe-west3.rep", ".us.rep"] {
                let host = format!("{service}{form}.googleapis.com");
                assert_eq!(named_by(&host, 443), Some(NamedBy::Google), "{host}");
            }
            let host = format!("{service}-vpcsc1.p.googleapis.com");
            let expected = Some(NamedBy::GooglePrivately);
            assert_eq!(named_by(&host, 443), expected, "{host}");
        }
        for host in [
            "restricted.googleapis.com",
            "private.googleapis.com",
            "www.googleapis.com.",
            "WWW.GoogleAPIs.com",
        ] {
            assert_eq!(named_by(host, 443), Some(NamedBy::Google), "{host}");
        }
    }

    #[test]
    fn g15_n1_hosts_below_googles_domain_that_anybody_can_write_to_may_not_be_called() {
        for host in [
            "storage.googleapis.com",
            "bucket.storage.googleapis.com",
            "firebasestorage.googleapis.com",
            "storage.mtls.googleapis.com",
            "storage.europe-west3.rep.googleapis.com",
            "storage-vpcsc1.p.googleapis.com",
            "commondatastorage.googleapis.com",
            "bucket.commondatastorage.googleapis.com",
            "www.storage.googleapis.com",
            "iam.storage.googleapis.com",
            "script.googleapis.com",
            "firestore.googleapis.com",
            "secretmanager.googleapis.com",
            "compute.private.googleapis.com",
            "googleapis.com",
            ".googleapis.com",
            "www..googleapis.com",
            "xwww.googleapis.com",
            "evilgoogleapis.com",
            "www.googleapis.com.evil.example",
            "www.mtls.mtls.googleapis.com",
            "www.mtls.europe-west3.rep.googleapis.com",
            "www.rep.googleapis.com",
            "www..rep.googleapis.com",
            "www.-x.rep.googleapis.com",
            "www.x-.rep.googleapis.com",
            "www.a.b.rep.googleapis.com",
            "www.p.googleapis.com",
            "www-.p.googleapis.com",
            "www-a-b.p.googleapis.com",
            "www-1.p.googleapis.com",
            "www-aaaaaaaaaaaaaaaaaaaaa.p.googleapis.com",
            "bucket.www-endpoint.p.googleapis.com",
            "accounts.google.com",
            "142.250.185.106",
        ] {
            let host = match Host::parse(host) {
                Ok(host) => host,
                Err(_) => Host::Domain(host.to_owned()),
            };
            assert_eq!(hosts().named_by(Scheme::Https, &host, 443), None, "{host}");
        }
        for port in [80, 8443] {
            assert_eq!(named_by("www.googleapis.com", port), None, "{port}");
        }
        let host = Host::Domain("www.googleapis.com".to_owned());
        for port in [80, 443] {
            assert_eq!(hosts().named_by(Scheme::Http, &host, port), None, "{port}");
        }
    }

    #[test]
    fn n1_what_the_operator_names_may_be_called_on_that_port_alone() {
        for (host, port) in [
            ("private.example.com", 443),
            ("Private.Example.com.", 443),
            ("a.corp.example", 8443),
            ("10.0.0.7", 443),
            ("0xa000007", 443),
        ] {
            assert_eq!(named_by(host, port), Some(NamedBy::Operator), "{host}");
        }
        for (host, port) in [
            ("private.example.com", 8443),
            ("a.private.example.com", 443),
            ("a.corp.example", 443),
            ("corp.example", 8443),
            ("10.0.0.8", 443),
        ] {
            assert_eq!(named_by(host, port), None, "{host}:{port}");
        }
    }

    #[test]
    fn n1_another_universe_has_its_own_hosts_and_none_of_googles() {
        let hosts = CallableHosts::new("Apis.Example", Vec::new());
        let named = |name: &str| hosts.named_by(Scheme::Https, &Host::Domain(name.into()), 443);
        assert_eq!(named("iam.apis.example"), Some(NamedBy::Google));
        assert_eq!(named("storage.apis.example"), None);
        assert_eq!(named("iam.googleapis.com"), None);
    }
}
