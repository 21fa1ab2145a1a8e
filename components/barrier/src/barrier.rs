//! Sealing and opening records.

use std::collections::BTreeMap;

use gatehouse_ports::{Random, RandomError};

use crate::cipher::{ForgedError, NONCE_BYTES, TAG_BYTES};
use crate::keyring::TERM_BYTES;
use crate::record_cipher::{RecordCipher, RecordFormat};
use crate::{Keyring, Term};

/// A record begins with the number of its [`RecordFormat`]. The term, a nonce, the sealed body and a tag follow.
const FORMAT_BYTES: usize = 1;
const DOMAIN: &[u8] = b"gatehouse record";
const HEADER_BYTES: usize = FORMAT_BYTES + TERM_BYTES + NONCE_BYTES;
/// The body starts with the end of the record's life.
const EXPIRY_BYTES: usize = size_of::<u64>();
const NEVER: u64 = u64::MAX;

/// How many bytes longer a sealed record is than its value.
pub const SEALED_OVERHEAD_BYTES: usize = HEADER_BYTES + EXPIRY_BYTES + TAG_BYTES;

/// The place of a record, outside of which it does not open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Address<'a> {
    /// The name of the store, which no two stores of one installation share.
    pub store: &'a str,
    /// The whole key.
    pub key: &'a str,
}

/// The content of a sealed record.
#[derive(Clone, PartialEq, Eq)]
pub struct Record {
    /// The value.
    pub value: Vec<u8>,
    /// Milliseconds since 1970 from which on the record counts as absent, whatever the store says; `None` for never.
    pub expires_at: Option<u64>,
}

/// Why a sealed record was not opened. Nothing of it may be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum OpenError {
    /// The bytes were altered or cut, or belong to another address.
    #[error("a sealed record was altered or moved")]
    Forged,
    /// No key of the keyring has this term.
    #[error("a sealed record needs the data key of term {0}, which the keyring does not hold")]
    UnknownTerm(Term),
    /// A newer version of this software wrote it, or it was altered.
    #[error("a sealed record has format {found}, and this version knows formats 1 and 2")]
    UnknownFormat {
        /// The number in its first byte.
        found: u8,
    },
}

/// Why a record was not sealed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SealError {
    /// Nothing can be sealed without a fresh nonce.
    #[error(transparent)]
    Random(#[from] RandomError),
    /// The value is beyond the 64 GiB or more that the cipher takes.
    #[error("the value is too large to be sealed")]
    TooLarge,
}

/// The keys of an unlocked store, ready to seal and open records.
pub struct Barrier {
    /// Of the records that are sealed.
    format: RecordFormat,
    active_term: Term,
    active: RecordCipher,
    earlier: BTreeMap<Term, RecordCipher>,
}

impl Barrier {
    /// A barrier that seals with the active key of `keyring` and opens with all its keys.
    #[must_use]
    pub fn new(keyring: &Keyring) -> Self {
        let earlier = keyring.earlier_keys();
        Self {
            format: RecordFormat::HERE,
            active_term: keyring.active_term(),
            active: RecordCipher::new(keyring.active_key()),
            earlier: earlier
                .map(|(term, key)| (term, RecordCipher::new(key)))
                .collect(),
        }
    }

    /// The term whose key seals.
    #[must_use]
    pub const fn active_term(&self) -> Term {
        self.active_term
    }

    /// Seals `value` for `address`, together with the end of its life: milliseconds since 1970, `None` for never.
    ///
    /// # Errors
    ///
    /// When there is no randomness, or the value is too large.
    pub fn seal(
        &self,
        address: Address<'_>,
        value: &[u8],
        expires_at: Option<u64>,
        random: &impl Random,
    ) -> Result<Vec<u8>, SealError> {
        let mut nonce = [0; NONCE_BYTES];
        random.fill(&mut nonce)?;

        let mut sealed = Vec::with_capacity(value.len() + SEALED_OVERHEAD_BYTES);
        sealed.push(self.format.number());
        sealed.extend_from_slice(&self.active_term.0.to_be_bytes());
        sealed.extend_from_slice(&nonce);
        sealed.extend_from_slice(&expires_at.unwrap_or(NEVER).to_be_bytes());
        sealed.extend_from_slice(value);
        let associated_data = associated_data(self.format, self.active_term, address);
        let (_, body) = sealed.split_at_mut(HEADER_BYTES);
        let cipher = &self.active;
        let tag = cipher.seal(self.format, &nonce, &associated_data, body);
        sealed.extend_from_slice(&tag.ok_or(SealError::TooLarge)?);
        Ok(sealed)
    }

    /// Opens what [`Self::seal`] made for the same `address`.
    ///
    /// The caller, who has a clock, decides whether the record's life is over.
    ///
    /// # Errors
    ///
    /// When the bytes are not exactly what was sealed for this address under a key of this keyring.
    pub fn open(&self, address: Address<'_>, mut sealed: Vec<u8>) -> Result<Record, OpenError> {
        let (number, rest) = sealed.split_first_mut().ok_or(OpenError::Forged)?;
        let found = *number;
        let format = RecordFormat::from_number(found);
        let format = format.ok_or(OpenError::UnknownFormat { found })?;
        let (term, rest) = rest
            .split_first_chunk_mut::<TERM_BYTES>()
            .ok_or(OpenError::Forged)?;
        let term = Term(u32::from_be_bytes(*term));
        let (nonce, rest) = rest
            .split_first_chunk_mut::<NONCE_BYTES>()
            .ok_or(OpenError::Forged)?;
        let (body, tag) = rest
            .split_last_chunk_mut::<TAG_BYTES>()
            .ok_or(OpenError::Forged)?;
        let cipher = self.cipher(term).ok_or(OpenError::UnknownTerm(term))?;
        let associated_data = associated_data(format, term, address);
        cipher
            .open(format, nonce, &associated_data, body, tag)
            .map_err(|ForgedError| OpenError::Forged)?;

        let expires_at = body.first_chunk().ok_or(OpenError::Forged)?;
        let expires_at = Some(u64::from_be_bytes(*expires_at)).filter(|at| *at != NEVER);
        sealed.truncate(sealed.len() - TAG_BYTES);
        sealed.drain(..HEADER_BYTES + EXPIRY_BYTES);
        let value = sealed;
        Ok(Record { value, expires_at })
    }

    /// True if there are keys besides the one that seals.
    #[must_use]
    pub fn has_earlier_terms(&self) -> bool {
        !self.earlier.is_empty()
    }

    /// True if the key of `term` is among those that open.
    #[must_use]
    pub fn holds(&self, term: Term) -> bool {
        self.cipher(term).is_some()
    }

    /// The term that a sealed record names; `None` for bytes of no known format. Nothing is proven by it until it opens.
    #[must_use]
    pub fn term_of(sealed: &[u8]) -> Option<Term> {
        let (number, rest) = sealed.split_first()?;
        let (term, _) = rest.split_first_chunk::<TERM_BYTES>()?;
        RecordFormat::from_number(*number)?;
        Some(Term(u32::from_be_bytes(*term)))
    }

    fn cipher(&self, term: Term) -> Option<&RecordCipher> {
        if term == self.active_term {
            return Some(&self.active);
        }
        self.earlier.get(&term)
    }
}

/// The address that a sealed record is bound to. Lengths stand before texts, so that no two addresses give the same bytes.
fn associated_data(format: RecordFormat, term: Term, address: Address<'_>) -> Vec<u8> {
    let Address { store, key } = address;
    let mut bytes = Vec::with_capacity(DOMAIN.len() + 32 + store.len() + key.len());
    bytes.extend_from_slice(DOMAIN);
    bytes.push(format.number());
    bytes.extend_from_slice(&term.0.to_be_bytes());
    for text in [store, key] {
        bytes.extend_from_slice(&(text.len() as u64).to_be_bytes());
        bytes.extend_from_slice(text.as_bytes());
    }
    bytes
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::RootKey;
    use gatehouse_ports::doubles::SeededRandom;
    use proptest::prelude::*;

    const ADDRESS: Address<'_> = Address {
        store: "access",
        key: "token/1",
    };

    fn keyring() -> Keyring {
        Keyring::generate(&SeededRandom::new(1)).unwrap()
    }

    fn barrier() -> Barrier {
        Barrier::new(&keyring())
    }

    /// One for each format that a record can have.
    fn barriers() -> [Barrier; 2] {
        [RecordFormat::Xaes, RecordFormat::XChaCha].map(|format| Barrier {
            format,
            ..barrier()
        })
    }

    fn sealed(barrier: &Barrier, value: &[u8]) -> Vec<u8> {
        let random = SeededRandom::new(2);
        barrier.seal(ADDRESS, value, Some(5), &random).unwrap()
    }

    fn refusal(barrier: &Barrier, address: Address<'_>, sealed: &[u8]) -> Option<OpenError> {
        barrier.open(address, sealed.to_vec()).err()
    }

    #[test]
    fn k1_a_record_with_any_bit_flipped_does_not_open() {
        for barrier in barriers() {
            let sealed = sealed(&barrier, b"secret");
            for bit in 0..sealed.len() * 8 {
                let mut altered = sealed.clone();
                altered[bit / 8] ^= 1 << (bit % 8);
                assert!(refusal(&barrier, ADDRESS, &altered).is_some(), "bit {bit}");
            }
        }
    }

    #[test]
    fn k1_a_record_cut_or_extended_does_not_open() {
        for barrier in barriers() {
            let mut sealed = sealed(&barrier, b"secret");
            for end in 0..sealed.len() {
                let refusal = refusal(&barrier, ADDRESS, &sealed[..end]);
                assert_eq!(refusal, Some(OpenError::Forged), "cut to {end} bytes");
            }
            sealed.push(0);
            let refusal = refusal(&barrier, ADDRESS, &sealed);
            assert_eq!(refusal, Some(OpenError::Forged));
        }
    }

    #[test]
    fn k1_a_record_relabelled_as_the_other_format_does_not_open() {
        let [xaes, xchacha] = barriers();
        for (barrier, other) in [(&xaes, &xchacha), (&xchacha, &xaes)] {
            let mut sealed = sealed(barrier, b"secret");
            assert_eq!(sealed[0], barrier.format.number());
            sealed[0] = other.format.number();
            let refusal = refusal(barrier, ADDRESS, &sealed);
            assert_eq!(refusal, Some(OpenError::Forged));
        }
    }

    #[test]
    fn records_of_each_format_open_where_the_other_one_is_sealed() {
        let [xaes, xchacha] = barriers();
        for (from, to) in [(&xaes, &xchacha), (&xchacha, &xaes)] {
            let sealed = sealed(from, b"moved");
            assert_eq!(Barrier::term_of(&sealed), Some(Term(1)));
            let opened = to.open(ADDRESS, sealed).ok().unwrap();
            assert_eq!(
                (opened.value.as_slice(), opened.expires_at),
                (&b"moved"[..], Some(5))
            );
        }
    }

    #[test]
    fn a_record_is_sealed_as_it_was_in_earlier_releases() {
        let sealed = barriers().map(|barrier| sealed(&barrier, b"a value"));
        assert_eq!(
            sealed.map(|sealed| base16ct::lower::encode_string(&sealed)),
            [
                "0100000001ce56971cde355897421efc0b1046c8bf2f537eddbfbc7b98fd16fc82a73f1c2f3737c7e631d622ad8c465fd94cbb81157683ba5205d5e6",
                "0200000001ce56971cde355897421efc0b1046c8bf2f537eddbfbc7b9801846bf9a9598323c37ab454687c2bf5dddef656a0474860725d5006024b29"
            ]
        );
    }

    #[test]
    fn k1_two_records_exchanged_do_not_open() {
        let (barrier, random) = (barrier(), SeededRandom::new(2));
        let one = Address {
            key: "a",
            ..ADDRESS
        };
        let other = Address {
            key: "b",
            ..ADDRESS
        };
        let of_one = barrier.seal(one, b"1", None, &random).unwrap();
        let of_other = barrier.seal(other, b"2", None, &random).unwrap();
        let forged = Some(OpenError::Forged);
        assert_eq!(refusal(&barrier, one, &of_other), forged);
        assert_eq!(refusal(&barrier, other, &of_one), forged);
    }

    #[test]
    fn k1_a_record_moved_to_another_store_does_not_open() {
        let barrier = barrier();
        let sealed = sealed(&barrier, b"secret");
        let elsewhere = Address {
            store: "orgs",
            ..ADDRESS
        };
        let refusal = refusal(&barrier, elsewhere, &sealed);
        assert_eq!(refusal, Some(OpenError::Forged));
    }

    #[test]
    fn k1_the_border_between_store_and_key_is_bound() {
        let (barrier, random) = (barrier(), SeededRandom::new(2));
        let address = |store, key| Address { store, key };
        let sealed = barrier.seal(address("a", "bc"), b"", None, &random);
        let refusal = refusal(&barrier, address("ab", "c"), &sealed.unwrap());
        assert_eq!(refusal, Some(OpenError::Forged));
    }

    #[test]
    fn k1_a_record_of_a_later_format_does_not_open() {
        for barrier in barriers() {
            let mut sealed = sealed(&barrier, b"in a later format");
            sealed[0] = 3;
            assert_eq!(
                refusal(&barrier, ADDRESS, &sealed),
                Some(OpenError::UnknownFormat { found: 3 })
            );
            assert_eq!(Barrier::term_of(&sealed), None);
        }
    }

    #[test]
    fn k1_a_sealed_keyring_is_no_record() {
        let root_key = RootKey::generate(&SeededRandom::new(3)).unwrap();
        let sealed = keyring().seal(&root_key, &SeededRandom::new(4)).unwrap();
        assert!(refusal(&barrier(), ADDRESS, &sealed).is_some());
    }

    #[test]
    fn k4_what_earlier_terms_sealed_stays_readable_after_a_rotation() {
        let mut keyring = keyring();
        let before = Barrier::new(&keyring);
        let old = sealed(&before, b"old");
        keyring.rotate(&SeededRandom::new(9)).unwrap();
        let after = Barrier::new(&keyring);
        let new = sealed(&after, b"new");

        assert_eq!(after.open(ADDRESS, old).ok().unwrap().value, b"old");
        assert_eq!(after.open(ADDRESS, new.clone()).ok().unwrap().value, b"new");
        assert_eq!(Barrier::term_of(&new), Some(Term(2)));
        assert!(after.has_earlier_terms() && after.holds(Term(1)));
        assert!(!before.has_earlier_terms() && !before.holds(Term(2)));
        let unknown = Some(OpenError::UnknownTerm(Term(2)));
        assert_eq!(refusal(&before, ADDRESS, &new), unknown);
    }

    #[test]
    fn k4_a_record_relabelled_with_another_term_does_not_open() {
        let mut keyring = keyring();
        keyring.rotate(&SeededRandom::new(9)).unwrap();
        let barrier = Barrier::new(&keyring);
        let mut sealed = sealed(&barrier, b"new");
        sealed[TERM_BYTES] = 1;
        let refusal = refusal(&barrier, ADDRESS, &sealed);
        assert_eq!(refusal, Some(OpenError::Forged));
    }

    #[test]
    fn k4_no_nonce_is_used_twice() {
        let (barrier, random) = (barrier(), gatehouse_ports::OsRandom);
        let nonce = |_| {
            let sealed = barrier.seal(ADDRESS, b"", None, &random).unwrap();
            sealed[1 + TERM_BYTES..HEADER_BYTES].to_vec()
        };
        let nonces: HashSet<_> = (0..10_000).map(nonce).collect();
        assert_eq!(nonces.len(), 10_000);
    }

    proptest! {
        #[test]
        fn any_value_opens_as_it_was_sealed(
            value in proptest::collection::vec(any::<u8>(), 0..2000),
            expires_at in proptest::option::of(0..NEVER),
            store in ".*",
            key in ".*",
        ) {
            for barrier in barriers() {
                let random = SeededRandom::new(2);
                let address = Address { store: &store, key: &key };
                let sealed = barrier.seal(address, &value, expires_at, &random).unwrap();
                prop_assert_eq!(sealed.len(), value.len() + SEALED_OVERHEAD_BYTES);
                let opened = barrier.open(address, sealed).ok().unwrap();
                prop_assert_eq!((&opened.value, opened.expires_at), (&value, expires_at));
            }
        }
    }
}
