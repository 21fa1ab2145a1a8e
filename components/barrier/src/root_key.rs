//! The key that seals the keyring.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use gatehouse_ports::{Random, RandomError};
use subtle::ConstantTimeEq as _;
use zeroize::Zeroizing;

use crate::cipher::{KEY_BYTES, NONCE_BYTES, TAG_BYTES, Xaes};
use crate::derivation::derive;

/// Bound to what seals a key for the holder of another one, so that nothing else passes for it. The last byte is the format: a nonce, the
/// sealed key, a tag.
const HANDOVER: &[u8] = b"gatehouse root key handover\x01";

/// Why a text is not a root key. The text itself is never repeated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RootKeyError {
    /// It is not one line of standard base64 with padding.
    #[error("a root key is one line of base64, which this is not")]
    NotBase64,
    /// It is cut off, or something else.
    #[error("a root key has {KEY_BYTES} bytes, and this has {found}")]
    WrongLength {
        /// Bytes after decoding.
        found: usize,
    },
    /// All bytes are the same, as in an example that was never filled in.
    #[error("all bytes of this root key are the same; generate a random one")]
    NotRandom,
}

/// 32 random bytes that seal the keyring and attest backups of it (SEC-K2). From them follow, as [`derived`](Self::derived) ones, the token
/// of a first start from a file, which ends with that start, and the key of the console's sessions. Kept apart from the store.
///
/// Written as one line of base64. It can be neither printed nor copied:
///
/// ```compile_fail,E0277
/// fn printed(key: &gatehouse_barrier::RootKey) -> String {
///     format!("{key:?}")
/// }
/// ```
///
/// ```compile_fail,E0599
/// fn copied(key: &gatehouse_barrier::RootKey) -> gatehouse_barrier::RootKey {
///     key.clone()
/// }
/// ```
pub struct RootKey(Zeroizing<[u8; KEY_BYTES]>);

impl RootKey {
    /// A new key.
    ///
    /// # Errors
    ///
    /// When there is no randomness.
    pub fn generate(random: &impl Random) -> Result<Self, RandomError> {
        let mut key = Zeroizing::new([0; KEY_BYTES]);
        random.fill(&mut *key)?;
        Ok(Self(key))
    }

    /// Reads a key as [`Self::to_text`] writes it; white space around the line does not matter.
    ///
    /// # Errors
    ///
    /// When the text is not such a line, or visibly no random key.
    pub fn from_text(text: &str) -> Result<Self, RootKeyError> {
        let decoded = STANDARD.decode(text.trim_ascii());
        let bytes = Zeroizing::new(decoded.map_err(|_| RootKeyError::NotBase64)?);
        let mut key = Zeroizing::new([0; KEY_BYTES]);
        if bytes.len() != KEY_BYTES {
            let found = bytes.len();
            return Err(RootKeyError::WrongLength { found });
        }
        key.copy_from_slice(&bytes);
        if key.iter().all(|byte| Some(byte) == key.first()) {
            return Err(RootKeyError::NotRandom);
        }
        Ok(Self(key))
    }

    /// One line of base64, without a line break.
    #[must_use]
    pub fn to_text(&self) -> Zeroizing<String> {
        Zeroizing::new(STANDARD.encode(*self.0))
    }

    /// Another value of the same key, wiped like this one. Not `Clone`: every copy of a key is one on purpose.
    #[must_use]
    pub fn duplicate(&self) -> Self {
        Self(self.0.clone())
    }

    /// True if both are the same key, found out in a time that does not depend on where they differ.
    #[must_use]
    pub fn is_same_as(&self, other: &Self) -> bool {
        self.0.ct_eq(&*other.0).into()
    }

    /// Bytes that follow from this key and say nothing about it: HMAC-SHA-256 of `label` under the text of the key.
    ///
    /// `label` is a constant of the caller, under which nothing else is derived. Whatever is sealed by what follows from it opens as long as
    /// neither the key nor the label changes.
    #[must_use]
    pub fn derived(&self, label: &[u8]) -> Zeroizing<[u8; KEY_BYTES]> {
        derive(self.to_text().bytes(), label)
    }

    /// This key as bytes that only `holder` opens.
    ///
    /// # Errors
    ///
    /// When there is no randomness.
    pub fn seal_for(&self, holder: &Self, random: &impl Random) -> Result<Vec<u8>, RandomError> {
        let mut nonce = [0; NONCE_BYTES];
        random.fill(&mut nonce)?;
        let mut key = self.0.clone();
        let sealed = Xaes::new(holder.bytes()).seal(&nonce, HANDOVER, &mut *key);
        let tag = sealed.ok_or(RandomError)?;
        Ok([nonce.as_slice(), key.as_slice(), &tag].concat())
    }

    /// The key that [`Self::seal_for`] sealed for `holder`; `None` for what was sealed for another one or altered.
    #[must_use]
    pub fn open_for(holder: &Self, sealed: &[u8]) -> Option<Self> {
        let (nonce, rest) = sealed.split_first_chunk::<NONCE_BYTES>()?;
        let (body, tag) = rest.split_last_chunk::<TAG_BYTES>()?;
        if body.len() != KEY_BYTES {
            return None;
        }
        let mut key = Zeroizing::new([0; KEY_BYTES]);
        key.copy_from_slice(body);
        let opened = Xaes::new(holder.bytes()).open(nonce, HANDOVER, &mut *key, tag);
        opened.ok().map(|()| Self(key))
    }

    pub(crate) const fn from_bytes(bytes: Zeroizing<[u8; KEY_BYTES]>) -> Self {
        Self(bytes)
    }

    pub(crate) fn bytes(&self) -> &[u8; KEY_BYTES] {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gatehouse_ports::doubles::SeededRandom;

    #[test]
    fn k6_keys_and_their_shares_can_be_neither_printed_nor_copied() {
        use crate::{Barrier, KeyShare, Keyring};
        gatehouse_ports::assert_lacks!(
            [RootKey, KeyShare, Keyring, Barrier],
            [std::fmt::Debug, std::fmt::Display, Clone]
        );
    }

    fn refused(text: &str) -> Option<RootKeyError> {
        RootKey::from_text(text).err()
    }

    #[test]
    fn k2_a_key_survives_being_written_and_read() {
        let key = RootKey::generate(&SeededRandom::new(1)).unwrap();
        let line = format!("{}\n", *key.to_text());
        assert_eq!(RootKey::from_text(&line).unwrap().bytes(), key.bytes());
    }

    #[test]
    fn k2_keys_are_compared_as_a_whole() {
        let key = |seed| RootKey::generate(&SeededRandom::new(seed)).unwrap();
        assert!(key(1).is_same_as(&key(1).duplicate()));
        assert!(!key(1).is_same_as(&key(2)));
    }

    #[test]
    fn k2_what_follows_from_a_key_is_what_followed_from_it_in_earlier_releases() {
        let key = RootKey::from_text("AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=").unwrap();
        let derived = key.derived(b"gatehouse console session key 1");
        assert_eq!(
            base16ct::lower::encode_string(&*derived),
            "15560efc8695dc1fff283915bab07d5c80c8521797ab3e6f4f61f562d3b3b731"
        );
    }

    #[test]
    fn k2_other_bytes_follow_from_another_key_and_under_another_label() {
        let key = |seed| RootKey::generate(&SeededRandom::new(seed)).unwrap();
        let derived = key(1).derived(b"one");
        assert_eq!(derived, key(1).derived(b"one"));
        assert_ne!(derived, key(1).derived(b"two"));
        assert_ne!(derived, key(2).derived(b"one"));
        assert_ne!(&*derived, key(1).bytes());
    }

    #[test]
    fn k2_a_key_that_is_handed_over_opens_for_its_holder_alone() {
        let key = |seed| RootKey::generate(&SeededRandom::new(seed)).unwrap();
        let (next, holder) = (key(1), key(2));
        let sealed = next.seal_for(&holder, &SeededRandom::new(3)).unwrap();
        let opened = RootKey::open_for(&holder, &sealed).unwrap();
        assert!(opened.is_same_as(&next));
        assert!(RootKey::open_for(&key(4), &sealed).is_none());
        for bit in 0..sealed.len() * 8 {
            let mut altered = sealed.clone();
            altered[bit / 8] ^= 1 << (bit % 8);
            assert!(RootKey::open_for(&holder, &altered).is_none(), "bit {bit}");
        }
        for end in 0..sealed.len() {
            let cut = RootKey::open_for(&holder, &sealed[..end]);
            assert!(cut.is_none(), "cut to {end} bytes");
        }
    }

    #[test]
    fn k2_a_key_cut_at_any_place_is_refused() {
        let key = RootKey::generate(&SeededRandom::new(1)).unwrap();
        let text = key.to_text();
        for end in 0..text.len() {
            assert!(refused(&text[..end]).is_some(), "cut to {end} characters");
        }
        assert_eq!(refused(""), Some(RootKeyError::WrongLength { found: 0 }));
    }

    #[test]
    fn k2_text_that_is_no_random_key_is_refused() {
        assert_eq!(refused("not base64!"), Some(RootKeyError::NotBase64));
        let zeros = STANDARD.encode([0; KEY_BYTES]);
        assert_eq!(refused(&zeros), Some(RootKeyError::NotRandom));
        let two_lines = format!("{zeros}\n{zeros}");
        assert_eq!(refused(&two_lines), Some(RootKeyError::NotBase64));
    }
}
