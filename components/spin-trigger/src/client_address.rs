//! The client's address and scheme from the headers that Spin adds, and removal of what a client wrote under those names.
//!
//! Spin keeps every header that a client sent and appends its own, so of several fields of one name the last is Spin's.

use std::net::SocketAddr;

use gatehouse_gateway::Received;
use gatehouse_ports::IpAddress;

/// Where Spin writes the address of the connection, with its port.
const CLIENT_ADDRESS: &str = "spin-client-addr";
/// Where Spin writes the URL by which it was reached; its scheme is that of Spin's own listener, and counts before that of the request.
pub const FULL_URL: &str = "spin-full-url";
/// The prefix of all of Spin's headers.
const SPIN: &str = "spin-";
/// Headers that other hosts write or let only trusted proxies write. Spin does neither, so here they are words of the client.
const OF_OTHER_HOSTS: [&str; 4] = [
    "forwarded",
    "x-forwarded-for",
    "x-forwarded-host",
    "x-forwarded-proto",
];

/// Gives the request the peer and the scheme that Spin's headers tell, and removes those headers with what the client wrote under their names
/// or in a proxy's name.
///
/// The peer is where the connection came from: behind a proxy, the proxy. `None` for requests between components of one application. The
/// scheme stays as it is where Spin does not say whether it ended TLS.
pub fn settle(received: &mut Received) {
    let address = received.take_header(CLIENT_ADDRESS);
    let url = received.take_header(FULL_URL);
    received.headers.retain(|(name, _)| {
        let name = name.to_ascii_lowercase();
        !name.starts_with(SPIN) && !OF_OTHER_HOSTS.contains(&name.as_str())
    });
    received.peer = address.as_deref().and_then(peer);
    if let Some(url) = url {
        received.is_https = url.starts_with(b"https://");
    }
}

fn peer(value: &[u8]) -> Option<IpAddress> {
    let address: SocketAddr = str::from_utf8(value).ok()?.parse().ok()?;
    // The unspecified address is what Spin writes where a component of the same application calls.
    (!address.ip().is_unspecified()).then(|| address.ip().into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn received(headers: &[(&str, &str)]) -> Received {
        let field = |(name, value): &(&str, &str)| ((*name).to_owned(), value.as_bytes().to_vec());
        Received {
            id: None,
            method: "GET".to_owned(),
            target: "/".to_owned(),
            peer: None,
            is_https: false,
            authority: None,
            headers: headers.iter().map(field).collect(),
            body: Vec::new(),
        }
    }

    fn peer_of(headers: &[(&str, &str)]) -> Option<String> {
        let mut received = received(headers);
        settle(&mut received);
        received.peer.map(|peer| peer.to_string())
    }

    #[test]
    fn h9_only_the_address_that_spin_appended_counts() {
        let spoofed = [
            ("spin-client-addr", "192.0.2.66:1"),
            ("accept", "*/*"),
            ("Spin-Client-Addr", "192.0.2.67:1"),
            ("spin-client-addr", "198.51.100.7:51000"),
        ];
        assert_eq!(peer_of(&spoofed).as_deref(), Some("198.51.100.7"));
    }

    #[test]
    fn h9_an_address_that_cannot_be_read_does_not_make_an_earlier_one_count() {
        for last in [
            "",
            "198.51.100.7",
            "[::1]",
            "gatehouse.example:80",
            "0.0.0.0:0",
            "[::]:0",
        ] {
            let spoofed = [
                ("spin-client-addr", "192.0.2.66:1"),
                ("spin-client-addr", last),
            ];
            assert_eq!(peer_of(&spoofed), None, "{last}");
        }
    }

    #[test]
    fn an_ipv6_address_is_read_without_its_port() {
        assert_eq!(
            peer_of(&[("spin-client-addr", "[2001:db8::1]:80")]).as_deref(),
            Some("2001:db8::1")
        );
    }

    #[test]
    fn h9_nothing_is_left_of_what_hosts_and_proxies_say() {
        let mut received = received(&[
            ("host", "gatehouse.example"),
            ("X-Forwarded-For", "192.0.2.66"),
            ("x-forwarded-host", "evil.example"),
            ("x-forwarded-proto", "https"),
            ("forwarded", "for=192.0.2.66"),
            ("spin-path-info", "/x"),
            ("spin-anything-at-all", "x"),
            ("spinning", "kept"),
            ("spin-full-url", "http://gatehouse.example/"),
        ]);
        settle(&mut received);
        assert_eq!((received.peer, received.is_https), (None, false));
        let names: Vec<_> = received
            .headers
            .iter()
            .map(|(name, _)| name.as_str())
            .collect();
        assert_eq!(names, ["host", "spinning"]);
    }

    #[test]
    fn tls_is_what_the_last_url_says() {
        let of = |urls: &[&str]| {
            let headers: Vec<_> = urls.iter().map(|url| ("spin-full-url", *url)).collect();
            let mut received = received(&headers);
            settle(&mut received);
            received.is_https
        };
        assert!(!of(&[]));
        assert!(of(&["http://a/", "https://a/"]));
        assert!(!of(&["https://a/", "http://a/"]));
    }
}
