//! Secrets: what a client presents, and the key that turns it into the name of a record.

use hmac::{Hmac, KeyInit, Mac};
use serde::{Deserialize, Serialize};
use sha2::Sha256;
use subtle::ConstantTimeEq as _;
use zeroize::Zeroizing;

use crate::random;

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
    pub(crate) fn accessor(&self, accessor: &str) -> TokenHash {
        TokenHash(self.hash("accessor", &[accessor]))
    }

    /// The names of the token `id`. The accessor is a part of the text's hash, and not a hash of its own: every request pays for each.
    pub(crate) fn names(&self, id: &str) -> TokenNames {
        let digest = self.digest("token", &[id]);
        let accessor = random::accessor_from(&digest);
        TokenNames {
            by_accessor: self.accessor(&accessor),
            accessor,
            by_text: TokenHash(base16ct::lower::encode_string(&digest)),
        }
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

/// The names of a token. Its record is under one of the two hashes: under that of its accessor if the server generated the token,
/// so that token and accessor lead to the same record; under that of its text if a person chose it or a release before this one
/// made it, whose accessors are independent and lead there by a record of their own.
///
/// The accessor is 142 bits of the keyed hash of the token. With it nobody gets closer to the token, not even knowing the key: the
/// token has 256 random bits. An identifier that was chosen may be short or be used again, so its accessor does not follow from it.
///
/// That 142 bits lead to the record makes no token easier to guess: it holds the hash of the token's text as well, all 256 bits of it,
/// of which 113 are shown nowhere, and without that the text is no token ([`TokenHash::is`]).
pub(crate) struct TokenNames {
    /// Its accessor, if the server generated it.
    pub(crate) accessor: String,
    pub(crate) by_accessor: TokenHash,
    pub(crate) by_text: TokenHash,
}

/// A keyed hash, in hexadecimal, that names a token's record and reveals nothing about the token; see [`TokenNames`].
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

    /// True if it is the same as `other`, in a time that does not depend on where they differ (SEC-T3).
    pub(crate) fn is(&self, other: &Self) -> bool {
        self.0.as_bytes().ct_eq(other.0.as_bytes()).into()
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
        assert_ne!(hash, hasher.accessor("hvs.x"));
        assert_ne!(hasher.alias("ab", "c"), hasher.alias("a", "bc"));
        assert!(IdentifierHasher::new(&[1; 31]).is_none());
    }

    #[test]
    fn t1_t2_the_accessor_of_a_generated_token_depends_on_key_and_token_and_names_its_record() {
        let hasher = IdentifierHasher::new(&[1; 32]).unwrap();
        let other = IdentifierHasher::new(&[2; 32]).unwrap();
        let names = hasher.names("hvs.x");
        assert_eq!(names.by_accessor, hasher.accessor(&names.accessor));
        assert_eq!(names.by_text, hasher.token("hvs.x"));
        assert_ne!(names.by_accessor, names.by_text);
        assert_eq!(names.accessor, hasher.names("hvs.x").accessor);
        assert_ne!(names.accessor, hasher.names("hvs.y").accessor);
        assert_ne!(names.accessor, other.names("hvs.x").accessor);
    }

    #[test]
    fn t3_hashes_are_the_same_only_in_all_their_digits() {
        let hash = TokenHash::parse(&"a".repeat(64)).unwrap();
        assert!(hash.is(&hash.clone()));
        for place in 0..64 {
            let mut digits = "a".repeat(64);
            digits.replace_range(place..=place, "b");
            assert!(!hash.is(&TokenHash::parse(&digits).unwrap()));
        }
        assert!(!hash.is(&TokenHash("a".repeat(63))));
    }
}
