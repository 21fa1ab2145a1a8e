//! Statements that a root key vouches for, without anything being encrypted.

use gatehouse_ports::{Random, RandomError};

use crate::RootKey;
use crate::cipher::{NONCE_BYTES, TAG_BYTES, Xaes};

/// The layout written by this version: a nonce, and the tag of the statement under the root key.
const FORMAT: u8 = 1;
/// Keeps statements apart from keyrings, which the same key seals. No purpose begins it.
const DOMAIN: &[u8] = b"gatehouse attestation";

/// Bytes of an attestation.
pub const ATTESTATION_BYTES: usize = NONCE_BYTES + TAG_BYTES;

impl RootKey {
    /// Bytes that prove, to every holder of this key, that one of them made `statement` for `purpose`. They say nothing about the key. Nonces
    /// are random, as for everything under this key, so the same statement is attested by other bytes each time.
    ///
    /// `purpose` is a constant of the caller, of at most 255 bytes.
    ///
    /// # Errors
    ///
    /// When there is no randomness.
    pub fn attest(
        &self,
        purpose: &str,
        statement: &[u8],
        random: &impl Random,
    ) -> Result<[u8; ATTESTATION_BYTES], RandomError> {
        let mut nonce = [0; NONCE_BYTES];
        random.fill(&mut nonce)?;
        let associated_data = associated_data(purpose, statement);
        let tag = Xaes::new(self.bytes()).seal(&nonce, &associated_data, &mut []);
        // Nothing is encrypted, so nothing is too long.
        let tag = tag.ok_or(RandomError)?;
        let mut attestation = [0; ATTESTATION_BYTES];
        for (to, from) in attestation.iter_mut().zip(nonce.into_iter().chain(tag)) {
            *to = from;
        }
        Ok(attestation)
    }

    /// True if [`Self::attest`] made `attestation` by this key, for this purpose and statement.
    #[must_use]
    pub fn has_attested(&self, purpose: &str, statement: &[u8], attestation: &[u8]) -> bool {
        let Some((nonce, tag)) = attestation.split_first_chunk::<NONCE_BYTES>() else {
            return false;
        };
        let Ok(tag) = <&[u8; TAG_BYTES]>::try_from(tag) else {
            return false;
        };
        let associated_data = associated_data(purpose, statement);
        Xaes::new(self.bytes())
            .open(nonce, &associated_data, &mut [], tag)
            .is_ok()
    }
}

/// No two pairs of a purpose and a statement yield the same bytes.
fn associated_data(purpose: &str, statement: &[u8]) -> Vec<u8> {
    let length = u8::try_from(purpose.len()).unwrap_or(u8::MAX);
    [DOMAIN, &[FORMAT, length], purpose.as_bytes(), statement].concat()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Keyring;
    use gatehouse_ports::doubles::{NoRandom, SeededRandom};

    fn key(seed: u64) -> RootKey {
        RootKey::generate(&SeededRandom::new(seed)).unwrap()
    }

    #[test]
    fn s11_a_statement_is_proven_by_the_key_that_attested_it_and_by_no_other() {
        let attestation = key(1).attest("backup", b"digest", &SeededRandom::new(2));
        let attestation = attestation.unwrap();
        assert!(key(1).has_attested("backup", b"digest", &attestation));
        assert!(!key(3).has_attested("backup", b"digest", &attestation));
        assert!(!key(1).has_attested("backup", b"digesT", &attestation));
        assert!(!key(1).has_attested("backu", b"pdigest", &attestation));
        assert!(!key(1).has_attested("another", b"digest", &attestation));
    }

    #[test]
    fn s11_no_altered_or_cut_attestation_proves_anything() {
        let attestation = key(1).attest("backup", b"digest", &SeededRandom::new(2));
        let attestation = attestation.unwrap();
        for bit in 0..attestation.len() * 8 {
            let mut altered = attestation;
            altered[bit / 8] ^= 1 << (bit % 8);
            assert!(!key(1).has_attested("backup", b"digest", &altered), "{bit}");
        }
        for end in 0..attestation.len() {
            assert!(!key(1).has_attested("backup", b"digest", &attestation[..end]));
        }
        let longer = [&attestation[..], &[0]].concat();
        assert!(!key(1).has_attested("backup", b"digest", &longer));
    }

    #[test]
    fn s11_a_keyring_is_no_attestation_and_an_attestation_no_keyring() {
        let random = SeededRandom::new(2);
        let sealed = Keyring::generate(&random).unwrap().seal(&key(1), &random);
        let sealed = sealed.unwrap();
        assert!(!key(1).has_attested("backup", b"", &sealed));
        assert!(!key(1).has_attested("backup", b"", &sealed[1..=ATTESTATION_BYTES]));
        let attestation = key(1).attest("backup", b"", &random).unwrap();
        assert!(Keyring::open(&key(1), &attestation).is_err());
        assert!(Keyring::open(&key(1), &[&[1], &attestation[..]].concat()).is_err());
    }

    #[test]
    fn without_randomness_nothing_is_attested() {
        assert_eq!(
            key(1).attest("backup", b"digest", &NoRandom),
            Err(RandomError)
        );
    }
}
