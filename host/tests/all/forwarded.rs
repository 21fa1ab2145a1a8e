//! Forwarded addresses (SEC-H9), against a model that knows the hops before they are written down.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use gatehouse::listener::{RequestError, client_of};
use http::{HeaderMap, HeaderValue};
use ipnet::IpNet;
use proptest::collection::vec;
use proptest::prelude::*;

const FORWARDED_FOR: &str = "x-forwarded-for";

/// One hop, and how it is written.
#[derive(Debug, Clone)]
struct Hop {
    /// `None` for what is no address.
    address: Option<IpAddr>,
    text: String,
}

/// Few enough for a proxy's network to hold some of them.
fn address() -> impl Strategy<Value = IpAddr> {
    prop_oneof![
        (0_u8..4, 0_u8..4).prop_map(|(network, host)| Ipv4Addr::new(10, network, 0, host).into()),
        (0_u16..4, 0_u16..4)
            .prop_map(|(network, host)| Ipv6Addr::new(0xfd00, network, 0, 0, 0, 0, 0, host).into()),
        any::<u32>().prop_map(|bits| Ipv4Addr::from_bits(bits).into()),
        any::<u128>().prop_map(|bits| Ipv6Addr::from_bits(bits).into()),
    ]
}

fn hop() -> impl Strategy<Value = Hop> {
    let written = (address(), 0..6, any::<u16>()).prop_map(|(address, spelling, port)| {
        let text = match (address, spelling) {
            (address, 0) => format!(" {address}\t"),
            (IpAddr::V4(v4), 1) => format!("{v4}:{port}"),
            (IpAddr::V4(v4), 2) => v4.to_ipv6_mapped().to_string(),
            (IpAddr::V4(v4), 3) => format!("[{}]:{port}", v4.to_ipv6_mapped()),
            (IpAddr::V6(v6), 1) => format!("[{v6}]:{port}"),
            (IpAddr::V6(v6), 2) => format!("[{v6}]"),
            (address, _) => address.to_string(),
        };
        Hop {
            address: Some(address.to_canonical()),
            text,
        }
    });
    let garbage = prop_oneof![
        Just(String::new()),
        "[g-z_!-+]{1,8}",
        "10\\.0\\.0\\.[3-9][0-9]{2}",
        "\\[10\\.0\\.0\\.1",
        "10\\.0\\.0\\.1:[7-9][0-9]{4}",
    ];
    let garbage = garbage.prop_map(|text| Hop {
        address: None,
        text,
    });
    prop_oneof![8 => written, 1 => garbage]
}

fn network() -> impl Strategy<Value = IpNet> {
    (address(), 0_u8..=32)
        .prop_map(|(address, length)| IpNet::new(address, length).expect("such a length"))
}

/// The client, as the rule has it: from the right, the first hop that is not trusted.
fn expected(socket: IpAddr, hops: &[Hop], proxies: &[IpNet]) -> Option<IpAddr> {
    let is_trusted = |address: &IpAddr| proxies.iter().any(|network| network.contains(address));
    if !is_trusted(&socket) {
        return Some(socket);
    }
    let mut farthest = None;
    for hop in hops.iter().rev() {
        farthest = Some(hop.address?);
        if !hop.address.as_ref().is_some_and(is_trusted) {
            break;
        }
    }
    farthest
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn v1_h9_the_client_is_the_socket_or_the_rightmost_hop_that_is_not_trusted(
        socket in address(),
        fields in vec(vec(hop(), 1..5), 0..4),
        proxies in vec(network(), 0..4),
    ) {
        let mut headers = HeaderMap::new();
        for hops in &fields {
            let texts: Vec<&str> = hops.iter().map(|hop| hop.text.as_str()).collect();
            headers.append(FORWARDED_FOR, texts.join(",").parse().unwrap());
        }
        let found = client_of(socket, &headers, &proxies);
        match expected(socket, &fields.concat(), &proxies) {
            Some(client) => prop_assert_eq!(found, Ok(client)),
            None => prop_assert_eq!(found, Err(RequestError::ForwardedFor)),
        }
    }

    #[test]
    fn v1_h9_any_bytes_name_a_client_that_they_hold_or_none(
        socket in address(),
        fields in vec(vec(any::<u8>(), 0..200), 0..4),
        texts in vec("[0-9a-f.:,\\[\\]% ]{0,60}", 0..4),
    ) {
        let proxies = [IpNet::new(socket, 8).unwrap()];
        let mut headers = HeaderMap::new();
        let fields = fields.into_iter().chain(texts.into_iter().map(String::into_bytes));
        for value in fields.filter_map(|bytes| HeaderValue::from_bytes(&bytes).ok()) {
            headers.append(FORWARDED_FOR, value);
        }
        match client_of(socket, &headers, &proxies) {
            Ok(client) => {
                prop_assert_eq!(client, client.to_canonical());
                let hops = headers.get_all(FORWARDED_FOR).iter();
                let mut hops = hops.flat_map(|value| value.as_bytes().split(|byte| *byte == b','));
                prop_assert!(hops.any(|hop| !hop.trim_ascii().is_empty()));
            }
            Err(refusal) => prop_assert_eq!(refusal, RequestError::ForwardedFor),
        }
        let stranger = client_of(socket, &headers, &[]);
        prop_assert_eq!(stranger, Ok(socket));
    }
}
