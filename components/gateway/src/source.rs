//! The addresses that count as one source of requests for rate limits (SEC-R2).

use std::net::{IpAddr, Ipv6Addr};

use gatehouse_ports::IpAddress;

/// The number of leading bits of an IPv6 address that usually identify one client.
const IPV6_NETWORK_BITS: u32 = 64;

/// The name of a source: the IPv4 address or the IPv6 network. All unknown addresses are one source.
pub fn network(source: Option<IpAddress>) -> String {
    match source.map(|address| IpAddr::from(address).to_canonical()) {
        None => "unknown".to_owned(),
        Some(IpAddr::V4(address)) => address.to_string(),
        Some(IpAddr::V6(address)) => {
            let host_bits = u128::MAX >> IPV6_NETWORK_BITS;
            Ipv6Addr::from_bits(address.to_bits() & !host_bits).to_string()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::network;

    #[test]
    fn r2_ipv6_counts_by_its_first_64_bits_and_mapped_ipv4_as_ipv4() {
        let of = |address: &str| network(Some(address.parse().unwrap()));
        assert_eq!(of("2001:db8:1:2:3::4"), of("2001:db8:1:2:ffff::1"));
        assert_ne!(of("2001:db8:1:2::1"), of("2001:db8:1:3::1"));
        assert_eq!(of("::ffff:192.0.2.1"), of("192.0.2.1"));
        assert_ne!(of("192.0.2.1"), of("192.0.2.2"));
        assert_eq!(network(None), "unknown");
    }
}
