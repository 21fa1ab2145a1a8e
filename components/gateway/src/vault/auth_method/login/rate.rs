//! How often somebody may try to log in (SEC-R1 to R3).
//!
//! The limits are the same whatever role the request names, so that they tell nobody which roles exist. There is none for each role:
//! whoever names a role could lock its owner out.

use std::net::{IpAddr, Ipv6Addr};

use gatehouse_access::Mount;

use crate::Gateway;
use crate::host::Bucket;
use crate::vault::errors::Fault;

/// Leading bits of an IPv6 address that one client usually has to itself.
const IPV6_NETWORK_BITS: u32 = 64;

/// Takes this login out of what its source and the mount have left.
///
/// # Errors
///
/// 429 where one of them has nothing left. Then neither has lost anything: who floods the server uses up its own share alone.
pub(super) fn check<A, C, O>(
    gateway: &Gateway<A, C, O>,
    source: Option<IpAddr>,
    mount: &Mount,
) -> Result<(), Fault> {
    let settings = &gateway.settings;
    let of_source = settings
        .login_rate_per_source
        .map(|rate| rate.bucket(format!("login/source/{}", network(source))));
    let of_mount = settings
        .login_rate_per_mount
        .map(|rate| rate.bucket(format!("login/mount/{}", mount.id)));
    let buckets: Vec<Bucket> = of_source.into_iter().chain(of_mount).collect();
    if buckets.is_empty() {
        return Ok(());
    }
    match gateway.host.rate_limits.take(&buckets) {
        None => Ok(()),
        Some(milliseconds) => Err(Fault::too_many_requests(milliseconds.div_ceil(1000))),
    }
}

/// What counts as one source. All whose address is unknown are one.
fn network(source: Option<IpAddr>) -> String {
    match source.map(|address| address.to_canonical()) {
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
