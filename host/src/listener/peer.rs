//! The address of the client of a request, behind proxies or not (SEC-H9).

use std::net::{IpAddr, SocketAddr};

use http::{HeaderMap, HeaderName};
use ipnet::IpNet;

use super::request_error::RequestError;

const X_FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");
/// A proxy's word about how its client came, and to which host.
const X_FORWARDED_PROTO: HeaderName = HeaderName::from_static("x-forwarded-proto");
const X_FORWARDED_HOST: HeaderName = HeaderName::from_static("x-forwarded-host");

/// The proxies whose word about their clients is taken.
#[derive(Debug, Clone, Default)]
pub(super) struct TrustedProxies(Vec<IpNet>);

impl TrustedProxies {
    pub(super) fn new(networks: &[IpNet]) -> Self {
        Self(networks.to_vec())
    }

    pub(super) fn contain(&self, address: IpAddr) -> bool {
        self.0.iter().any(|network| network.contains(&address))
    }

    /// Removes what only a trusted proxy may say about its client, when `socket` is none.
    pub(super) fn drop_unproven(&self, socket: IpAddr, headers: &mut HeaderMap) {
        if !self.contain(socket) {
            headers.remove(X_FORWARDED_PROTO);
            headers.remove(X_FORWARDED_HOST);
        }
    }

    /// The client: the socket's address, or behind trusted proxies the rightmost hop that is not one of them. A chain of
    /// trusted proxies alone leads to its first member.
    ///
    /// # Errors
    ///
    /// When a trusted proxy names no client, or something that is no address stands before the client is found.
    pub(super) fn client(
        &self,
        socket: IpAddr,
        headers: &HeaderMap,
    ) -> Result<IpAddr, RequestError> {
        if !self.contain(socket) {
            return Ok(socket);
        }
        let mut first = None;
        for value in headers.get_all(X_FORWARDED_FOR).iter().rev() {
            let value = value.to_str().map_err(|_| RequestError::ForwardedFor)?;
            for hop in value.rsplit(',') {
                let hop = parse_hop(hop.trim()).ok_or(RequestError::ForwardedFor)?;
                if !self.contain(hop) {
                    return Ok(hop);
                }
                first = Some(hop);
            }
        }
        first.ok_or(RequestError::ForwardedFor)
    }
}

/// An address with or without a port; IPv4 inside IPv6 is IPv4.
fn parse_hop(text: &str) -> Option<IpAddr> {
    let bare = text
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'))
        .unwrap_or(text);
    bare.parse()
        .ok()
        .or_else(|| Some(text.parse::<SocketAddr>().ok()?.ip()))
        .map(|address| address.to_canonical())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn h9_only_a_trusted_proxy_says_how_its_client_came() {
        let proxies = TrustedProxies::new(&["10.0.0.0/8".parse().unwrap()]);
        for (socket, kept) in [("10.0.0.1", true), ("203.0.113.9", false)] {
            let mut headers = HeaderMap::new();
            headers.append(X_FORWARDED_PROTO, "https".parse().unwrap());
            headers.append(X_FORWARDED_HOST, "a.example".parse().unwrap());
            headers.append(X_FORWARDED_HOST, "b.example".parse().unwrap());
            proxies.drop_unproven(socket.parse().unwrap(), &mut headers);
            assert_eq!(headers.contains_key(X_FORWARDED_PROTO), kept, "{socket}");
            assert_eq!(headers.contains_key(X_FORWARDED_HOST), kept, "{socket}");
        }
    }

    fn client(socket: &str, forwarded: &[&str]) -> Result<String, RequestError> {
        let proxies =
            TrustedProxies::new(&["10.0.0.0/8".parse().unwrap(), "fd00::/8".parse().unwrap()]);
        let mut headers = HeaderMap::new();
        for value in forwarded {
            headers.append(X_FORWARDED_FOR, value.parse().unwrap());
        }
        let client = proxies.client(socket.parse().unwrap(), &headers)?;
        Ok(client.to_string())
    }

    #[test]
    fn h9_a_header_from_a_stranger_is_ignored() {
        assert_eq!(
            client("203.0.113.9", &["198.51.100.1"]).unwrap(),
            "203.0.113.9"
        );
    }

    #[test]
    fn h9_behind_proxies_it_is_the_rightmost_untrusted_hop() {
        assert_eq!(
            client("10.0.0.1", &["198.51.100.1"]).unwrap(),
            "198.51.100.1"
        );
        assert_eq!(
            client("10.0.0.1", &["6.6.6.6, 198.51.100.1, 10.0.0.2"]).unwrap(),
            "198.51.100.1"
        );
        assert_eq!(
            client("10.0.0.1", &["6.6.6.6", "198.51.100.1"]).unwrap(),
            "198.51.100.1"
        );
        assert_eq!(
            client("10.0.0.1", &["garbage, 198.51.100.1"]).unwrap(),
            "198.51.100.1"
        );
        assert_eq!(client("fd00::1", &["2001:db8::7"]).unwrap(), "2001:db8::7");
        assert_eq!(
            client("10.0.0.1", &["10.0.0.3, 10.0.0.2"]).unwrap(),
            "10.0.0.3"
        );
    }

    #[test]
    fn h9_every_spelling_of_an_address_is_the_same_one() {
        assert_eq!(
            client("10.0.0.1", &["198.51.100.1:4711"]).unwrap(),
            "198.51.100.1"
        );
        assert_eq!(
            client("10.0.0.1", &["[2001:db8::7]:4711"]).unwrap(),
            "2001:db8::7"
        );
        assert_eq!(
            client("10.0.0.1", &["[2001:db8::7]"]).unwrap(),
            "2001:db8::7"
        );
        assert_eq!(
            client("10.0.0.1", &["::ffff:198.51.100.1"]).unwrap(),
            "198.51.100.1"
        );
    }

    #[test]
    fn h9_a_proxy_that_names_nobody_is_refused() {
        for forwarded in [
            &[][..],
            &[""],
            &["unknown"],
            &["198.51.100.1,"],
            &["198.51.100.300"],
        ] {
            assert_eq!(
                client("10.0.0.1", forwarded),
                Err(RequestError::ForwardedFor),
                "{forwarded:?}"
            );
        }
    }
}
