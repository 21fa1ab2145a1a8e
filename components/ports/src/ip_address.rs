//! Where a peer is, as it crosses into components.

use std::fmt;
use std::net::{AddrParseError, IpAddr};
use std::str::FromStr;

/// The type `ip-address` of the WIT package `gatehouse:network`, which the bindings of every package take for it: an address goes through all
/// of them as it came. [`IpAddr`] has what there is to be asked of one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum IpAddress {
    /// The four bytes, in the order in which they are written.
    Ipv4((u8, u8, u8, u8)),
    /// The eight groups of 16 bits, in the order in which they are written.
    Ipv6((u16, u16, u16, u16, u16, u16, u16, u16)),
}

impl From<IpAddr> for IpAddress {
    fn from(address: IpAddr) -> Self {
        match address {
            IpAddr::V4(address) => Self::Ipv4(address.octets().into()),
            IpAddr::V6(address) => Self::Ipv6(address.segments().into()),
        }
    }
}

impl From<IpAddress> for IpAddr {
    fn from(address: IpAddress) -> Self {
        match address {
            IpAddress::Ipv4(bytes) => <[u8; 4]>::from(bytes).into(),
            IpAddress::Ipv6(groups) => <[u16; 8]>::from(groups).into(),
        }
    }
}

impl fmt::Display for IpAddress {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        IpAddr::from(*self).fmt(formatter)
    }
}

impl FromStr for IpAddress {
    type Err = AddrParseError;

    fn from_str(text: &str) -> Result<Self, AddrParseError> {
        text.parse::<IpAddr>().map(Self::from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_the_same_in_either_form_and_as_text() {
        let bytes = IpAddress::Ipv4((192, 0, 2, 1));
        let groups = IpAddress::Ipv6((0x2001, 0xdb8, 0, 0, 0, 0, 0, 1));
        for (address, text) in [(bytes, "192.0.2.1"), (groups, "2001:db8::1")] {
            assert_eq!(text.parse(), Ok(address));
            assert_eq!(address.to_string(), text);
            assert_eq!(IpAddress::from(IpAddr::from(address)), address);
        }
    }

    #[test]
    fn ipv4_in_ipv6_notation_stays_as_it_was_given() {
        let mapped: IpAddress = "::ffff:192.0.2.1".parse().unwrap();
        let groups = (0, 0, 0, 0, 0, 0xffff, 0xc000, 0x201);
        assert_eq!(mapped, IpAddress::Ipv6(groups));
        assert_eq!(mapped.to_string(), "::ffff:192.0.2.1");
    }

    #[test]
    fn what_has_a_port_a_zone_or_a_range_is_no_address() {
        for text in ["", "192.0.2.1:80", "[::1]", "fe80::1%eth0", "10.0.0.0/8"] {
            assert!(text.parse::<IpAddress>().is_err(), "{text}");
        }
    }
}
