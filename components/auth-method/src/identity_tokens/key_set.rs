//! The keys of the issuer over time. A key is published before it signs, and stays published until the last token that it signed has
//! expired.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use gatehouse_storage::{Record, StorageError};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

use crate::PublicKey;
use crate::jwt::CLOCK_SKEW;
use crate::rs256::SigningKey;

/// Seconds that a key is published before it signs: as long as relying parties may keep the key set.
const PUBLISHED_BEFORE_USE: u64 = 3600;
/// Seconds of validity that tokens of a new key may have without the key being told.
const USUAL_LIFETIME: u64 = 24 * 3600;
/// 65537, big-endian.
const EXPONENT: [u8; 3] = [1, 0, 1];

/// All keys that matter, the newest first.
#[derive(Clone, Default, Serialize, Deserialize)]
pub(super) struct KeySet {
    keys: Vec<StoredKey>,
}

impl Record for KeySet {
    const SCHEMA: u16 = 1;
}

/// It has no `Debug`: it holds a private key.
#[derive(Clone, Serialize, Deserialize, ZeroizeOnDrop)]
struct StoredKey {
    key_id: String,
    /// Both big-endian, in base64url. The exponent is empty when the key does not sign any more.
    modulus: String,
    private_exponent: String,
    /// Seconds since 1970.
    made_at: u64,
    /// Seconds since 1970.
    signs_from: u64,
    /// Seconds of validity of the longest-lived token that it may have signed.
    longest_lifetime: u64,
}

impl KeySet {
    /// True if the newest key is `longest_age` seconds old, or there is none.
    pub(super) fn is_due(&self, now: u64, longest_age: u64) -> bool {
        let newest = self.keys.first();
        newest.is_none_or(|key| now.saturating_sub(key.made_at) >= longest_age)
    }

    /// When the newest key was made, in seconds since 1970; `None` without keys.
    pub(super) fn newest_made_at(&self) -> Option<u64> {
        self.keys.first().map(|key| key.made_at)
    }

    /// Adds a new key. The first signs at once, since there is no other.
    pub(super) fn add(&mut self, key: &SigningKey, now: u64) {
        self.keys = self.published(now).cloned().collect();
        let current = self.position_of_signing(now);
        for retired in self.keys.iter_mut().skip(current.map_or(0, |at| at + 1)) {
            retired.private_exponent.zeroize();
        }
        let modulus = URL_SAFE_NO_PAD.encode(key.verifying_key().modulus_bytes());
        let signs_from = match current {
            Some(_) => now.saturating_add(PUBLISHED_BEFORE_USE),
            None => now,
        };
        self.keys.insert(
            0,
            StoredKey {
                key_id: thumbprint(&modulus),
                modulus,
                private_exponent: URL_SAFE_NO_PAD.encode(key.private_exponent()),
                made_at: now,
                signs_from,
                longest_lifetime: USUAL_LIFETIME,
            },
        );
    }

    /// Lets the key that signs do so for `lifetime` seconds; whether that changed anything.
    pub(super) fn allow_lifetime(&mut self, now: u64, lifetime: u64) -> bool {
        // Between now and the signature the next key may have begun to sign.
        let usable = self.position_of_signing(now).map_or(0, |at| at + 1);
        let mut changed = false;
        for key in self.keys.iter_mut().take(usable) {
            if key.longest_lifetime < lifetime {
                key.longest_lifetime = lifetime;
                changed = true;
            }
        }
        changed
    }

    /// The key that signs now, with its name.
    pub(super) fn signing_key(&self, now: u64) -> Result<(String, SigningKey), StorageError> {
        let at = self.position_of_signing(now);
        let stored = at.and_then(|at| self.keys.get(at));
        let stored = stored.ok_or(StorageError::Malformed)?;
        let decode = |text: &str| URL_SAFE_NO_PAD.decode(text).ok();
        let modulus = decode(&stored.modulus).ok_or(StorageError::Malformed)?;
        let exponent = decode(&stored.private_exponent).ok_or(StorageError::Malformed)?;
        let exponent = Zeroizing::new(exponent);
        let key = SigningKey::from_components(&modulus, &exponent)
            .map_err(|_| StorageError::Malformed)?;
        Ok((stored.key_id.clone(), key))
    }

    /// The public keys for relying parties.
    pub(super) fn listed(&self, now: u64) -> Vec<PublicKey> {
        let public = |key: &StoredKey| PublicKey {
            key_id: key.key_id.clone(),
            modulus: URL_SAFE_NO_PAD.decode(&key.modulus).unwrap_or_default(),
            exponent: EXPONENT.to_vec(),
        };
        self.published(now).map(public).collect()
    }

    /// The newest whose time has come; after a clock has gone back, the oldest that still can.
    fn position_of_signing(&self, now: u64) -> Option<usize> {
        let signs = |key: &StoredKey| !key.private_exponent.is_empty();
        self.keys
            .iter()
            .position(|key| signs(key) && key.signs_from <= now)
            .or_else(|| self.keys.iter().rposition(signs))
    }

    fn published(&self, now: u64) -> impl Iterator<Item = &StoredKey> {
        let successors = std::iter::once(None).chain(self.keys.iter().map(Some));
        self.keys
            .iter()
            .zip(successors)
            .filter(move |(key, successor)| {
                successor.is_none_or(|successor| {
                    let last_token = successor.signs_from.saturating_add(key.longest_lifetime);
                    now <= last_token.saturating_add(CLOCK_SKEW)
                })
            })
            .map(|(key, _)| key)
    }
}

/// A name that follows from the key (RFC 7638).
fn thumbprint(modulus: &str) -> String {
    let canonical = format!(r#"{{"e":"AQAB","kty":"RSA","n":"{modulus}"}}"#);
    URL_SAFE_NO_PAD.encode(Sha256::digest(canonical))
}

#[cfg(test)]
mod tests {
    use super::{KeySet, StoredKey};

    #[test]
    fn k6_the_keys_of_identity_tokens_cannot_be_printed() {
        gatehouse_ports::assert_lacks!([KeySet, StoredKey], [std::fmt::Debug, std::fmt::Display]);
    }
}
