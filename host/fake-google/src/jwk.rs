//! Public keys of others, as JWK sets publish them (RFC 7517).

use aws_lc_rs::signature::{RSA_PKCS1_2048_8192_SHA256, RsaPublicKeyComponents};
use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use serde::Deserialize;

/// A published set of keys.
#[derive(Clone, Debug, Default, Deserialize)]
pub(crate) struct KeySet {
    keys: Vec<Jwk>,
}

/// One key; those for other algorithms have no modulus and verify nothing.
#[derive(Clone, Debug, Deserialize)]
struct Jwk {
    kty: String,
    kid: Option<String>,
    alg: Option<String>,
    #[serde(rename = "use")]
    purpose: Option<String>,
    n: Option<String>,
    e: Option<String>,
}

impl KeySet {
    /// True if a key with this identifier made this RS256 signature.
    pub(crate) fn verifies(&self, key_id: &str, message: &[u8], signature: &[u8]) -> bool {
        self.keys
            .iter()
            .filter(|key| key.kid.as_deref() == Some(key_id))
            .any(|key| key.verifies(message, signature).unwrap_or(false))
    }
}

impl Jwk {
    fn verifies(&self, message: &[u8], signature: &[u8]) -> Option<bool> {
        let for_signing = self
            .purpose
            .as_deref()
            .is_none_or(|purpose| purpose == "sig");
        let for_rs256 = self
            .alg
            .as_deref()
            .is_none_or(|algorithm| algorithm == "RS256");
        if self.kty != "RSA" || !for_signing || !for_rs256 {
            return None;
        }
        let decode = |part: &Option<String>| BASE64_URL_SAFE_NO_PAD.decode(part.as_ref()?).ok();
        let key = RsaPublicKeyComponents {
            n: decode(&self.n)?,
            e: decode(&self.e)?,
        };
        Some(
            key.verify(&RSA_PKCS1_2048_8192_SHA256, message, signature)
                .is_ok(),
        )
    }
}
