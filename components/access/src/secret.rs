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

    /// The hash of an accessor: that of its token's record if the accessor follows from the token.
    pub(crate) fn accessor(&self, accessor: &str) -> TokenHash {
        let hash = self.hash("accessor", &[accessor]);
        match random::moment_of(accessor) {
            Some(moment) => TokenHash::of_moment(moment, &hash),
            None => TokenHash(hash),
        }
    }

    /// The names of the token `id`. The accessor is a part of the text's hash, and not a hash of its own: every request pays for each.
    /// A lookup compares hashes only, so timing tells nothing about the token (SEC-T3).
    pub(crate) fn names(&self, id: &str) -> TokenNames {
        let digest = self.digest("token", &[id]);
        let of_text = TokenHash(base16ct::lower::encode_string(&digest));
        match random::moment_characters_of_token(id) {
            None => TokenNames {
                hash: of_text,
                derived: None,
            },
            Some(moment) => {
                let accessor = random::accessor_from(moment, &digest);
                TokenNames {
                    hash: self.accessor(&accessor),
                    derived: Some(DerivedNames {
                        accessor,
                        proof: of_text,
                    }),
                }
            }
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

/// The first character of hashes that are in the order of time: no hexadecimal digit, so that they are apart from all others.
pub(crate) const IN_ORDER: &str = "t";
/// Characters of a [`TokenHash`].
const HASH_CHARACTERS: usize = 64;
/// Hexadecimal digits of the moment in a [`TokenHash`], which last until the year 2527.
const MOMENT_DIGITS: usize = 11;
const MAXIMUM_MOMENT: u64 = (1 << (4 * MOMENT_DIGITS)) - 1;

/// The names of a token. The form of its text decides which hash names its record, so that a lookup reads one key: that of its
/// accessor if it has the form of generated tokens, so that token and accessor lead to the same record; else that of its text, since
/// a person chose it or a release before this one made it, whose accessors are independent and lead there by a record of their own.
///
/// The accessor is the time that the token was made at and 107 bits of the keyed hash of the token. It brings its holder no closer to the
/// token, not even with the key: the token has 256 random bits. An identifier that was chosen may be short or be used again, so its
/// accessor does not follow from it. One that was chosen in the form of generated tokens is neither, and is named as they are: only
/// initialization takes it, and only once.
///
/// That 107 bits lead to the record makes no token easier to guess: it holds the hash of the token's text as well, all 256 bits of it,
/// of which 149 are shown nowhere, and without that the text is not a token ([`TokenRecord::is_of`](crate::records::TokenRecord::is_of)).
pub(crate) struct TokenNames {
    /// Names its record and what lies beside that.
    pub(crate) hash: TokenHash,
    /// `None` where the accessor is independent of the token.
    pub(crate) derived: Option<DerivedNames>,
}

/// Further names of a token in the form of generated ones.
pub(crate) struct DerivedNames {
    pub(crate) accessor: String,
    /// The hash of its text.
    pub(crate) proof: TokenHash,
}

/// A keyed hash that names a token's record and reveals nothing about the token but when it was made; see [`TokenNames`].
///
/// 64 characters. Under the hash of the text they are hexadecimal digits. Under that of the accessor they are [`IN_ORDER`], then
/// eleven digits of the milliseconds since 1970 at which the token was made, so that the records are in that order, then 52 of the hash.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct TokenHash(String);

impl TokenHash {
    /// The hash that these characters are; `None` for anything else.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let digits = text.strip_prefix(IN_ORDER).unwrap_or(text);
        let is_digit = |byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        (text.len() == HASH_CHARACTERS && digits.bytes().all(is_digit))
            .then(|| Self(text.to_owned()))
    }

    /// The name of a record among those of tokens made at other moments; `hash` is that of the accessor.
    fn of_moment(moment: u64, hash: &str) -> Self {
        let moment = moment & MAXIMUM_MOMENT;
        let digits = HASH_CHARACTERS - IN_ORDER.len() - MOMENT_DIGITS;
        let hash = hash.get(..digits).unwrap_or(hash);
        Self(format!("{IN_ORDER}{moment:0MOMENT_DIGITS$x}{hash}"))
    }

    /// The 64 characters.
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// True if it is that of an accessor which follows from its token.
    pub(crate) fn is_in_order(&self) -> bool {
        self.0.starts_with(IN_ORDER)
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
        let hash = hasher.names("hvs.x").hash;
        assert_eq!(hash.as_str().len(), 64);
        assert_eq!(hash, hasher.names("hvs.x").hash);
        assert_ne!(hash, other.names("hvs.x").hash);
        assert_ne!(hash, hasher.accessor("hvs.x"));
        assert_ne!(hasher.alias("ab", "c"), hasher.alias("a", "bc"));
        assert!(IdentifierHasher::new(&[1; 31]).is_none());
    }

    #[test]
    fn t1_t2_the_accessor_of_a_generated_token_depends_on_key_and_token_and_names_its_record() {
        let hasher = IdentifierHasher::new(&[1; 32]).unwrap();
        let other = IdentifierHasher::new(&[2; 32]).unwrap();
        let derived = |hasher: &IdentifierHasher, text: &str| hasher.names(text).derived.unwrap();
        let (x, y) = (generated("00000001x"), generated("00000001y"));
        let accessor = derived(&hasher, &x).accessor;
        let names = hasher.names(&x);
        assert_eq!(names.hash, hasher.accessor(&accessor));
        let of_text = base16ct::lower::encode_string(&hasher.digest("token", &[&x]));
        assert_eq!(names.derived.unwrap().proof.as_str(), of_text);
        assert_eq!(accessor, derived(&hasher, &x).accessor);
        assert_ne!(accessor, derived(&hasher, &y).accessor);
        assert_ne!(accessor, derived(&other, &x).accessor);
    }

    /// A text in the form of generated tokens that begins so.
    fn generated(beginning: &str) -> String {
        format!("hvs.{beginning:x<51}")
    }

    #[test]
    fn a_text_of_any_other_form_is_named_by_its_own_hash() {
        let hasher = IdentifierHasher::new(&[1; 32]).unwrap();
        for text in ["chosen", "hvs.x", &generated("")[1..], &generated("-")] {
            let names = hasher.names(text);
            assert!(names.derived.is_none() && !names.hash.is_in_order());
            let of_text = base16ct::lower::encode_string(&hasher.digest("token", &[text]));
            assert_eq!(names.hash.as_str(), of_text);
        }
    }

    #[test]
    fn the_records_of_generated_tokens_are_in_the_order_of_time_and_apart_from_others() {
        let hasher = IdentifierHasher::new(&[1; 32]).unwrap();
        let mut last = hasher.names("hvs.chosen").hash;
        assert!(!last.is_in_order());
        for beginning in ["00000001x", "0000000Ax", "00001000x", "0V000000a"] {
            let hash = hasher.names(&generated(beginning)).hash;
            assert_eq!(hash.as_str().len(), 64);
            assert_eq!(TokenHash::parse(hash.as_str()), Some(hash.clone()));
            assert!(hash.is_in_order() && last < hash);
            last = hash;
        }
    }

    #[test]
    fn what_is_no_hash_is_not_parsed() {
        for text in [
            "",
            "t",
            &"a".repeat(63),
            &"A".repeat(64),
            &"t".repeat(64),
            &"a".repeat(65),
        ] {
            assert_eq!(TokenHash::parse(text), None, "{text}");
        }
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
