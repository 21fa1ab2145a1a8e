//! The origin at which clients find the server: what absolute links in answers begin with.

use gatehouse_gateway::Received;
use url::Url;

/// Scheme and authority of an address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    is_https: bool,
    authority: String,
}

impl Origin {
    /// Reads an address such as `https://gatehouse.example.com:8200`; `None` where it is none, or has a path.
    #[must_use]
    pub fn from_text(text: &str) -> Option<Self> {
        let url = Url::parse(text).ok()?;
        let is_https = match url.scheme() {
            "https" => true,
            "http" => false,
            _ => return None,
        };
        let is_bare = url.path() == "/"
            && url.query().is_none()
            && url.fragment().is_none()
            && url.username().is_empty()
            && url.password().is_none();
        let host = url.host_str().filter(|_| is_bare)?;
        Some(Self {
            is_https,
            authority: match url.port() {
                Some(port) => format!("{host}:{port}"),
                None => host.to_owned(),
            },
        })
    }

    /// True if clients come by TLS.
    #[must_use]
    pub const fn is_https(&self) -> bool {
        self.is_https
    }

    /// Makes the request one that was sent to this address, whatever proxy it went through.
    pub fn impose(&self, received: &mut Received) {
        received
            .headers
            .retain(|(name, _)| !name.eq_ignore_ascii_case("host"));
        received.authority = Some(self.authority.clone());
        received.is_https = self.is_https;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn links_of(address: &str) -> Option<(String, bool)> {
        let mut received = Received {
            id: None,
            method: "GET".to_owned(),
            target: "/".to_owned(),
            peer: None,
            is_https: false,
            authority: Some("10.0.0.7:3000".to_owned()),
            headers: vec![("Host".to_owned(), b"10.0.0.7:3000".to_vec())],
            body: Vec::new(),
        };
        Origin::from_text(address)?.impose(&mut received);
        let request = received.into_request().unwrap();
        let host = request.headers.get("host").unwrap().to_owned();
        Some((
            host,
            request.headers.get("x-forwarded-proto") == Some("https"),
        ))
    }

    #[test]
    fn links_begin_with_the_advertised_address() {
        for (address, host, is_https) in [
            (
                "https://gatehouse.example.com",
                "gatehouse.example.com",
                true,
            ),
            (
                "https://gatehouse.example.com:8200/",
                "gatehouse.example.com:8200",
                true,
            ),
            ("http://[2001:db8::1]:3000", "[2001:db8::1]:3000", false),
            ("http://localhost:80", "localhost", false),
        ] {
            assert_eq!(
                links_of(address),
                Some((host.to_owned(), is_https)),
                "{address}"
            );
        }
    }

    #[test]
    fn what_is_no_address_of_a_server_is_refused() {
        for address in [
            "gatehouse.example.com",
            "ftp://gatehouse.example.com",
            "https://",
            "https://user@gatehouse.example.com",
            "https://gatehouse.example.com/under/a/path",
            "https://gatehouse.example.com/?x",
        ] {
            assert_eq!(links_of(address), None, "{address}");
        }
    }
}
