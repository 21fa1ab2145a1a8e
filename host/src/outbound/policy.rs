//! The addresses that components may call (SEC-N1, N2, N4; contract 9.3).
//!
//! A destination passes two gates: its name before anything else, and each of its addresses after name resolution, at
//! the moment of connecting. So a name that changes its address in between gains nothing.

use std::net::IpAddr;

use gatehouse_ports::{AllowedHost, CallableHosts, NamedBy, Reach, Scheme};
use http::Uri;
use http::uri::Authority;
use url::Host;

use crate::settings::GoogleSettings;

/// The path above the metadata server's tokens and identities.
const METADATA_PATH: &str = "/computeMetadata/v1/";

/// Why a call is refused, with the setting that would allow it where there is one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum DestinationError {
    /// Not an absolute `http` or `https` URL with a plain host.
    #[error("the URL is not an absolute one with scheme and host")]
    Malformed,
    /// Neither Google's list nor the operator's has the host.
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
    #[error("the address is not a single host's")]
    NotAHost,
}

/// On whose word a host may be called, which decides what its addresses may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Grant {
    /// One of Google's API hosts.
    Google,
    /// Named by the operator, or one of Google's behind an endpoint of Private Service Connect: either may be in a private network.
    Operator,
    /// This machine.
    Loopback,
    /// The metadata server that the operator named.
    Metadata,
}

/// The allow-list of one server.
#[derive(Debug, Clone)]
pub struct Policy {
    hosts: CallableHosts,
    metadata: Option<AllowedHost>,
    allow_loopback: bool,
}

impl Policy {
    /// Google's API hosts, and what the operator added to them.
    #[must_use]
    pub fn new(google: &GoogleSettings) -> Self {
        Self {
            hosts: CallableHosts::new(&google.universe_domain, google.hosts_of_operator()),
            metadata: google
                .metadata_host
                .as_ref()
                .and_then(|host| format!("http://{host}").parse().ok()),
            allow_loopback: google.allow_http_loopback,
        }
    }

    /// The first gate: scheme, host and port.
    pub(super) fn admit(&self, uri: &Uri) -> Result<Grant, DestinationError> {
        let scheme = uri
            .scheme_str()
            .and_then(Scheme::from_name)
            .ok_or(DestinationError::Malformed)?;
        let authority = uri.authority().ok_or(DestinationError::Malformed)?;
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
    ) -> Result<Grant, DestinationError> {
        let is_metadata_host = self
            .metadata
            .as_ref()
            .is_some_and(|allowed| allowed.covers(scheme, host, port));
        if is_metadata_host && path.starts_with(METADATA_PATH) {
            return Ok(Grant::Metadata);
        }
        let reach = Reach::of_host(host);
        if reach == Some(Reach::Metadata) {
            return Err(DestinationError::Metadata);
        }
        if reach == Some(Reach::Loopback) {
            return if self.allow_loopback
                || (scheme == Scheme::Https && self.hosts.is_named_by_operator(scheme, host, port))
            {
                Ok(Grant::Loopback)
            } else {
                Err(DestinationError::Loopback)
            };
        }
        if scheme == Scheme::Http {
            return Err(DestinationError::PlainHttp);
        }
        match self.hosts.named_by(scheme, host, port) {
            Some(NamedBy::Operator | NamedBy::GooglePrivately) => Ok(Grant::Operator),
            Some(NamedBy::Google) => Ok(Grant::Google),
            None => Err(DestinationError::UnknownHost),
        }
    }

    /// The second gate: an address that the name led to.
    pub(super) fn admit_address(
        &self,
        grant: Grant,
        address: IpAddr,
    ) -> Result<(), DestinationError> {
        match (Reach::of_address(address), grant) {
            (Reach::NotAHost, _) => Err(DestinationError::NotAHost),
            (_, Grant::Metadata) => Ok(()),
            (Reach::Metadata, _) => Err(DestinationError::Metadata),
            (Reach::Loopback, Grant::Loopback) => Ok(()),
            (Reach::Loopback, _) => Err(DestinationError::Loopback),
            (_, Grant::Loopback) => Err(DestinationError::PlainHttp),
            (Reach::Private, Grant::Google) => Err(DestinationError::PrivateNetwork),
            (Reach::Private, Grant::Operator) | (Reach::Public, _) => Ok(()),
        }
    }
}

/// The host in one spelling: lower case, addresses parsed in every form that a resolver would understand.
fn host_in(authority: &Authority) -> Result<Host<String>, DestinationError> {
    if authority.as_str().contains('@') {
        return Err(DestinationError::Malformed);
    }
    match Host::parse(authority.host()).map_err(|_| DestinationError::Malformed)? {
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
