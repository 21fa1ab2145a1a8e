//! Addresses, and the networks that tokens are bound to (SEC-T9).

use std::net::IpAddr;

use ipnet::IpNet;

use crate::IpAddress;

/// True if `text` is an address or a network.
#[must_use]
pub fn is_network(text: &str) -> bool {
    parse(text).is_some()
}

/// The one spelling of an address or network: a network of one address is written as the address, and IPv4 in IPv6 notation as IPv4.
/// Host bits of a network stay as they were written. `None` when it is neither.
#[must_use]
pub fn normalized(text: &str) -> Option<String> {
    let network = parse(text)?;
    let single = network.prefix_len() == network.max_prefix_len();
    Some(if single {
        network.addr().to_string()
    } else {
        network.to_string()
    })
}

/// True if `address` may use what is bound to `networks`. No networks bind nothing, an unknown address is in no network, and no address
/// is in a text that is no network. An IPv4 address in IPv6 notation is that IPv4 address.
#[must_use]
pub fn allow(networks: &[String], address: Option<IpAddress>) -> bool {
    if networks.is_empty() {
        return true;
    }
    let Some(address) = address.map(|address| IpAddr::from(address).to_canonical()) else {
        return false;
    };
    networks
        .iter()
        .filter_map(|network| parse(network))
        .any(|network| network.contains(&address))
}

/// The network that `text` names; an address is the network of itself.
fn parse(text: &str) -> Option<IpNet> {
    let text = text.trim();
    let network = match text.parse::<IpAddr>() {
        Ok(address) => IpNet::from(address),
        Err(_) => text.parse().ok()?,
    };
    Some(canonical(network))
}

/// A network of IPv4 addresses written as IPv6 is that network of IPv4 addresses.
fn canonical(network: IpNet) -> IpNet {
    let IpNet::V6(mapped) = network else {
        return network;
    };
    let narrowed = mapped
        .addr()
        .to_ipv4_mapped()
        .zip(mapped.prefix_len().checked_sub(96))
        .and_then(|(address, prefix)| IpNet::new(address.into(), prefix).ok());
    narrowed.unwrap_or(network)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contract_3_2_a_network_of_one_address_is_written_as_the_address() {
        for (given, stored) in [
            ("10.0.0.1/32", "10.0.0.1"),
            (" 10.0.0.1 ", "10.0.0.1"),
            ("10.0.0.0/8", "10.0.0.0/8"),
            ("fd00::1/128", "fd00::1"),
            ("fd00::/8", "fd00::/8"),
            ("10.0.0.5/8", "10.0.0.5/8"),
            ("::ffff:1.2.3.4", "1.2.3.4"),
            ("::ffff:1.2.3.4/128", "1.2.3.4"),
            ("::ffff:10.0.0.0/104", "10.0.0.0/8"),
            ("::ffff:0:0/96", "0.0.0.0/0"),
            ("::ffff:0:0/95", "::ffff:0.0.0.0/95"),
        ] {
            assert_eq!(normalized(given).as_deref(), Some(stored));
        }
        for bad in [
            "",
            "x",
            "10.0.0.0/33",
            "10.0.0",
            "10.0.0.1:80",
            "fd00::/129",
        ] {
            assert_eq!(normalized(bad), None, "{bad}");
        }
    }

    #[test]
    fn t9_a_mapped_network_is_its_ipv4_network() {
        let allowed = |network: &str, address: &str| {
            allow(&[network.to_owned()], Some(address.parse().unwrap()))
        };
        for address in ["192.0.2.7", "::ffff:192.0.2.7"] {
            assert!(allowed("::ffff:192.0.2.0/120", address));
            assert!(allowed("::ffff:192.0.2.7", address));
            assert!(allowed("192.0.2.9/24", address));
            assert!(!allowed("::ffff:192.0.3.0/120", address));
            assert!(!allowed("::/0", address));
        }
    }

    #[test]
    fn an_address_must_be_in_one_of_the_networks() {
        let networks = ["10.0.0.0/8".to_owned(), "fd00::1".to_owned()];
        let allowed = |address: &str| allow(&networks, Some(address.parse().unwrap()));
        assert!(allowed("10.1.2.3"));
        assert!(allowed("::ffff:10.1.2.3"), "IPv4 in IPv6 clothes");
        assert!(allowed("fd00::1"));
        assert!(!allowed("11.1.2.3"));
        assert!(!allowed("fd00::2"));
        assert!(!allow(&networks, None));
        assert!(allow(&[], None));
    }

    #[test]
    fn t9_an_address_of_one_family_is_in_no_network_of_the_other() {
        let allowed = |network: &str, address: &str| {
            allow(&[network.to_owned()], Some(address.parse().unwrap()))
        };
        assert!(allowed("2001:db8::/32", "2001:db8::1"));
        assert!(!allowed("::/0", "192.0.2.1"));
        assert!(!allowed("0.0.0.0/0", "2001:db8::1"));
        assert!(allowed("192.0.2.0/24", "192.0.2.255"));
        assert!(!allowed("192.0.2.0/24", "192.0.3.0"));
    }

    #[test]
    fn t9_an_unknown_address_and_a_broken_network_match_nothing() {
        let every = ["0.0.0.0/0".to_owned()];
        assert!(!allow(&every, None));
        let nonsense = ["nonsense".to_owned()];
        assert!(!is_network("nonsense"));
        assert!(!allow(&nonsense, Some(IpAddress::Ipv4((192, 0, 2, 1)))));
    }
}
