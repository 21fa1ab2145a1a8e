//! The compact form of a signed JWT (RFC 7515, RFC 7519): joining its parts and taking it apart.

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// The claims of a JWT.
pub type Claims = Map<String, Value>;

/// The text that a signature covers: both parts in base64url, joined by a dot.
pub(crate) fn signing_input(header: &[u8], payload: &[u8]) -> String {
    format!(
        "{}.{}",
        BASE64_URL_SAFE_NO_PAD.encode(header),
        BASE64_URL_SAFE_NO_PAD.encode(payload)
    )
}

/// A JWT taken apart, its signature not yet verified.
pub(crate) struct UnverifiedJwt<'a, Header, Payload> {
    /// The JOSE header.
    pub(crate) header: Header,
    /// The claims.
    pub(crate) payload: Payload,
    /// The text that the signature covers.
    pub(crate) signing_input: &'a str,
    /// The signature's bytes.
    pub(crate) signature: Vec<u8>,
}

impl<'a, Header: DeserializeOwned, Payload: DeserializeOwned> UnverifiedJwt<'a, Header, Payload> {
    /// Takes a JWT apart; none when it is not three base64url parts of which the first two are the expected JSON.
    pub(crate) fn parse(compact: &'a str) -> Option<Self> {
        let (signing_input, signature) = compact.rsplit_once('.')?;
        let (header, payload) = signing_input.split_once('.')?;
        Some(Self {
            header: decode_json(header)?,
            payload: decode_json(payload)?,
            signing_input,
            signature: BASE64_URL_SAFE_NO_PAD.decode(signature).ok()?,
        })
    }
}

fn decode_json<T: DeserializeOwned>(part: &str) -> Option<T> {
    serde_json::from_slice(&BASE64_URL_SAFE_NO_PAD.decode(part).ok()?).ok()
}
