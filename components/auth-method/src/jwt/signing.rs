//! Tokens that this server signs itself.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::Serialize;
use zeroize::Zeroizing;

use crate::rs256::SigningKey;

#[derive(Serialize)]
struct Header<'a> {
    alg: &'static str,
    typ: &'static str,
    kid: &'a str,
}

/// The compact form of `claims`, signed with RS256; `None` when the key cannot sign.
pub(crate) fn sign(
    key: &SigningKey,
    key_id: &str,
    claims: &impl Serialize,
) -> Option<Zeroizing<String>> {
    let header = Header {
        alg: "RS256",
        typ: "JWT",
        kid: key_id,
    };
    let mut token = Zeroizing::new(String::with_capacity(2048));
    URL_SAFE_NO_PAD.encode_string(serde_json::to_vec(&header).ok()?, &mut token);
    token.push('.');
    URL_SAFE_NO_PAD.encode_string(serde_json::to_vec(claims).ok()?, &mut token);
    let signature = key.sign(token.as_bytes()).ok()?;
    token.push('.');
    URL_SAFE_NO_PAD.encode_string(signature, &mut token);
    Some(token)
}
