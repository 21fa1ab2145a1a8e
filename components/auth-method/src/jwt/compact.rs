//! The compact form: three parts, strictly encoded.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use gatehouse_json::{JsonError, document};
use jsonwebtoken::signature::Verifier as _;
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};

use super::Claims;
use crate::JwtError;
use crate::rs256::VerifyingKey;

/// Longest token, in bytes.
const MAXIMUM_TOKEN_BYTES: usize = 16 * 1024;
/// Longest name of a key, in bytes.
const MAXIMUM_KEY_ID_BYTES: usize = 256;
/// How deep objects and arrays of the header and of the claims may nest (SEC-J7).
const MAXIMUM_DEPTH: usize = 16;

/// A token of the right form. Nothing it says is proven.
#[derive(Clone)]
pub(crate) struct UnverifiedJwt<'a> {
    signing_input: &'a str,
    signature: Vec<u8>,
    key_id: String,
    claims: Claims,
}

/// A token whose signature is by a known key.
#[derive(Clone)]
pub(crate) struct VerifiedJwt {
    key_id: String,
    signature: Vec<u8>,
    claims: Claims,
}

impl<'a> UnverifiedJwt<'a> {
    /// Reads `token`, around which nothing may stand, blanks neither.
    pub(crate) fn parse(token: &'a str) -> Result<Self, JwtError> {
        if token.len() > MAXIMUM_TOKEN_BYTES {
            return Err(JwtError::TooLong);
        }
        let (signing_input, signature) = token.rsplit_once('.').ok_or(JwtError::NotThreeParts)?;
        let (header, claims) = signing_input
            .split_once('.')
            .ok_or(JwtError::NotThreeParts)?;
        let parts = [header, claims, signature];
        if parts.iter().any(|part| part.is_empty()) || claims.contains('.') {
            return Err(JwtError::NotThreeParts);
        }
        let key_id = key_id_of(&object(header, JwtError::Header)?)?;
        let signature = decode(signature)?;
        let claims = Claims::from_members(&object(claims, JwtError::Claims)?);
        Ok(Self {
            signing_input,
            signature,
            key_id,
            claims,
        })
    }

    /// Names a key within a document that is chosen by other means; 1 to 256 printable ASCII characters.
    pub(crate) fn key_id(&self) -> &str {
        &self.key_id
    }

    /// The claims, unproven: good for cheap refusals and for choosing where to look for a key.
    pub(crate) const fn claims(&self) -> &Claims {
        &self.claims
    }

    /// The token as proven by `key`; `None` when the signature is by another one.
    pub(crate) fn verify(self, key: &VerifyingKey) -> Option<VerifiedJwt> {
        key.verify(self.signing_input.as_bytes(), &self.signature)
            .ok()?;
        Some(VerifiedJwt {
            key_id: self.key_id,
            signature: self.signature,
            claims: self.claims,
        })
    }
}

impl VerifiedJwt {
    /// The claims that the holder of the key has signed.
    pub(crate) const fn claims(&self) -> &Claims {
        &self.claims
    }

    /// Names the token among all others: a hash of which key signed it and how. Two tokens with one fingerprint are one.
    pub(crate) fn fingerprint(&self) -> String {
        let mut hash = Sha256::new();
        hash.update(self.key_id.as_bytes());
        hash.update([0]);
        hash.update(&self.signature);
        URL_SAFE_NO_PAD.encode(hash.finalize())
    }
}

fn decode(part: &str) -> Result<Vec<u8>, JwtError> {
    URL_SAFE_NO_PAD
        .decode(part)
        .map_err(|_| JwtError::NotBase64Url)
}

fn object(part: &str, flaw: JwtError) -> Result<Map<String, Value>, JwtError> {
    match document(&decode(part)?, MAXIMUM_DEPTH) {
        Ok(Value::Object(members)) => Ok(members),
        Err(JsonError::TooDeep(_) | JsonError::TooManyMembers) => Err(JwtError::TooComplex),
        Ok(_) | Err(_) => Err(flaw),
    }
}

/// Checks the header. Members that carry or point to keys are not even looked at (SEC-J9).
fn key_id_of(header: &Map<String, Value>) -> Result<String, JwtError> {
    let is_text = |name: &str, expected: &str| matches!(header.get(name), Some(Value::String(text)) if text == expected);
    if !is_text("alg", "RS256") {
        return Err(JwtError::Algorithm);
    }
    if ["crit", "b64", "zip"]
        .iter()
        .any(|name| header.contains_key(*name))
    {
        return Err(JwtError::Extension);
    }
    match header.get("typ") {
        None => {}
        Some(Value::String(text)) if text.eq_ignore_ascii_case("JWT") => {}
        Some(_) => return Err(JwtError::Type),
    }
    match header.get("kid") {
        Some(Value::String(key_id))
            if (1..=MAXIMUM_KEY_ID_BYTES).contains(&key_id.len())
                && key_id.bytes().all(|byte| (0x20..0x7f).contains(&byte)) =>
        {
            Ok(key_id.clone())
        }
        _ => Err(JwtError::KeyId),
    }
}
