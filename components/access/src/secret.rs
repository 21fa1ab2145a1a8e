//! Secrets: what a client presents, and the key that turns it into the name of a record.

use hmac::{Hmac, KeyInit, Mac};
use serde::{Deserialize, Serialize};
use sha2::Sha256;
use zeroize::Zeroizing;

/// The key under which identifiers are hashed, ready to use. It is wiped from memory when dropped, and cannot be printed.
#[derive(Clone)]
pub(crate) struct IdentifierHasher(Hmac<Sha256>);

impl IdentifierHasher {
    /// Length of the key in bytes.
    pub(crate) const KEY_BYTES: usize = 32;

    /// A hasher under `key`; `None` when the key has another length than [`Self::KEY_BYTES`].
    pub(crate) fn new(key: &[u8]) -> Option<Self> {
        if key.len() != Self::KEY_BYTES {
            return None;
        }
        Hmac::new_from_slice(key).ok().map(Self)
    }

    /// The hash of a client token. A lookup by it compares hashes only, so timing tells nothing about the token (SEC-T3).
    pub(crate) fn token(&self, id: &str) -> TokenHash {
        TokenHash(self.hash("token", &[id]))
    }

    /// The hash of an accessor.
    pub(crate) fn accessor(&self, accessor: &str) -> String {
        self.hash("accessor", &[accessor])
    }

    /// The hash of an alias, so that keys have one length and show no names.
    pub(crate) fn alias(&self, mount_id: &str, name: &str) -> String {
        self.hash("alias", &[mount_id, name])
    }

    /// The key of what a wrapping token gives out. Neither this hasher alone nor the token's hash leads to it.
    pub(crate) fn wrapping_key(&self, token: &str) -> Zeroizing<[u8; 32]> {
        Zeroizing::new(self.digest("wrapping-key", &[token]))
    }

    /// The key of what a token keeps, of which `salt` makes one for each sealing.
    pub(crate) fn cubbyhole_key(&self, token: &str, salt: &str) -> Zeroizing<[u8; 32]> {
        Zeroizing::new(self.digest("cubbyhole-key", &[token, salt]))
    }

    /// The hash of the name of a role of a mount.
    pub(crate) fn role(&self, mount_id: &str, name: &str) -> String {
        self.hash("role", &[mount_id, name])
    }

    /// The hash of the name of an entity.
    pub(crate) fn entity_name(&self, name: &str) -> String {
        self.hash("entity-name", &[name])
    }

    /// The hash of the name of a group.
    pub(crate) fn group_name(&self, name: &str) -> String {
        self.hash("group-name", &[name])
    }

    fn hash(&self, purpose: &str, parts: &[&str]) -> String {
        base16ct::lower::encode_string(&self.digest(purpose, parts))
    }

    fn digest(&self, purpose: &str, parts: &[&str]) -> [u8; 32] {
        let mut mac = self.0.clone();
        mac.update(purpose.as_bytes());
        for part in parts {
            // Every part is closed by a byte that no UTF-8 text contains, so no two lists of parts run together.
            mac.update(&[0xff]);
            mac.update(part.as_bytes());
        }
        mac.finalize().into_bytes().into()
    }
}

/// The keyed hash of a client token, in hexadecimal; names the token's record and reveals nothing about the token.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct TokenHash(String);

impl TokenHash {
    /// The hash that these digits are; `None` for anything but 64 hexadecimal digits in lower case.
    pub(crate) fn parse(digits: &str) -> Option<Self> {
        base16ct::lower::decode(digits, &mut [0; 32])
            .is_ok_and(|hash| hash.len() == 32)
            .then(|| Self(digits.to_owned()))
    }

    /// The 64 hexadecimal digits.
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn k6_t3_tokens_and_keys_can_be_neither_printed_nor_compared() {
        use crate::api::{
            ClientToken, Initialized, Issued, Parent, Request, TokenReference, WrapRequest,
            WrappingToken,
        };
        use crate::records::SystemRecord;
        gatehouse_ports::assert_lacks!(
            [
                ClientToken,
                Initialized,
                Issued,
                Parent,
                Request,
                TokenReference,
                WrapRequest,
                WrappingToken,
                IdentifierHasher,
                SystemRecord
            ],
            [std::fmt::Debug, std::fmt::Display, PartialEq]
        );
        gatehouse_ports::assert_lacks!(
            [
                ClientToken,
                Initialized,
                Issued,
                Parent,
                Request,
                TokenReference,
                WrapRequest,
                WrappingToken,
                IdentifierHasher
            ],
            [Serialize]
        );
    }

    #[test]
    fn t2_the_hash_depends_on_key_purpose_and_text() {
        let hasher = IdentifierHasher::new(&[1; 32]).unwrap();
        let other = IdentifierHasher::new(&[2; 32]).unwrap();
        let hash = hasher.token("hvs.x");
        assert_eq!(hash.as_str().len(), 64);
        assert_eq!(hash, hasher.token("hvs.x"));
        assert_ne!(hash, other.token("hvs.x"));
        assert_ne!(hash.as_str(), hasher.accessor("hvs.x"));
        assert_ne!(hasher.alias("ab", "c"), hasher.alias("a", "bc"));
        assert!(IdentifierHasher::new(&[1; 31]).is_none());
    }
}
