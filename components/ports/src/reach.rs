//! The sort of machine that a host leads to: the one list of addresses and names that no API of Google has (SEC-N2).
//!
//! The auth method refuses them when a URL is written and used, the host when a name has been resolved.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use url::Host;

/// The addresses at which clouds serve metadata, beside the link-local ranges: of Alibaba, Azure and Oracle, of AWS and Google by IPv6.
const METADATA_ADDRESSES: [IpAddr; 5] = [
    IpAddr::V4(Ipv4Addr::new(100, 100, 100, 200)),
    IpAddr::V4(Ipv4Addr::new(168, 63, 129, 16)),
    IpAddr::V4(Ipv4Addr::new(192, 0, 0, 192)),
    IpAddr::V6(Ipv6Addr::new(0xfd00, 0x0ec2, 0, 0, 0, 0, 0, 0x0254)),
    IpAddr::V6(Ipv6Addr::new(0xfd20, 0x00ce, 0, 0, 0, 0, 0, 0x0254)),
];

/// The names under which metadata servers answer.
const METADATA_NAMES: [&str; 3] = ["metadata", "metadata.google.internal", "metadata.goog"];

/// The sort of machine that a host leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// Any machine of the internet.
    Public,
    /// A machine of a private network, or of a carrier's.
    Private,
    /// This machine.
    Loopback,
    /// A server of metadata, a link-local neighbour, or what may lead to either: of an address below `64:ff9b:1::/48` only the network's
    /// own translator (RFC 8215) knows where in it the IPv4 address is.
    Metadata,
    /// No machine: unspecified, multicast and reserved addresses.
    NotAHost,
}

impl Reach {
    /// Where `address` leads. An address of IPv4 within one of IPv6 leads where the former does.
    #[must_use]
    pub fn of_address(address: IpAddr) -> Self {
        match address.to_canonical() {
            address if METADATA_ADDRESSES.contains(&address) => Self::Metadata,
            IpAddr::V4(address) => of_v4(address),
            IpAddr::V6(address) => of_v6(address),
        }
    }

    /// Where `host` leads as far as it tells by itself; `None` for a name that only resolution can tell of.
    #[must_use]
    pub fn of_host<S: AsRef<str>>(host: &Host<S>) -> Option<Self> {
        match host {
            Host::Domain(name) => of_name(name.as_ref().trim_end_matches('.')),
            Host::Ipv4(address) => Some(Self::of_address(IpAddr::V4(*address))),
            Host::Ipv6(address) => Some(Self::of_address(IpAddr::V6(*address))),
        }
    }
}

fn of_name(name: &str) -> Option<Reach> {
    if name == "localhost" || name.ends_with(".localhost") {
        return Some(Reach::Loopback);
    }
    METADATA_NAMES.contains(&name).then_some(Reach::Metadata)
}

fn of_v4(address: Ipv4Addr) -> Reach {
    let [first, second, ..] = address.octets();
    let shared_by_carriers = first == 100 && (64..128).contains(&second);
    if address.is_loopback() {
        Reach::Loopback
    } else if address.is_link_local() {
        Reach::Metadata
    } else if first == 0 || address.is_multicast() || first >= 240 {
        Reach::NotAHost
    } else if address.is_private() || shared_by_carriers {
        Reach::Private
    } else {
        Reach::Public
    }
}

fn of_v6(address: Ipv6Addr) -> Reach {
    if let Some(embedded) = embedded_v4(address) {
        return Reach::of_address(IpAddr::V4(embedded));
    }
    let is_translated_locally = matches!(address.segments(), [0x0064, 0xff9b, 1, ..]);
    if address.is_loopback() {
        Reach::Loopback
    } else if address.is_unicast_link_local() || is_translated_locally {
        Reach::Metadata
    } else if address.is_unspecified() || address.is_multicast() {
        Reach::NotAHost
    } else if address.is_unique_local() {
        Reach::Private
    } else {
        Reach::Public
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn n2_every_range_leads_where_it_does_in_every_spelling() {
        for (reach, addresses) in [
            (
                Reach::Public,
                &["8.8.8.8", "2607:f8b0::1", "64:ff9b::808:808"][..],
            ),
            (
                Reach::Private,
                &[
                    "10.0.0.1",
                    "172.16.0.1",
                    "192.168.1.1",
                    "100.64.0.1",
                    "fd12::1",
                    "::ffff:10.0.0.1",
                    "64:ff9b::a00:1",
                ],
            ),
            (
                Reach::Loopback,
                &[
                    "127.0.0.1",
                    "127.255.0.1",
                    "::1",
                    "::ffff:127.0.0.1",
                    "2002:7f00:1::",
                ],
            ),
            (
                Reach::Metadata,
                &[
                    "169.254.169.254",
                    "169.254.0.1",
                    "100.100.100.200",
                    "168.63.129.16",
                    "192.0.0.192",
                    "fe80::1",
                    "fd00:ec2::254",
                    "fd20:ce::254",
                    "::ffff:169.254.169.254",
                    "::ffff:100.100.100.200",
                    "64:ff9b::a9fe:a9fe",
                    "64:ff9b::6464:64c8",
                    "2002:a9fe:a9fe::",
                    "64:ff9b:1::a9fe:a9fe",
                    "64:ff9b:1:a9fe:a9:fe00::",
                    "64:ff9b:1:ffff:ffff:ffff:ffff:ffff",
                ],
            ),
            (
                Reach::NotAHost,
                &[
                    "0.0.0.0",
                    "0.1.2.3",
                    "224.0.0.1",
                    "240.0.0.1",
                    "255.255.255.255",
                    "::",
                    "ff02::1",
                ],
            ),
        ] {
            for address in addresses {
                let found = Reach::of_address(address.parse().unwrap());
                assert_eq!(found, reach, "{address}");
            }
        }
    }

    #[test]
    fn n2_names_that_tell_by_themselves_do() {
        for (name, reach) in [
            ("metadata", Some(Reach::Metadata)),
            ("metadata.google.internal.", Some(Reach::Metadata)),
            ("metadata.goog", Some(Reach::Metadata)),
            ("localhost", Some(Reach::Loopback)),
            ("x.localhost", Some(Reach::Loopback)),
            ("iam.googleapis.com", None),
            ("metadata.example", None),
        ] {
            assert_eq!(Reach::of_host(&Host::Domain(name)), reach, "{name}");
        }
    }
}
