//! Private keys.

use gatehouse_ports::{Random, RandomError};
use jsonwebtoken::Algorithm;
use jsonwebtoken::crypto::JwtSigner;
use jsonwebtoken::signature::{Error, Signer};
use pkcs1::RsaPrivateKeyRef;
use pkcs8::{PrivateKeyInfoRef, SecretDocument};
use zeroize::Zeroizing;

use super::{
    InvalidKeyError, PUBLIC_EXPONENT, RSA_ENCRYPTION, VerifyingKey, encoded_block, generation,
};

/// An RSA private key that signs with RS256. Its private exponent is wiped when it goes, and it cannot be printed:
///
/// ```compile_fail,E0277
/// fn printed(key: &gatehouse_auth_method::rs256::SigningKey) -> String {
///     format!("{key:?}")
/// }
/// ```
#[derive(Clone)]
pub struct SigningKey {
    pub(super) public: VerifyingKey,
    pub(super) exponent: Zeroizing<Vec<u8>>,
}

impl SigningKey {
    /// The key in a PEM text: PKCS#8 (`PRIVATE KEY`) or PKCS#1 (`RSA PRIVATE KEY`).
    ///
    /// # Errors
    ///
    /// When it is no such key, is one outside SEC-J13, or cannot sign what its public half verifies.
    pub fn from_pem(pem: &str) -> Result<Self, InvalidKeyError> {
        let (label, document) =
            SecretDocument::from_pem(pem).map_err(|_| InvalidKeyError::Encoding)?;
        match label {
            "PRIVATE KEY" => Self::from_pkcs8(document.as_bytes()),
            "RSA PRIVATE KEY" => Self::from_pkcs1(document.as_bytes()),
            _ => Err(InvalidKeyError::Encoding),
        }
    }

    fn from_pkcs8(der: &[u8]) -> Result<Self, InvalidKeyError> {
        let key = PrivateKeyInfoRef::try_from(der).map_err(|_| InvalidKeyError::Encoding)?;
        if key.algorithm.oid != RSA_ENCRYPTION {
            return Err(InvalidKeyError::Encoding);
        }
        Self::from_pkcs1(key.private_key.as_bytes())
    }

    /// The key in the DER of PKCS#1.
    ///
    /// # Errors
    ///
    /// As for [`Self::from_pem`].
    pub fn from_pkcs1(der: &[u8]) -> Result<Self, InvalidKeyError> {
        let key = RsaPrivateKeyRef::try_from(der).map_err(|_| InvalidKeyError::Encoding)?;
        let public =
            VerifyingKey::from_components(key.modulus.as_bytes(), key.public_exponent.as_bytes())?;
        Self::from_parts(public, key.private_exponent.as_bytes())
    }

    /// The key with this modulus and private exponent, both big-endian, and the public exponent 65537.
    ///
    /// # Errors
    ///
    /// As for [`Self::from_pem`].
    pub fn from_components(
        modulus: &[u8],
        private_exponent: &[u8],
    ) -> Result<Self, InvalidKeyError> {
        let public = VerifyingKey::from_components(modulus, &PUBLIC_EXPONENT)?;
        Self::from_parts(public, private_exponent)
    }

    fn from_parts(public: VerifyingKey, private_exponent: &[u8]) -> Result<Self, InvalidKeyError> {
        let key = Self {
            public,
            exponent: Zeroizing::new(private_exponent.to_vec()),
        };
        key.sign(b"a key that cannot sign is refused when it is read")?;
        Ok(key)
    }

    /// A new key of 2048 bits. Native code needs a tenth of a second for one, WebAssembly some times that; luck makes it more or less.
    ///
    /// # Errors
    ///
    /// When `random` fails.
    pub fn generate(random: &impl Random) -> Result<Self, RandomError> {
        loop {
            let made = generation::rsa_2048(random)?;
            // The promise of the arithmetic is checked before a signature leaves.
            if let Ok(key) = Self::from_components(&made.modulus, &made.private_exponent) {
                return Ok(key);
            }
        }
    }

    /// The private exponent, big-endian. A secret.
    #[must_use]
    pub fn private_exponent(&self) -> &[u8] {
        &self.exponent
    }

    /// The public half.
    #[must_use]
    pub const fn verifying_key(&self) -> &VerifyingKey {
        &self.public
    }

    /// This key's signature of `message`, as long as the modulus.
    ///
    /// # Errors
    ///
    /// [`InvalidKeyError::Mismatch`] when the result does not verify: a wrong signature could give the private key away.
    pub fn sign(&self, message: &[u8]) -> Result<Vec<u8>, InvalidKeyError> {
        let modulus = self.public.modulus();
        let block = encoded_block(message, modulus.bytes());
        let signature = modulus.secret_power(&block, &self.exponent)?;
        if self.public.is_signature_of(&signature, message) {
            Ok(signature)
        } else {
            Err(InvalidKeyError::Mismatch)
        }
    }
}

impl Signer<Vec<u8>> for SigningKey {
    fn try_sign(&self, message: &[u8]) -> Result<Vec<u8>, Error> {
        self.sign(message).map_err(Error::from_source)
    }
}

impl JwtSigner for SigningKey {
    fn algorithm(&self) -> Algorithm {
        Algorithm::RS256
    }
}
