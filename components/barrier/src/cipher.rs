//! XAES-256-GCM as published by C2SP, over byte arrays: AES-256-GCM under a key that is derived anew for every message.

use xaes_256_gcm::Xaes256Gcm;
use xaes_256_gcm::aead::{AeadInOut, KeyInit};

/// Length of a key.
pub const KEY_BYTES: usize = 32;
/// Length of a nonce. Random nonces of this length do not repeat within 2^80 messages.
pub const NONCE_BYTES: usize = 24;
/// Length of the authentication tag.
pub const TAG_BYTES: usize = 16;

/// The bytes are not what was sealed under this key, nonce and associated data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ForgedError;

/// A key, ready for use. Its key material is wiped when it is dropped.
pub struct Cipher(Xaes256Gcm);

impl Cipher {
    /// Prepares `key`.
    pub fn new(key: &[u8; KEY_BYTES]) -> Self {
        Self(Xaes256Gcm::new(key.into()))
    }

    /// Encrypts `message` in place.
    ///
    /// `None` for a message beyond the 64 GiB that AES-GCM can take.
    pub fn seal(
        &self,
        nonce: &[u8; NONCE_BYTES],
        associated_data: &[u8],
        message: &mut [u8],
    ) -> Option<[u8; TAG_BYTES]> {
        self.0
            .encrypt_inout_detached(nonce.into(), associated_data, message.into())
            .ok()
            .map(Into::into)
    }

    /// Decrypts `message` in place; after an error it is of no use.
    pub fn open(
        &self,
        nonce: &[u8; NONCE_BYTES],
        associated_data: &[u8],
        message: &mut [u8],
        tag: &[u8; TAG_BYTES],
    ) -> Result<(), ForgedError> {
        self.0
            .decrypt_inout_detached(nonce.into(), associated_data, message.into(), tag.into())
            .map_err(|_| ForgedError)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONCE: &[u8; NONCE_BYTES] = b"ABCDEFGHIJKLMNOPQRSTUVWX";

    fn sealed(key: [u8; KEY_BYTES], associated_data: &[u8]) -> String {
        let mut message = *b"XAES-256-GCM";
        let tag = Cipher::new(&key)
            .seal(NONCE, associated_data, &mut message)
            .unwrap();
        base16ct::lower::encode_string(&[message.as_slice(), &tag].concat())
    }

    #[test]
    fn the_published_vector_with_the_top_bit_of_the_subkey_clear() {
        assert_eq!(
            sealed([1; 32], b""),
            "ce546ef63c9cc60765923609b33a9a1974e96e52daf2fcf7075e2271"
        );
    }

    #[test]
    fn the_published_vector_with_the_top_bit_of_the_subkey_set() {
        assert_eq!(
            sealed([3; 32], b"c2sp.org/XAES-256-GCM"),
            "986ec1832593df5443a179437fd083bf3fdb41abd740a21f71eb769d"
        );
    }

    fn wipes_itself_when_dropped<T: zeroize::ZeroizeOnDrop>() {}

    #[test]
    fn k6_a_cipher_wipes_its_key_when_it_is_dropped() {
        wipes_itself_when_dropped::<Xaes256Gcm>();
    }

    #[test]
    fn what_was_sealed_opens_and_another_tag_does_not() {
        let cipher = Cipher::new(&[7; 32]);
        let mut message = *b"a message";
        let tag = cipher.seal(NONCE, b"", &mut message).unwrap();
        let mut forged = message;
        assert_eq!(
            cipher.open(NONCE, b"", &mut forged, &[0; 16]),
            Err(ForgedError)
        );
        assert_eq!(cipher.open(NONCE, b"", &mut message, &tag), Ok(()));
        assert_eq!(&message, b"a message");
    }
}
