//! Admission of connections: how many there may be, in all and from one address.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex, PoisonError};

/// Counts open connections.
#[derive(Debug)]
pub(super) struct Admission {
    total: usize,
    per_address: usize,
    open: Mutex<Open>,
}

#[derive(Debug, Default)]
struct Open {
    total: usize,
    by_address: HashMap<IpAddr, usize>,
}

/// The slot of a connection; dropping it gives the slot back.
#[derive(Debug)]
pub(super) struct ConnectionSlot {
    admission: Arc<Admission>,
    address: Option<IpAddr>,
}

impl Admission {
    pub(super) fn new(total: usize, per_address: usize) -> Self {
        Self {
            total,
            per_address,
            open: Mutex::default(),
        }
    }

    /// A slot for a connection, if there is one. Without an address it counts towards the total only.
    pub(super) fn admit(self: &Arc<Self>, address: Option<IpAddr>) -> Option<ConnectionSlot> {
        let address = address.map(counted_address);
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if open.total >= self.total {
            return None;
        }
        if let Some(address) = address {
            let count = open.by_address.entry(address).or_default();
            if *count >= self.per_address {
                return None;
            }
            *count += 1;
        }
        open.total += 1;
        Some(ConnectionSlot {
            admission: Arc::clone(self),
            address,
        })
    }
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        let mut open = self
            .admission
            .open
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        open.total -= 1;
        let Some(address) = self.address else {
            return;
        };
        if let Some(count) = open.by_address.get_mut(&address) {
            *count -= 1;
            if *count == 0 {
                open.by_address.remove(&address);
            }
        }
    }
}

/// One customer usually has a whole IPv6 /64, so that is what counts as one address (SEC-R2).
fn counted_address(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => {
            const NETWORK: u128 = u128::MAX << 64;
            IpAddr::V6(Ipv6Addr::from(u128::from(address) & NETWORK))
        }
        v4 => v4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> Option<IpAddr> {
        Some(text.parse().unwrap())
    }

    #[test]
    fn slots_are_counted_by_address_and_given_back() {
        let admission = Arc::new(Admission::new(10, 1));
        let slot = admission.admit(address("192.0.2.1"));
        assert!(slot.is_some());
        assert!(admission.admit(address("192.0.2.1")).is_none());
        assert!(admission.admit(address("::ffff:192.0.2.1")).is_none());
        let other = admission.admit(address("192.0.2.2"));
        assert!(other.is_some());
        drop(slot);
        assert!(admission.admit(address("192.0.2.1")).is_some());
    }

    #[test]
    fn an_ipv6_network_is_one_address() {
        let admission = Arc::new(Admission::new(10, 1));
        let slot = admission.admit(address("2001:db8:0:1::1"));
        assert!(slot.is_some());
        assert!(admission.admit(address("2001:db8:0:1::2")).is_none());
        assert!(admission.admit(address("2001:db8:0:2::1")).is_some());
    }

    #[test]
    fn the_total_holds_for_proxies_too() {
        let admission = Arc::new(Admission::new(2, 1));
        let slots: Vec<_> = (0..3).map(|_| admission.admit(None)).collect();
        assert!(slots[1].is_some());
        assert!(slots[2].is_none());
    }
}
