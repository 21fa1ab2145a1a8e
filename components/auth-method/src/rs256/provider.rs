//! These keys as the cryptography of the crate `jsonwebtoken`.

use jsonwebtoken::crypto::{CryptoProvider, JwtSigner, JwtVerifier, KeyUtils};
use jsonwebtoken::errors::{ErrorKind, Result};
use jsonwebtoken::{Algorithm, DecodingKey, DecodingKeyKind, EncodingKey};

use super::{SigningKey, VerifyingKey};

/// Signs and verifies RS256; every other algorithm is an error.
///
/// Keys are given as [`EncodingKey::from_rsa_der`] (PKCS#1) and as [`DecodingKey::from_rsa_raw_components`] or
/// [`DecodingKey::from_rsa_components`].
///
/// ```no_run
/// // Once for a process; a second call, or another provider before it, is an error.
/// let installed = gatehouse_auth_method::rs256::CRYPTO_PROVIDER.install_default();
/// # let _ = installed;
/// ```
pub static CRYPTO_PROVIDER: CryptoProvider = CryptoProvider {
    signer_factory: signer,
    verifier_factory: verifier,
    key_utils: KeyUtils::new_unimplemented(),
};

fn signer(algorithm: &Algorithm, key: &EncodingKey) -> Result<Box<dyn JwtSigner>> {
    if *algorithm != Algorithm::RS256 {
        return Err(ErrorKind::InvalidAlgorithm.into());
    }
    SigningKey::from_pkcs1(key.as_bytes())
        .map(|key| Box::new(key) as Box<dyn JwtSigner>)
        .map_err(|_| ErrorKind::InvalidKeyFormat.into())
}

fn verifier(algorithm: &Algorithm, key: &DecodingKey) -> Result<Box<dyn JwtVerifier>> {
    if *algorithm != Algorithm::RS256 {
        return Err(ErrorKind::InvalidAlgorithm.into());
    }
    let DecodingKeyKind::RsaModulusExponent { n, e } = key.kind() else {
        return Err(ErrorKind::InvalidKeyFormat.into());
    };
    VerifyingKey::from_components(n, e)
        .map(|key| Box::new(key) as Box<dyn JwtVerifier>)
        .map_err(|_| ErrorKind::InvalidKeyFormat.into())
}
