//! Authenticated encryption over byte arrays, with a key of 32 bytes and random nonces of 24.

use chacha20poly1305::XChaCha20Poly1305;
use xaes_256_gcm::Xaes256Gcm;
use xaes_256_gcm::aead::consts::{U16, U24, U32};
use xaes_256_gcm::aead::{AeadInOut, KeyInit};

/// Length of a key.
pub const KEY_BYTES: usize = 32;
/// Length of a nonce. Random nonces of this length do not repeat within 2^80 messages.
pub const NONCE_BYTES: usize = 24;
/// Length of the authentication tag.
pub const TAG_BYTES: usize = 16;

/// XAES-256-GCM as published by C2SP: AES-256-GCM under a key that is derived anew for every message. The faster one where the processor has
/// instructions for AES.
pub type Xaes = Cipher<Xaes256Gcm>;
/// XChaCha20-Poly1305: ChaCha20-Poly1305 (RFC 8439) under a key that is derived anew for every message. The faster one without such
/// instructions.
pub type XChaCha = Cipher<XChaCha20Poly1305>;

/// The bytes are not what was sealed under this key, nonce and associated data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ForgedError;

/// A key, ready for use. Its key material is wiped when it is dropped.
pub struct Cipher<A>(A);

impl<A> Cipher<A>
where
    A: AeadInOut<NonceSize = U24, TagSize = U16> + KeyInit<KeySize = U32>,
{
    /// Prepares `key`.
    pub fn new(key: &[u8; KEY_BYTES]) -> Self {
        Self(A::new(key.into()))
    }

    /// Encrypts `message` in place.
    ///
    /// `None` for a message beyond what the algorithm can take: 64 GiB, or 256 GiB for XChaCha20-Poly1305.
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
        let tag = Xaes::new(&key)
            .seal(NONCE, associated_data, &mut message)
            .unwrap();
        base16ct::lower::encode_string(&[message.as_slice(), &tag].concat())
    }

    #[test]
    fn the_published_vector_of_xaes_with_the_top_bit_of_the_subkey_clear() {
        assert_eq!(
            sealed([1; 32], b""),
            "ce546ef63c9cc60765923609b33a9a1974e96e52daf2fcf7075e2271"
        );
    }

    #[test]
    fn the_published_vector_of_xaes_with_the_top_bit_of_the_subkey_set() {
        assert_eq!(
            sealed([3; 32], b"c2sp.org/XAES-256-GCM"),
            "986ec1832593df5443a179437fd083bf3fdb41abd740a21f71eb769d"
        );
    }

    /// Section A.3.1 of draft-irtf-cfrg-xchacha-03.
    #[test]
    fn the_published_vector_of_xchacha() {
        let key = std::array::from_fn(|index| 0x80 + index as u8);
        let nonce = std::array::from_fn(|index| 0x40 + index as u8);
        let associated_data = b"\x50\x51\x52\x53\xc0\xc1\xc2\xc3\xc4\xc5\xc6\xc7";
        let mut message = *b"Ladies and Gentlemen of the class of '99: If I could offer you \
            only one tip for the future, sunscreen would be it.";
        let tag = XChaCha::new(&key)
            .seal(&nonce, associated_data, &mut message)
            .unwrap();
        assert_eq!(
            base16ct::lower::encode_string(&message[..16]),
            "bd6d179d3e83d43b9576579493c0e939"
        );
        assert_eq!(
            base16ct::lower::encode_string(&tag),
            "c0875924c1c7987947deafd8780acf49"
        );
    }

    fn wipes_itself_when_dropped<T: zeroize::ZeroizeOnDrop>() {}

    #[test]
    fn k6_a_cipher_wipes_its_key_when_it_is_dropped() {
        wipes_itself_when_dropped::<Xaes256Gcm>();
        wipes_itself_when_dropped::<XChaCha20Poly1305>();
    }

    #[test]
    fn what_was_sealed_opens_and_another_tag_does_not() {
        let cipher = Xaes::new(&[7; 32]);
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
