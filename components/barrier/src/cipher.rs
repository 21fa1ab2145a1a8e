//! XAES-256-GCM as published by C2SP: AES-256-GCM under a key that is derived anew for every message.

use aes_gcm::aes::Aes256;
use aes_gcm::aes::cipher::{Block, BlockCipherEncrypt};
use aes_gcm::{AeadInOut, Aes256Gcm, KeyInit, Nonce, Tag};
use zeroize::{Zeroize, Zeroizing};

/// Length of a key.
pub const KEY_BYTES: usize = 32;
/// Length of a nonce. Random nonces of this length do not repeat within 2^80 messages.
pub const NONCE_BYTES: usize = 24;
/// Length of the authentication tag.
pub const TAG_BYTES: usize = 16;

const BLOCK_BYTES: usize = 16;
const HALF_NONCE_BYTES: usize = 12;

/// The bytes are not what was sealed under this key, nonce and associated data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Forged;

/// A key, ready for use.
pub struct Cipher {
    block_cipher: Aes256,
    /// The first subkey of AES-CMAC under the same key.
    mask: Zeroizing<[u8; BLOCK_BYTES]>,
}

impl Cipher {
    /// Prepares `key`.
    pub fn new(key: &[u8; KEY_BYTES]) -> Self {
        let block_cipher = Aes256::new(key.into());
        let mut zero = Block::<Aes256>::default();
        block_cipher.encrypt_block(&mut zero);
        // Doubling in GF(2^128), the subkey step of AES-CMAC, without a branch on secret bits.
        let mut value = u128::from_be_bytes(zero.into());
        let mut doubled = (value << 1) ^ ((value >> 127) * 0x87);
        let mask = Zeroizing::new(doubled.to_be_bytes());
        value.zeroize();
        doubled.zeroize();
        zero.zeroize();
        Self { block_cipher, mask }
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
        let (cipher, nonce) = self.derive(nonce);
        cipher
            .encrypt_inout_detached(&nonce, associated_data, message.into())
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
        let (cipher, nonce) = self.derive(nonce);
        let tag: &Tag = tag.into();
        cipher
            .decrypt_inout_detached(&nonce, associated_data, message.into(), tag)
            .map_err(|_| Forged)
    }

    fn derive(&self, nonce: &[u8; NONCE_BYTES]) -> (Aes256Gcm, Nonce<aes_gcm::aead::consts::U12>) {
        let (derivation, rest) = nonce.split_at(HALF_NONCE_BYTES);
        let mut key = Zeroizing::new([0; KEY_BYTES]);
        for (counter, half) in (1..).zip(key.chunks_exact_mut(BLOCK_BYTES)) {
            // The one-block message of the counter-mode key derivation: counter, the label `X`, a zero, half of the nonce.
            let prefix = [0, counter, b'X', 0];
            let message = prefix.iter().chain(derivation);
            for ((to, from), mask) in half.iter_mut().zip(message).zip(self.mask.iter()) {
                *to = from ^ mask;
            }
            let mut block = Block::<Aes256>::default();
            block.copy_from_slice(half);
            self.block_cipher.encrypt_block(&mut block);
            half.copy_from_slice(&block);
            block.zeroize();
        }
        let mut short_nonce = Nonce::default();
        short_nonce.copy_from_slice(rest);
        let key: &[u8; KEY_BYTES] = &key;
        (Aes256Gcm::new(key.into()), short_nonce)
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
        let hexadecimal = |byte: &u8| format!("{byte:02x}");
        message.iter().chain(&tag).map(hexadecimal).collect()
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

    #[test]
    fn what_was_sealed_opens_and_another_tag_does_not() {
        let cipher = Cipher::new(&[7; 32]);
        let mut message = *b"a message";
        let tag = cipher.seal(NONCE, b"", &mut message).unwrap();
        let mut forged = message;
        assert_eq!(cipher.open(NONCE, b"", &mut forged, &[0; 16]), Err(Forged));
        assert_eq!(cipher.open(NONCE, b"", &mut message, &tag), Ok(()));
        assert_eq!(&message, b"a message");
    }
}
