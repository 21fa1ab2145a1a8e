//! Which addresses components may call (SEC-N1, N2, N4; contract 9.3).
//!
//! A destination passes two gates: its name before anything else, and each of its addresses after name resolution, at
//! the moment of connecting. So a name that changes its address in between gains nothing.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use http::Uri;
use http::uri::Authority;
use url::{Host, Url};

use super::allowed_host::{AllowedHost, Scheme};
use crate::settings::GoogleSettings;

/// What the metadata server's tokens and identities are below.
const METADATA_PATH: &str = "/computeMetadata/v1/";

/// Hosts that answer for Google and are not below the universe domain.
const GOOGLE_HOSTS: [&str; 1] = ["accounts.google.com"];

/// The addresses at which clouds serve metadata, beside the link-local ranges.
const METADATA_ADDRESSES: [IpAddr; 3] = [
    IpAddr::V4(Ipv4Addr::new(100, 100, 100, 200)),
    IpAddr::V6(Ipv6Addr::new(0xfd00, 0x0ec2, 0, 0, 0, 0, 0, 0x0254)),
    IpAddr::V6(Ipv6Addr::new(0xfd20, 0x00ce, 0, 0, 0, 0, 0, 0x0254)),
];

/// The names under which Google's metadata server is known.
const METADATA_NAMES: [&str; 2] = ["metadata.google.internal", "metadata.goog"];

/// Why a call is refused, with the setting that would allow it where there is one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Denial {
    /// Not an absolute `http` or `https` URL with a plain host.
    #[error("the URL is not an absolute one with scheme and host")]
    Malformed,
    /// Nobody allowed the host.
    #[error("the host is not allowed; name it in google.allowed_hosts")]
    UnknownHost,
    /// Plain HTTP to another machine.
    #[error("plain HTTP leaves this machine; only https is allowed there")]
    PlainHttp,
    /// An address of this machine.
    #[error("the address is on this machine; google.allow_http_loopback = true allows it")]
    Loopback,
    /// An address of a private network, for a host that the operator did not name.
    #[error(
        "the address is in a private network; name the host in google.allowed_hosts to allow it"
    )]
    PrivateNetwork,
    /// An address that serves metadata of the machine, or is link-local.
    #[error(
        "the address is link-local or serves metadata; only google.metadata_host opens it, for metadata alone"
    )]
    Metadata,
    /// An address that is never a host on a network.
    #[error("the address is not that of a single host")]
    NotAHost,
}

/// On whose word a host may be called, which decides what its addresses may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Grant {
    /// One of Google's own hosts.
    Google,
    /// Named by the operator.
    Operator,
    /// This machine.
    Loopback,
    /// The metadata server that the operator named.
    Metadata,
}

/// The allow-list of one server.
#[derive(Debug, Clone)]
pub struct Policy {
    google: Vec<AllowedHost>,
    operator: Vec<AllowedHost>,
    metadata: Option<AllowedHost>,
    allow_loopback: bool,
}

impl Policy {
    /// Google's hosts, and what the operator added to them.
    #[must_use]
    pub fn new(google: &GoogleSettings) -> Self {
        let overrides = [
            &google.token_url,
            &google.sts_url,
            &google.iam_credentials_url,
        ];
        Self {
            google: GOOGLE_HOSTS
                .into_iter()
                .map(|host| {
                    AllowedHost::exactly(Scheme::Https, Host::Domain(host.to_owned()), None)
                })
                .chain([AllowedHost::below(&google.universe_domain)])
                .collect(),
            operator: overrides
                .into_iter()
                .flatten()
                .filter_map(host_of)
                .chain(google.allowed_hosts.iter().cloned())
                .collect(),
            metadata: google
                .metadata_host
                .as_ref()
                .and_then(|host| format!("http://{host}").parse().ok()),
            allow_loopback: google.allow_http_loopback,
        }
    }

    /// The first gate: scheme, host and port.
    pub(super) fn admit(&self, uri: &Uri) -> Result<Grant, Denial> {
        let scheme = uri
            .scheme_str()
            .and_then(Scheme::from_name)
            .ok_or(Denial::Malformed)?;
        let authority = uri.authority().ok_or(Denial::Malformed)?;
        let host = host_in(authority)?;
        let port = authority
            .port_u16()
            .unwrap_or_else(|| scheme.default_port());

        let grant = self.grant(scheme, &host, port, uri.path())?;
        if let Some(address) = literal_address(&host) {
            self.admit_address(grant, address)?;
        }
        Ok(grant)
    }

    fn grant(
        &self,
        scheme: Scheme,
        host: &Host<String>,
        port: u16,
        path: &str,
    ) -> Result<Grant, Denial> {
        let is_among = |hosts: &[AllowedHost]| {
            hosts
                .iter()
                .any(|allowed| allowed.covers(scheme, host, port))
        };
        let is_metadata_host = self
            .metadata
            .as_ref()
            .is_some_and(|allowed| allowed.covers(scheme, host, port));
        if is_metadata_host && path.starts_with(METADATA_PATH) {
            return Ok(Grant::Metadata);
        }
        if serves_metadata(host) {
            return Err(Denial::Metadata);
        }
        if is_this_machine(host) {
            return if self.allow_loopback || (scheme == Scheme::Https && is_among(&self.operator)) {
                Ok(Grant::Loopback)
            } else {
                Err(Denial::Loopback)
            };
        }
        if scheme == Scheme::Http {
            return Err(Denial::PlainHttp);
        }
        if is_among(&self.operator) {
            Ok(Grant::Operator)
        } else if is_among(&self.google) {
            Ok(Grant::Google)
        } else {
            Err(Denial::UnknownHost)
        }
    }

    /// The second gate: an address that the name led to.
    pub(super) fn admit_address(&self, grant: Grant, address: IpAddr) -> Result<(), Denial> {
        match (AddressKind::of(address), grant) {
            (AddressKind::NotAHost, _) => Err(Denial::NotAHost),
            (_, Grant::Metadata) => Ok(()),
            (AddressKind::Metadata, _) => Err(Denial::Metadata),
            (AddressKind::Loopback, Grant::Loopback) => Ok(()),
            (AddressKind::Loopback, _) => Err(Denial::Loopback),
            (_, Grant::Loopback) => Err(Denial::PlainHttp),
            (AddressKind::Private, Grant::Google) => Err(Denial::PrivateNetwork),
            (AddressKind::Private, Grant::Operator) | (AddressKind::Public, _) => Ok(()),
        }
    }
}

fn host_of(url: &Url) -> Option<AllowedHost> {
    Some(AllowedHost::exactly(
        Scheme::from_name(url.scheme())?,
        url.host()?.to_owned(),
        url.port(),
    ))
}

/// The host in one spelling: lower case, addresses parsed in every form that a resolver would understand.
fn host_in(authority: &Authority) -> Result<Host<String>, Denial> {
    if authority.as_str().contains('@') {
        return Err(Denial::Malformed);
    }
    match Host::parse(authority.host()).map_err(|_| Denial::Malformed)? {
        Host::Domain(name) => Ok(Host::Domain(name.trim_end_matches('.').to_owned())),
        address => Ok(address),
    }
}

fn literal_address(host: &Host<String>) -> Option<IpAddr> {
    match host {
        Host::Domain(_) => None,
        Host::Ipv4(address) => Some(IpAddr::V4(*address)),
        Host::Ipv6(address) => Some(IpAddr::V6(*address)),
    }
}

fn is_this_machine(host: &Host<String>) -> bool {
    match host {
        Host::Domain(name) => name == "localhost" || name.ends_with(".localhost"),
        Host::Ipv4(_) | Host::Ipv6(_) => literal_address(host)
            .is_some_and(|address| AddressKind::of(address) == AddressKind::Loopback),
    }
}

fn serves_metadata(host: &Host<String>) -> bool {
    match host {
        Host::Domain(name) => METADATA_NAMES.contains(&name.as_str()),
        Host::Ipv4(_) | Host::Ipv6(_) => literal_address(host)
            .is_some_and(|address| AddressKind::of(address) == AddressKind::Metadata),
    }
}

/// What sort of machine an address leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AddressKind {
    Public,
    Private,
    Loopback,
    Metadata,
    NotAHost,
}

impl AddressKind {
    fn of(address: IpAddr) -> Self {
        if METADATA_ADDRESSES.contains(&address.to_canonical()) {
            return Self::Metadata;
        }
        match address.to_canonical() {
            IpAddr::V4(address) => Self::of_v4(address),
            IpAddr::V6(address) => Self::of_v6(address),
        }
    }

    fn of_v4(address: Ipv4Addr) -> Self {
        let [first, second, ..] = address.octets();
        let shared_by_carriers = first == 100 && (64..128).contains(&second);
        if address.is_loopback() {
            Self::Loopback
        } else if address.is_link_local() {
            Self::Metadata
        } else if first == 0 || address.is_multicast() || first >= 240 {
            Self::NotAHost
        } else if address.is_private() || shared_by_carriers {
            Self::Private
        } else {
            Self::Public
        }
    }

    fn of_v6(address: Ipv6Addr) -> Self {
        if let Some(embedded) = embedded_v4(address) {
            return Self::of_v4(embedded);
        }
        if address.is_loopback() {
            Self::Loopback
        } else if address.is_unicast_link_local() || is_local_translation(address) {
            Self::Metadata
        } else if address.is_unspecified() || address.is_multicast() {
            Self::NotAHost
        } else if address.is_unique_local() {
            Self::Private
        } else {
            Self::Public
        }
    }
}

/// The IPv4 address that a translator (64:ff9b::/96), a relay (2002::/16) or the old compatible form would send to.
fn embedded_v4(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let from = |high: u16, low: u16| Ipv4Addr::from((u32::from(high) << 16) | u32::from(low));
    match address.segments() {
        [0x0064, 0xff9b, 0, 0, 0, 0, high, low] => Some(from(high, low)),
        [0x2002, high, low, ..] => Some(from(high, low)),
        [0, 0, 0, 0, 0, 0, high, low] if high != 0 => Some(from(high, low)),
        _ => None,
    }
}

/// Whether `address` is for a translator of this network (64:ff9b:1::/48, RFC 8215). Where in it the IPv4 address is depends on the
/// translator, so that any of them could lead to the metadata server.
fn is_local_translation(address: Ipv6Addr) -> bool {
    matches!(address.segments(), [0x0064, 0xff9b, 1, ..])
}
