//! Base URLs of issuers.

use gatehouse_storage::Record;
use serde::{Deserialize, Serialize};
use url::Url;

use crate::google::is_loopback;

const MAXIMUM_BYTES: usize = 512;

/// The base URL that an operator has set.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct IssuerRecord {
    pub(super) base_url: String,
}

impl Record for IssuerRecord {
    const SCHEMA: u16 = 1;
}

/// The one spelling of `https://host[:port]` in `text`; `None` when it is something else. Relying parties compare issuers byte for byte.
pub(super) fn base_url(text: &str, allow_http_loopback: bool) -> Option<String> {
    // The URL standard would repair what is not a URL.
    let plain = |byte: u8| byte.is_ascii_graphic() && !b"\\@?#".contains(&byte);
    let (_, rest) = text.split_once("://")?;
    if text.len() > MAXIMUM_BYTES || !text.bytes().all(plain) || rest.starts_with('/') {
        return None;
    }
    let host_only = rest.strip_suffix('/').unwrap_or(rest);
    if host_only.contains('/') {
        return None;
    }
    let url = Url::parse(text).ok()?;
    let host = url.host()?;
    let is_allowed = match url.scheme() {
        "https" => true,
        "http" => allow_http_loopback && is_loopback(&host),
        _ => false,
    };
    is_allowed.then(|| url.origin().ascii_serialization())
}

#[cfg(test)]
mod tests {
    use super::base_url;

    #[test]
    fn contract_7_4_an_issuer_is_a_host_over_https() {
        for (text, expected) in [
            ("https://vault.example.com", "https://vault.example.com"),
            ("https://vault.example.com/", "https://vault.example.com"),
            (
                "https://Vault.example.com:8200",
                "https://vault.example.com:8200",
            ),
            ("https://vault.example.com:443", "https://vault.example.com"),
            ("https://192.0.2.7:8200", "https://192.0.2.7:8200"),
            ("https://[2001:db8::7]:8200", "https://[2001:db8::7]:8200"),
        ] {
            assert_eq!(base_url(text, false).as_deref(), Some(expected));
        }
        for text in [
            "http://vault.example.com",
            "http://127.0.0.1:8200",
            "vault.example.com",
            "https://",
            "https:///vault.example.com",
            "https://vault.example.com/v1",
            "https://vault.example.com//",
            "https://vault.example.com/..",
            "https://vault.example.com\\x",
            "https://user@vault.example.com",
            "https://:secret@vault.example.com",
            "https://vault.example.com?x=1",
            "https://vault.example.com#x",
            "https://vault example.com",
            " https://vault.example.com",
            "https://vault.example.com\n",
            "https://vault.example.com:port",
            "ftp://vault.example.com",
            "javascript://vault.example.com",
        ] {
            assert_eq!(base_url(text, false), None, "{text:?}");
        }
        assert_eq!(
            base_url(&format!("https://{}", "a".repeat(512)), false),
            None
        );
    }

    #[test]
    fn n4_plain_http_is_for_loopback_where_the_operator_allows_it() {
        assert!(base_url("http://127.0.0.1:8200", true).is_some());
        assert!(base_url("http://[::1]:8200", true).is_some());
        assert_eq!(base_url("http://vault.example.com", true), None);
    }
}
