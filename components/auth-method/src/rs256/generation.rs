//! Making keys.

use std::num::NonZeroU32;

use crypto_bigint::{NonZero, U1024, U2048};
use crypto_primes::hazmat::SmallFactorsSieve;
use crypto_primes::{Flavor, is_prime};
use gatehouse_ports::{Random, RandomError};
use zeroize::Zeroizing;

const PRIME_BITS: NonZeroU32 = match NonZeroU32::new(U1024::BITS) {
    Some(bits) => bits,
    None => NonZeroU32::MIN,
};
/// The two primes differ in their upper bits, or the modulus could be factored from its root (FIPS 186-5, A.1.3).
const MINIMUM_DISTANCE_BITS: u32 = U1024::BITS - 100;

/// Modulus and private exponent of a new key, both big-endian.
pub(super) struct Components {
    pub(super) modulus: Vec<u8>,
    pub(super) private_exponent: Zeroizing<Vec<u8>>,
}

/// A key of 2048 bits with the exponent 65537.
pub(super) fn rsa_2048(random: &impl Random) -> Result<Components, RandomError> {
    loop {
        let first = Zeroizing::new(prime(random)?);
        let second = Zeroizing::new(prime(random)?);
        let distance = if *first > *second {
            first.wrapping_sub(&second)
        } else {
            second.wrapping_sub(&first)
        };
        if distance.bits() <= MINIMUM_DISTANCE_BITS {
            continue;
        }
        if let Some(private_exponent) = private_exponent(&first, &second) {
            let modulus: U2048 = first.concatenating_mul(&*second);
            return Ok(Components {
                modulus: modulus.to_be_bytes().to_vec(),
                private_exponent,
            });
        }
    }
}

/// `None` when the public exponent divides what it must not divide.
fn private_exponent(first: &U1024, second: &U1024) -> Option<Zeroizing<Vec<u8>>> {
    let less_one = |prime: &U1024| Zeroizing::new(prime.wrapping_sub(&U1024::ONE));
    let totient: U2048 = less_one(first).concatenating_mul(&*less_one(second));
    let totient = Zeroizing::new(Option::<NonZero<U2048>>::from(NonZero::new(totient))?);
    let inverse = U2048::from_u32(65537).invert_mod(&totient);
    let inverse = Zeroizing::new(Option::<U2048>::from(inverse)?);
    Some(Zeroizing::new(inverse.to_be_bytes().to_vec()))
}

/// A prime of 1024 bits whose upper two are set, so that the product of two has 2048 bits.
fn prime(random: &impl Random) -> Result<U1024, RandomError> {
    loop {
        let mut bytes = Zeroizing::new([0; U1024::BYTES]);
        random.fill(bytes.as_mut_slice())?;
        let [first, ..] = &mut *bytes;
        *first |= 0b1100_0000;
        let start = U1024::from_be_slice(bytes.as_slice());
        // The search ends without a prime only when it began just below the largest number.
        let candidates = SmallFactorsSieve::new(start, PRIME_BITS, false);
        let found = candidates
            .ok()
            .and_then(|mut candidates| candidates.find(|it| is_prime(Flavor::Any, it)));
        if let Some(prime) = found {
            return Ok(prime);
        }
    }
}

#[cfg(test)]
mod tests {
    use gatehouse_ports::doubles::{NoRandom, SeededRandom};

    use super::super::SigningKey;
    use super::*;

    #[test]
    fn contract_7_4_a_new_key_has_2048_bits_and_signs() {
        let random = SeededRandom::new(1);
        let key = SigningKey::generate(&random).unwrap();
        let modulus = key.verifying_key().modulus_bytes();
        assert_eq!((modulus.len(), modulus[0] >> 7), (256, 1));
        let signature = key.sign(b"message").unwrap();
        assert!(key.verifying_key().is_signature_of(&signature, b"message"));
        let copy = SigningKey::from_components(&modulus, key.private_exponent()).unwrap();
        assert_eq!(copy.sign(b"message").unwrap(), signature);
        let other = SigningKey::generate(&random).unwrap();
        assert_ne!(other.verifying_key().modulus_bytes(), modulus);
        assert!(SigningKey::from_components(&modulus, other.private_exponent()).is_err());
    }

    #[test]
    fn without_randomness_there_is_no_key() {
        assert_eq!(SigningKey::generate(&NoRandom).err(), Some(RandomError));
    }
}
