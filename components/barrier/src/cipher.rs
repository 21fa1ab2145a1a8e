//! XChaCha20-Poly1305 with the sizes that records and keyrings use.

use chacha20poly1305::{AeadInOut, KeyInit, Tag, XChaCha20Poly1305, XNonce};

/// Length of a key.
pub const KEY_BYTES: usize = 32;
/// Length of a nonce. Random nonces of this length do not repeat within 2^80 messages.
pub const NONCE_BYTES: usize = 24;
/// Length of the authentication tag.
pub const TAG_BYTES: usize = 16;

/// The bytes are not what was sealed under this key, nonce and associated data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Forged;

/// A key, ready for use; it is wiped when it goes.
pub struct Cipher(XChaCha20Poly1305);

impl Cipher {
    /// Prepares `key`.
    pub fn new(key: &[u8; KEY_BYTES]) -> Self {
        Self(XChaCha20Poly1305::new(key.into()))
    }

    /// Encrypts `message` in place.
    ///
    /// `None` for a message beyond the 256 GiB that the cipher can take.
    pub fn seal(
        &self,
        nonce: &[u8; NONCE_BYTES],
        associated_data: &[u8],
        message: &mut [u8],
    ) -> Option<[u8; TAG_BYTES]> {
        let nonce: &XNonce = nonce.into();
        self.0
            .encrypt_inout_detached(nonce, associated_data, message.into())
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
    ) -> Result<(), Forged> {
        let nonce: &XNonce = nonce.into();
        let tag: &Tag = tag.into();
        self.0
            .decrypt_inout_detached(nonce, associated_data, message.into(), tag)
            .map_err(|_| Forged)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONCE: &[u8; NONCE_BYTES] = b"ABCDEFGHIJKLMNOPQRSTUVWX";

    #[test]
    fn what_was_sealed_opens_and_another_tag_does_not() {
        let cipher = Cipher::new(&[7; 32]);
        let mut message = *b"a message";
        let tag = cipher.seal(NONCE, b"", &mut message).unwrap();
        assert_ne!(&message, b"a message");
        let mut forged = message;
        assert_eq!(cipher.open(NONCE, b"", &mut forged, &[0; 16]), Err(Forged));
        assert_eq!(cipher.open(NONCE, b"", &mut message, &tag), Ok(()));
        assert_eq!(&message, b"a message");
    }
}
