//! The data keys, one for each term.

use std::collections::BTreeMap;
use std::fmt;

use gatehouse_ports::{Random, RandomError};
use zeroize::Zeroizing;

use crate::RootKey;
use crate::cipher::{ForgedError, KEY_BYTES, NONCE_BYTES, TAG_BYTES, Xaes};

/// The layout written by this version: a format byte, a nonce, the sealed terms, a tag.
const FORMAT: u8 = 1;
const DOMAIN: &[u8] = b"gatehouse keyring";
/// A term, as keyrings and records hold it.
pub(crate) const TERM_BYTES: usize = size_of::<u32>();

/// Most keys besides the one that seals. Beyond them a rotation waits until records have been sealed anew.
const MAXIMUM_EARLIER_TERMS: usize = 255;

/// The number of a data key. The first is 1; each rotation counts one up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Term(pub u32);

impl Term {
    const FIRST: Self = Self(1);
}

impl fmt::Display for Term {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

/// Why a keyring could not be opened, sealed or extended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum KeyringError {
    /// The root key is not the one that sealed it, or the bytes were altered; the two cannot be told apart.
    #[error("the keyring does not open: the root key is another one, or the keyring was altered")]
    WrongRootKey,
    /// A newer version of this software wrote it.
    #[error("the keyring has format {found}, and this version knows format {FORMAT}")]
    UnknownFormat {
        /// The number in its first byte.
        found: u8,
    },
    /// It is too short or holds something else than a keyring.
    #[error("the keyring is cut off or malformed")]
    Malformed,
    /// Neither numbers nor room are left for another term.
    #[error("the keyring has used up its terms")]
    NoTermLeft,
    /// Records are still sealed by as many earlier keys as a keyring holds.
    #[error(
        "the keyring holds {MAXIMUM_EARLIER_TERMS} earlier keys; rotate again once the records have been sealed anew"
    )]
    TooManyTerms,
    /// No key can be made without randomness.
    #[error(transparent)]
    Random(#[from] RandomError),
}

/// All data keys, the newest of which seals (SEC-K4).
///
/// Exists while keys are made, changed or handed to a [`Barrier`](crate::Barrier); at rest it is sealed bytes.
pub struct Keyring {
    active_term: Term,
    active_key: DataKey,
    earlier: BTreeMap<Term, DataKey>,
}

/// The bytes of one data key.
type DataKey = Zeroizing<[u8; KEY_BYTES]>;

impl Keyring {
    /// A keyring with one random key.
    ///
    /// # Errors
    ///
    /// When there is no randomness.
    pub fn generate(random: &impl Random) -> Result<Self, KeyringError> {
        Ok(Self {
            active_term: Term::FIRST,
            active_key: random_key(random)?,
            earlier: BTreeMap::new(),
        })
    }

    /// Adds a random key under the next term, which seals from then on. The keyring must be sealed and stored again before
    /// anything is sealed with it.
    ///
    /// # Errors
    ///
    /// When there is no randomness, or too many earlier keys are still needed.
    pub fn rotate(&mut self, random: &impl Random) -> Result<Term, KeyringError> {
        let next = self.active_term.0.checked_add(1).map(Term);
        let next = next.ok_or(KeyringError::NoTermLeft)?;
        if self.earlier.len() >= MAXIMUM_EARLIER_TERMS {
            return Err(KeyringError::TooManyTerms);
        }
        let retired = std::mem::replace(&mut self.active_key, random_key(random)?);
        self.earlier.insert(self.active_term, retired);
        self.active_term = next;
        Ok(next)
    }

    /// Drops all keys but the one that seals. What they sealed can never be opened again once the keyring is stored without them, so
    /// this is for when nothing is sealed by them any more.
    pub fn retire_earlier(&mut self) {
        self.earlier.clear();
    }

    /// The term whose key seals.
    #[must_use]
    pub const fn active_term(&self) -> Term {
        self.active_term
    }

    /// The keyring as bytes that only `root_key` opens.
    ///
    /// # Errors
    ///
    /// When there is no randomness.
    pub fn seal(&self, root_key: &RootKey, random: &impl Random) -> Result<Vec<u8>, KeyringError> {
        let mut nonce = [0; NONCE_BYTES];
        random.fill(&mut nonce)?;
        // Room for all at once: a vector that grows would leave copies of keys behind.
        let length = (self.earlier.len() + 1) * (TERM_BYTES + KEY_BYTES);
        let mut terms = Zeroizing::new(Vec::with_capacity(length));
        let active = (&self.active_term, &self.active_key);
        for (term, key) in self.earlier.iter().chain([active]) {
            terms.extend_from_slice(&term.0.to_be_bytes());
            terms.extend_from_slice(&**key);
        }
        let tag = Xaes::new(root_key.bytes())
            .seal(&nonce, &associated_data(FORMAT), &mut terms)
            .ok_or(KeyringError::NoTermLeft)?;
        Ok([&[FORMAT], nonce.as_slice(), terms.as_slice(), &tag].concat())
    }

    /// Opens what [`Self::seal`] made.
    ///
    /// # Errors
    ///
    /// When `root_key` did not seal these bytes, or they are not a keyring that this version knows.
    pub fn open(root_key: &RootKey, sealed: &[u8]) -> Result<Self, KeyringError> {
        let (format, rest) = sealed.split_first().ok_or(KeyringError::Malformed)?;
        if *format != FORMAT {
            return Err(KeyringError::UnknownFormat { found: *format });
        }
        let (nonce, rest) = rest
            .split_first_chunk::<NONCE_BYTES>()
            .ok_or(KeyringError::Malformed)?;
        let (terms, tag) = rest
            .split_last_chunk::<TAG_BYTES>()
            .ok_or(KeyringError::Malformed)?;
        let mut terms = Zeroizing::new(terms.to_vec());
        Xaes::new(root_key.bytes())
            .open(nonce, &associated_data(FORMAT), &mut terms, tag)
            .map_err(|ForgedError| KeyringError::WrongRootKey)?;
        Self::parse(&terms)
    }

    pub(crate) fn active_key(&self) -> &[u8; KEY_BYTES] {
        &self.active_key
    }

    pub(crate) fn earlier_keys(&self) -> impl Iterator<Item = (Term, &[u8; KEY_BYTES])> {
        self.earlier.iter().map(|(term, key)| (*term, &**key))
    }

    fn parse(mut terms: &[u8]) -> Result<Self, KeyringError> {
        let mut earlier = BTreeMap::new();
        while !terms.is_empty() {
            let (term, rest) = terms
                .split_first_chunk::<TERM_BYTES>()
                .ok_or(KeyringError::Malformed)?;
            let (bytes, rest) = rest
                .split_first_chunk::<KEY_BYTES>()
                .ok_or(KeyringError::Malformed)?;
            let mut key = Zeroizing::new([0; KEY_BYTES]);
            key.copy_from_slice(bytes);
            earlier.insert(Term(u32::from_be_bytes(*term)), key);
            terms = rest;
        }
        let (active_term, active_key) = earlier.pop_last().ok_or(KeyringError::Malformed)?;
        Ok(Self {
            active_term,
            active_key,
            earlier,
        })
    }
}

fn random_key(random: &impl Random) -> Result<DataKey, RandomError> {
    let mut key = Zeroizing::new([0; KEY_BYTES]);
    random.fill(&mut *key)?;
    Ok(key)
}

fn associated_data(format: u8) -> Vec<u8> {
    [DOMAIN, &[format]].concat()
}

#[cfg(test)]
mod tests {
    use super::*;
    use gatehouse_ports::doubles::SeededRandom;

    fn root_key(seed: u64) -> RootKey {
        RootKey::generate(&SeededRandom::new(seed)).unwrap()
    }

    fn three_terms() -> Keyring {
        let random = SeededRandom::new(7);
        let mut keyring = Keyring::generate(&random).unwrap();
        assert_eq!(keyring.rotate(&random), Ok(Term(2)));
        assert_eq!(keyring.rotate(&random), Ok(Term(3)));
        keyring
    }

    #[test]
    fn k2_a_sealed_keyring_opens_with_its_root_key_and_holds_the_same_keys() {
        let keyring = three_terms();
        let sealed = keyring.seal(&root_key(1), &SeededRandom::new(2)).unwrap();
        let opened = Keyring::open(&root_key(1), &sealed).unwrap();
        assert_eq!(opened.active_term(), Term(3));
        assert!(opened.active_key == keyring.active_key);
        assert!(opened.earlier == keyring.earlier);
    }

    #[test]
    fn k2_another_root_key_opens_nothing() {
        let sealed = three_terms()
            .seal(&root_key(1), &SeededRandom::new(2))
            .unwrap();
        let error = Keyring::open(&root_key(9), &sealed).err();
        assert_eq!(error, Some(KeyringError::WrongRootKey));
    }

    #[test]
    fn k1_a_keyring_with_any_bit_flipped_or_any_byte_cut_does_not_open() {
        let sealed = three_terms()
            .seal(&root_key(1), &SeededRandom::new(2))
            .unwrap();
        for bit in 0..sealed.len() * 8 {
            let mut altered = sealed.clone();
            altered[bit / 8] ^= 1 << (bit % 8);
            assert!(Keyring::open(&root_key(1), &altered).is_err(), "bit {bit}");
        }
        for end in 0..sealed.len() {
            let cut = Keyring::open(&root_key(1), &sealed[..end]);
            assert!(cut.is_err(), "cut to {end} bytes");
        }
    }

    #[test]
    fn k2_no_key_shows_in_the_sealed_bytes() {
        let keyring = three_terms();
        let sealed = keyring.seal(&root_key(1), &SeededRandom::new(2)).unwrap();
        for key in keyring.earlier.values().chain([&keyring.active_key]) {
            assert!(!sealed.windows(8).any(|window| key.starts_with(window)));
        }
    }

    #[test]
    fn k4_a_retired_key_is_in_no_keyring_that_is_stored_afterwards() {
        let mut keyring = three_terms();
        let active = keyring.active_key.clone();
        keyring.retire_earlier();
        let sealed = keyring.seal(&root_key(1), &SeededRandom::new(2)).unwrap();
        let opened = Keyring::open(&root_key(1), &sealed).unwrap();
        assert_eq!(opened.active_term(), Term(3));
        assert!(opened.active_key == active);
        assert!(opened.earlier.is_empty());
    }

    #[test]
    fn k4_a_keyring_holds_a_bounded_number_of_earlier_keys() {
        let random = SeededRandom::new(7);
        let mut keyring = Keyring::generate(&random).unwrap();
        for _ in 0..MAXIMUM_EARLIER_TERMS {
            keyring.rotate(&random).unwrap();
        }
        let last = keyring.active_term();
        assert_eq!(keyring.rotate(&random), Err(KeyringError::TooManyTerms));
        assert_eq!(keyring.active_term(), last);
        keyring.retire_earlier();
        assert_eq!(keyring.rotate(&random), Ok(Term(last.0 + 1)));
    }

    #[test]
    fn k4_the_terms_end_with_an_error_and_not_with_a_key_replaced() {
        let random = SeededRandom::new(7);
        let mut keyring = Keyring::generate(&random).unwrap();
        keyring.active_term = Term(u32::MAX);
        let key = keyring.active_key.clone();
        assert_eq!(keyring.rotate(&random), Err(KeyringError::NoTermLeft));
        assert!(keyring.active_key == key);
    }
}
