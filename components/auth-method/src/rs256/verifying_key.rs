//! Public keys.

use jsonwebtoken::Algorithm;
use jsonwebtoken::crypto::JwtVerifier;
use jsonwebtoken::signature::{Error, Verifier};

use super::modulus::{Modulus, without_leading_zeros};
use super::{InvalidKeyError, PUBLIC_EXPONENT, encoded_block};

/// An RSA public key that verifies RS256 signatures, and nothing else.
///
/// Making one takes a part of the time of a verification, so it is kept with the document that it came from.
#[derive(Debug, Clone)]
pub struct VerifyingKey {
    modulus: Modulus,
}

impl VerifyingKey {
    /// The key with this modulus and public exponent, both big-endian.
    ///
    /// # Errors
    ///
    /// [`InvalidKeyError::Modulus`] and [`InvalidKeyError::Exponent`] for keys outside SEC-J13.
    pub fn from_components(modulus: &[u8], exponent: &[u8]) -> Result<Self, InvalidKeyError> {
        if without_leading_zeros(exponent) != PUBLIC_EXPONENT {
            return Err(InvalidKeyError::Exponent);
        }
        Ok(Self {
            modulus: Modulus::from_bytes(modulus)?,
        })
    }

    /// True if `signature` is this key's signature of `message` (SEC-J12).
    #[must_use]
    pub fn is_signature_of(&self, signature: &[u8], message: &[u8]) -> bool {
        let length = self.modulus.bytes();
        signature.len() == length
            && self
                .modulus
                .public_power_is(signature, &encoded_block(message, length))
    }

    /// The key with this modulus, big-endian, and the public exponent that all keys have.
    pub(crate) fn from_modulus(modulus: &[u8]) -> Result<Self, InvalidKeyError> {
        Self::from_components(modulus, &PUBLIC_EXPONENT)
    }

    /// The modulus, big-endian, without leading zeros.
    #[must_use]
    pub fn modulus_bytes(&self) -> Vec<u8> {
        self.modulus.to_bytes()
    }

    pub(super) const fn modulus(&self) -> &Modulus {
        &self.modulus
    }
}

impl Verifier<Vec<u8>> for VerifyingKey {
    fn verify(&self, message: &[u8], signature: &Vec<u8>) -> Result<(), Error> {
        if self.is_signature_of(signature, message) {
            Ok(())
        } else {
            Err(Error::new())
        }
    }
}

impl JwtVerifier for VerifyingKey {
    fn algorithm(&self) -> Algorithm {
        Algorithm::RS256
    }
}
