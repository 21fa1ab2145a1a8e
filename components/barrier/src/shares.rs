//! A root key in pieces that different people keep: Shamir's scheme over GF(2^8), byte by byte.
//!
//! The arithmetic is that of the crate `vsss-rs`: constant-time, without tables, coefficients from the whole field (a generator that
//! leaves out zero betrays the secret to fewer holders than there should be). The bytes of a share are laid out as Vault's, so that
//! tools which put those together also put ours together.

use std::convert::Infallible;

use gatehouse_ports::{Random, RandomError};
use rand_core::{TryCryptoRng, TryRng};
use subtle::ConstantTimeEq as _;
use vsss_rs::Gf256;
use zeroize::Zeroizing;

use crate::RootKey;
use crate::cipher::KEY_BYTES;

/// Into how many shares a root key is split, and how many of them yield it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sharing {
    shares: u8,
    threshold: u8,
}

/// There are no such shares.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("there are 1 to 255 shares, of which 2 to all yield the key, or 1 of 1")]
pub struct SharingError;

impl Sharing {
    /// `shares` shares, of which any `threshold` yield the key.
    ///
    /// # Errors
    ///
    /// Beyond 255 shares, when the threshold is above their number or none, and when one of several would do: then every holder had
    /// the key.
    pub fn new(shares: u32, threshold: u32) -> Result<Self, SharingError> {
        let alone = shares == 1 && threshold == 1;
        if !alone && !(2..=shares).contains(&threshold) {
            return Err(SharingError);
        }
        let byte = |number: u32| u8::try_from(number).map_err(|_| SharingError);
        Ok(Self {
            shares: byte(shares)?,
            threshold: byte(threshold)?,
        })
    }

    /// How many shares there are.
    #[must_use]
    pub const fn shares(self) -> u8 {
        self.shares
    }

    /// How many of them yield the key.
    #[must_use]
    pub const fn threshold(self) -> u8 {
        self.threshold
    }

    /// How many bytes a share has: a value for every byte of the key and the coordinate they belong to. A single share is the key.
    #[must_use]
    pub const fn share_bytes(self) -> usize {
        if self.threshold == 1 {
            KEY_BYTES
        } else {
            KEY_BYTES + 1
        }
    }
}

/// Why a key was not split.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SplitError {
    /// No shares without randomness.
    #[error(transparent)]
    Random(#[from] RandomError),
    /// The shares did not yield the key again, so they are not handed out.
    #[error("the shares that were made do not yield the key")]
    Unusable,
}

/// One share of a root key, a secret: its values, and last its coordinate. It can be neither printed nor copied:
///
/// ```compile_fail,E0277
/// fn printed(share: &gatehouse_barrier::KeyShare) -> String {
///     format!("{share:?}")
/// }
/// ```
pub struct KeyShare(Zeroizing<Vec<u8>>);

impl KeyShare {
    /// A share as its holder gives it; `None` for what no share of `sharing` can be by its length.
    #[must_use]
    pub fn from_bytes(bytes: Zeroizing<Vec<u8>>, sharing: Sharing) -> Option<Self> {
        (bytes.len() == sharing.share_bytes()).then_some(Self(bytes))
    }

    /// The text for its holder.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// True if both are the same share, found out in a time that does not depend on where they differ.
    #[must_use]
    pub fn is_same_as(&self, other: &Self) -> bool {
        self.0.ct_eq(&other.0).into()
    }
}

impl RootKey {
    /// Splits the key.
    ///
    /// # Errors
    ///
    /// When there is no randomness.
    pub fn split(
        &self,
        sharing: Sharing,
        random: &impl Random,
    ) -> Result<Vec<KeyShare>, SplitError> {
        if sharing.threshold == 1 {
            return Ok(vec![KeyShare(Zeroizing::new(self.bytes().to_vec()))]);
        }
        let mut source = Source {
            random,
            failure: None,
        };
        let (threshold, shares) = (sharing.threshold.into(), sharing.shares.into());
        let split = Gf256::split_bytes(threshold, shares, self.bytes(), &mut source);
        // Wiped on every path from here.
        let split = Zeroizing::new(split.map_err(|_| SplitError::Unusable)?);
        if let Some(failure) = source.failure {
            return Err(failure.into());
        }
        let coordinate_last = |share: &Vec<u8>| {
            let mut bytes = Zeroizing::new(share.clone());
            bytes.rotate_left(1);
            KeyShare(bytes)
        };
        let shares: Vec<KeyShare> = split.iter().map(coordinate_last).collect();
        let again = shares.get(..threshold).and_then(Self::combine);
        match again {
            Some(again) if again.bytes().ct_eq(self.bytes()).into() => Ok(shares),
            _ => Err(SplitError::Unusable),
        }
    }

    /// The key that these shares yield; `None` where they yield none.
    ///
    /// Shares of another key, altered ones, or too few yield some other key: only the keyring tells.
    #[must_use]
    pub fn combine(shares: &[KeyShare]) -> Option<Self> {
        let bytes = match shares {
            [KeyShare(only)] => only.clone(),
            several => {
                let coordinate_first = |share: &KeyShare| {
                    let mut bytes = share.0.to_vec();
                    bytes.rotate_right(1);
                    bytes
                };
                let shares: Zeroizing<Vec<Vec<u8>>> =
                    Zeroizing::new(several.iter().map(coordinate_first).collect());
                Zeroizing::new(Gf256::combine_bytes(&*shares).ok()?)
            }
        };
        let mut key = Zeroizing::new([0; KEY_BYTES]);
        if bytes.len() != KEY_BYTES {
            return None;
        }
        key.copy_from_slice(&bytes);
        Some(Self::from_bytes(key))
    }
}

/// A source of randomness as the library wants it, which cannot fail; ours remembers that it did, and nothing made of it is used.
struct Source<'a, R> {
    random: &'a R,
    failure: Option<RandomError>,
}

impl<R: Random> TryRng for Source<'_, R> {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        let mut bytes = Zeroizing::new([0; size_of::<u32>()]);
        self.try_fill_bytes(&mut *bytes)?;
        Ok(u32::from_ne_bytes(*bytes))
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        let mut bytes = Zeroizing::new([0; size_of::<u64>()]);
        self.try_fill_bytes(&mut *bytes)?;
        Ok(u64::from_ne_bytes(*bytes))
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        if let Err(failure) = self.random.fill(bytes) {
            self.failure = Some(failure);
        }
        Ok(())
    }
}

impl<R: Random> TryCryptoRng for Source<'_, R> {}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use gatehouse_ports::doubles::{NoRandom, SeededRandom};

    fn key(seed: u64) -> RootKey {
        RootKey::generate(&SeededRandom::new(seed)).unwrap()
    }

    fn sharing(shares: u32, threshold: u32) -> Sharing {
        Sharing::new(shares, threshold).unwrap()
    }

    fn split(key: &RootKey, shares: u32, threshold: u32) -> Vec<KeyShare> {
        key.split(sharing(shares, threshold), &SeededRandom::new(9))
            .unwrap()
    }

    fn copy(share: &KeyShare) -> KeyShare {
        KeyShare(share.0.clone())
    }

    /// The shares whose bit is set in `mask`.
    fn chosen(shares: &[KeyShare], mask: u32) -> Vec<KeyShare> {
        let chosen = |(place, share)| (mask >> place & 1 == 1).then(|| copy(share));
        shares.iter().enumerate().filter_map(chosen).collect()
    }

    fn yields(shares: &[KeyShare], key: &RootKey) -> bool {
        RootKey::combine(shares).is_some_and(|combined| combined.bytes() == key.bytes())
    }

    #[test]
    fn k2_every_set_of_enough_shares_yields_the_key_and_no_smaller_one() {
        let key = key(1);
        for number in 1..=5_u32 {
            let lowest = if number == 1 { 1 } else { 2 };
            for threshold in lowest..=number {
                let shares = split(&key, number, threshold);
                assert_eq!(shares.len(), number as usize);
                for mask in 1..1_u32 << number {
                    let enough = mask.count_ones() >= threshold;
                    let found = yields(&chosen(&shares, mask), &key);
                    assert_eq!(found, enough, "{threshold} of {number}: {mask:b}");
                }
            }
        }
    }

    #[test]
    fn k2_as_many_shares_as_there_can_be() {
        let key = key(1);
        let shares = split(&key, 255, 255);
        assert!(yields(&shares, &key));
        assert!(!yields(&shares[1..], &key));
    }

    #[test]
    fn numbers_that_would_give_one_holder_the_key_or_nobody_are_refused() {
        for (shares, threshold) in [(1, 1), (2, 2), (5, 3), (255, 2), (255, 255)] {
            let sharing = sharing(shares, threshold);
            let numbers = (sharing.shares().into(), sharing.threshold().into());
            assert_eq!(numbers, (shares, threshold));
        }
        for (shares, threshold) in [
            (0, 0),
            (0, 1),
            (1, 0),
            (1, 2),
            (2, 1),
            (5, 6),
            (256, 2),
            (256, 256),
            (u32::MAX, u32::MAX),
            (257, 1),
        ] {
            let refused = Sharing::new(shares, threshold);
            assert_eq!(refused, Err(SharingError), "{threshold} of {shares}");
        }
    }

    #[test]
    fn a_share_has_the_length_of_vaults() {
        let (one, several) = (sharing(1, 1), sharing(5, 3));
        assert_eq!((one.share_bytes(), several.share_bytes()), (32, 33));
        for length in [0, 16, 31, 32, 33, 34] {
            let read = |sharing| KeyShare::from_bytes(Zeroizing::new(vec![1; length]), sharing);
            assert_eq!(read(one).is_some(), length == 32);
            assert_eq!(read(several).is_some(), length == 33);
        }
        let coordinates = split(&key(1), 4, 2);
        let last: Vec<_> = coordinates.iter().map(|share| share.0[32]).collect();
        assert_eq!(last, [1, 2, 3, 4]);
    }

    /// Three shares of a key, two of which yield it, as an OpenBao server made them.
    #[test]
    fn shares_of_an_openbao_server_agree_on_a_key() {
        let shares: Vec<KeyShare> = [
            "VAdbHG9y9j7iquToGN9HyUb9BnUWceRaTiL/EDF0RZFN",
            "BucIVJF7esWW34Ruy1NjcI0T4d9ZoH4lRgTbyUxgXQwj",
            "I+acEgE1HhbpEeyMNjdAY2pm2uElJHRtuV74sn13Rzw/",
        ]
        .iter()
        .map(|text| {
            use base64::Engine as _;
            let bytes = base64::engine::general_purpose::STANDARD.decode(text);
            KeyShare::from_bytes(Zeroizing::new(bytes.unwrap()), sharing(3, 2)).unwrap()
        })
        .collect();
        let key = RootKey::combine(&shares).unwrap();
        for pair in [0b011, 0b101, 0b110] {
            assert!(yields(&chosen(&shares, pair), &key), "{pair:b}");
        }
    }

    #[test]
    fn k2_altered_foreign_and_repeated_shares_do_not_yield_the_key() {
        let key_of_these = key(1);
        let shares = split(&key_of_these, 3, 2);
        for bit in 0..33 * 8 {
            let mut altered = copy(&shares[1]);
            altered.0[bit / 8] ^= 1 << (bit % 8);
            let pair = [copy(&shares[0]), altered];
            assert!(!yields(&pair, &key_of_these), "bit {bit}");
        }
        let foreign = split(&key(2), 3, 2).remove(1);
        assert!(!yields(&[copy(&shares[0]), foreign], &key_of_these));
        let twice = [copy(&shares[0]), copy(&shares[0])];
        assert!(RootKey::combine(&twice).is_none());
        assert!(RootKey::combine(&[]).is_none());
        let lengths = [copy(&shares[0]), KeyShare(Zeroizing::new(vec![1; 20]))];
        assert!(RootKey::combine(&lengths).is_none());
    }

    #[test]
    fn shares_are_compared_as_a_whole() {
        let shares = split(&key(1), 2, 2);
        assert!(shares[0].is_same_as(&copy(&shares[0])));
        assert!(!shares[0].is_same_as(&shares[1]));
        let shorter = KeyShare(Zeroizing::new(shares[0].0[..32].to_vec()));
        assert!(!shares[0].is_same_as(&shorter));
    }

    /// Where zero was left out (RUSTSEC-2024-0398), a byte of a share would never be that of the key.
    #[test]
    fn k2_every_value_can_be_that_of_a_share() {
        let key = key(1);
        let random = SeededRandom::new(3);
        let mut differences = HashSet::new();
        for _ in 0..200 {
            let shares = key.split(sharing(2, 2), &random).unwrap();
            let values = shares[0].0.iter().zip(key.bytes());
            differences.extend(values.map(|(value, key)| value ^ key));
        }
        assert_eq!(differences.len(), 256);
    }

    #[test]
    fn k2_without_randomness_there_are_no_shares() {
        let refused = key(1).split(sharing(3, 2), &NoRandom).err();
        assert_eq!(refused, Some(SplitError::Random(RandomError)));
    }
}
