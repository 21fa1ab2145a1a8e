//! RS256: RSASSA-PKCS1-v1_5 with SHA-256 (RFC 7518, 3.3; RFC 8017, 8.2), for moduli of 2048 to 4096 bits and the exponent 65537.
//!
//! Verification builds the one padded block that is right and compares all of it, so there is no padding to parse. It handles no
//! secrets and runs in variable time, by `public_power`; signing is constant-time in the private exponent, by crypto-bigint.
//!
//! [`VerifyingKey`] and [`SigningKey`] are verifier and signer of the crate `jsonwebtoken`; [`CRYPTO_PROVIDER`] lets a program install
//! them as that crate's cryptography. The capability itself always calls its own keys, whatever a program has installed.

mod generation;
mod modulus;
mod provider;
mod public_power;
mod signing_key;
#[cfg(test)]
mod tests;
mod verifying_key;

pub use provider::CRYPTO_PROVIDER;
pub use signing_key::SigningKey;
pub use verifying_key::VerifyingKey;

use pkcs8::ObjectIdentifier;
use sha2::{Digest, Sha256};

/// The identifier of RSA keys in PKCS #8 and in certificates.
pub(crate) const RSA_ENCRYPTION: ObjectIdentifier =
    ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.1");

/// The only public exponent that is accepted, big-endian.
const PUBLIC_EXPONENT: [u8; 3] = [1, 0, 1];

/// DER of a `DigestInfo` for SHA-256, up to the digest; the algorithm's parameters are the explicit NULL.
const DIGEST_INFO: [u8; 19] = [
    0x30, 0x31, 0x30, 0x0d, 0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x01, 0x05,
    0x00, 0x04, 0x20,
];

/// Why a key is not used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InvalidKeyError {
    /// The modulus is even, or has fewer than 2048 or more than 4096 bits.
    #[error("the modulus is not an odd number of 2048 to 4096 bits")]
    Modulus,
    /// The public exponent is not 65537.
    #[error("the public exponent is not 65537")]
    Exponent,
    /// The text or DER is not an RSA private key in PKCS#8 or PKCS#1.
    #[error("not an RSA private key in PKCS#8 or PKCS#1 form")]
    Encoding,
    /// The private exponent does not belong to the modulus.
    #[error("the parts of the private key do not fit together")]
    Mismatch,
}

/// The block that a valid signature of `message` opens to (RFC 8017, 9.2), as long as the modulus.
fn encoded_block(message: &[u8], length: usize) -> Vec<u8> {
    let digest = Sha256::digest(message);
    let tail = DIGEST_INFO.len() + digest.len() + 1;
    let mut block = Vec::with_capacity(length);
    block.extend_from_slice(&[0x00, 0x01]);
    block.resize(length.saturating_sub(tail), 0xff);
    block.push(0x00);
    block.extend_from_slice(&DIGEST_INFO);
    block.extend_from_slice(&digest);
    block
}
