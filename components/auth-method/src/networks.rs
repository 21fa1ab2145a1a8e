//! Addresses and networks that tokens are bound to.

use std::net::IpAddr;

use ipnet::IpNet;

/// The stored form of an address or network: a network of one address is written as the address. `None` when it is neither.
pub(crate) fn normalized(text: &str) -> Option<String> {
    let text = text.trim();
    let network = parse(text)?;
    let single = network.prefix_len() == network.max_prefix_len();
    Some(if single {
        network.addr().to_string()
    } else {
        network.to_string()
    })
}

/// Whether `address` may use what is bound to `networks`; no networks bind nothing, an unknown address fits nothing.
pub(crate) fn allow(networks: &[String], address: Option<IpAddr>) -> bool {
    if networks.is_empty() {
        return true;
    }
    let Some(address) = address.map(|address| address.to_canonical()) else {
        return false;
    };
    networks
        .iter()
        .filter_map(|network| parse(network))
        .any(|network| network.contains(&address))
}

fn parse(text: &str) -> Option<IpNet> {
    match text.parse::<IpAddr>() {
        Ok(address) => Some(IpNet::from(address)),
        Err(_) => text.parse().ok(),
    }
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
}
