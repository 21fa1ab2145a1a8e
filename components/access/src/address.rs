//! Address ranges that tokens are bound to (SEC-T9).

use std::net::IpAddr;

use ipnet::IpNet;

/// The range that `text` names; a single address is the range of itself.
pub(crate) fn parse_range(text: &str) -> Option<IpNet> {
    let text = text.trim();
    text.parse::<IpNet>()
        .or_else(|_| text.parse::<IpAddr>().map(IpNet::from))
        .ok()
}

/// Whether one of `ranges` holds `address`. No ranges hold every address; an unknown address is in none, and neither is any
/// address in a range that does not parse. An IPv4 address written as IPv6 is that IPv4 address.
pub(crate) fn contains_address(ranges: &[String], address: Option<&str>) -> bool {
    if ranges.is_empty() {
        return true;
    }
    let Some(Ok(address)) = address.map(str::parse::<IpAddr>) else {
        return false;
    };
    let address = address.to_canonical();
    ranges
        .iter()
        .filter_map(|range| parse_range(range))
        .any(|range| canonical(range).contains(&address))
}

/// A range of IPv4 addresses written as IPv6 is that range of IPv4 addresses.
fn canonical(range: IpNet) -> IpNet {
    let IpNet::V6(mapped) = range else {
        return range;
    };
    let narrowed = mapped
        .addr()
        .to_ipv4_mapped()
        .zip(mapped.prefix_len().checked_sub(96))
        .and_then(|(address, prefix)| IpNet::new(address.into(), prefix).ok());
    narrowed.unwrap_or(range)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bound(ranges: &[&str], address: &str) -> bool {
        let ranges: Vec<String> = ranges.iter().map(|&range| range.to_owned()).collect();
        contains_address(&ranges, Some(address))
    }

    #[test]
    fn t9_ranges_single_addresses_and_both_families() {
        assert!(bound(&[], "192.0.2.1"));
        assert!(bound(&["192.0.2.0/24"], "192.0.2.255"));
        assert!(!bound(&["192.0.2.0/24"], "192.0.3.0"));
        assert!(bound(&["10.0.0.0/8", "192.0.2.1"], "192.0.2.1"));
        assert!(bound(&["2001:db8::/32"], "2001:db8::1"));
        assert!(!bound(&["::/0"], "192.0.2.1"));
    }

    #[test]
    fn t9_a_mapped_address_is_its_ipv4_address() {
        assert!(bound(&["192.0.2.0/24"], "::ffff:192.0.2.7"));
        assert!(bound(&["::ffff:192.0.2.0/120"], "192.0.2.7"));
        assert!(!bound(&["::ffff:192.0.2.0/120"], "192.0.3.7"));
    }

    #[test]
    fn t9_an_unknown_address_and_a_broken_range_match_nothing() {
        assert!(!bound(&["0.0.0.0/0"], "not an address"));
        assert!(!bound(&["nonsense"], "192.0.2.1"));
    }
}
