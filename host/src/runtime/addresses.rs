//! The type `ip-address` of `gatehouse:network` as the engine generates it from the WIT: once, for every interface that takes it.

use std::net::IpAddr;

mod bindings {
    wasmtime::component::bindgen!({
        inline: "
            package gatehouse:addressed;
            world addressed {
                import gatehouse:network/addresses@0.1.0;
            }
        ",
        path: "../wit/network",
        world: "gatehouse:addressed/addressed",
    });
}

pub use bindings::gatehouse::network::addresses as wit;

/// The interface. It has nothing but types, which components bring themselves.
pub(super) const INTERFACE: &str = "gatehouse:network/addresses@0.1.0";

impl From<IpAddr> for wit::IpAddress {
    fn from(address: IpAddr) -> Self {
        match address {
            IpAddr::V4(address) => Self::Ipv4(address.octets().into()),
            IpAddr::V6(address) => Self::Ipv6(address.segments().into()),
        }
    }
}

impl From<wit::IpAddress> for IpAddr {
    fn from(address: wit::IpAddress) -> Self {
        match address {
            wit::IpAddress::Ipv4(bytes) => <[u8; 4]>::from(bytes).into(),
            wit::IpAddress::Ipv6(groups) => <[u16; 8]>::from(groups).into(),
        }
    }
}
