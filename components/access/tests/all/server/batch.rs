//! Batch tokens to log in with, and to take apart.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use gatehouse_access::{Issued, Lifetime, TokenParameters, TokenType};

use super::policies;

/// The parameters of a role that asks for batch tokens.
pub fn batch() -> TokenParameters {
    TokenParameters {
        token_type: Some(TokenType::Batch),
        ..policies(&["dev"])
    }
}

/// The same with a time to live, in seconds.
pub fn living(ttl: u64) -> TokenParameters {
    TokenParameters {
        lifetime: Lifetime {
            ttl,
            ..Lifetime::default()
        },
        ..batch()
    }
}

/// The sealed bytes in the text of a batch token.
pub fn bytes_of(token: &str) -> Vec<u8> {
    let sealed = token.strip_prefix("hvb.").unwrap();
    URL_SAFE_NO_PAD.decode(sealed).unwrap()
}

/// The text that stands for `bytes`.
pub fn text_of(bytes: &[u8]) -> String {
    format!("hvb.{}", URL_SAFE_NO_PAD.encode(bytes))
}

/// The number of the key that a token names.
pub fn key_number(token: &Issued) -> u32 {
    let bytes = bytes_of(token.client_token.as_str());
    u32::from_be_bytes(*bytes.first_chunk().unwrap())
}
