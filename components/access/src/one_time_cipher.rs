//! Encryption under keys that belong to one message each.

use aes_gcm::aead::Aead;
use aes_gcm::{Aes256Gcm, KeyInit, Nonce};
use zeroize::Zeroizing;

/// AES-256-GCM under a key that encrypts one message and no other, so that no nonce can repeat under it. The key is wiped from
/// memory when dropped.
pub(crate) struct OneTimeCipher(Aes256Gcm);

impl OneTimeCipher {
    /// The cipher of the message that `key` belongs to.
    pub(crate) fn new(key: &Zeroizing<[u8; 32]>) -> Self {
        Self(Aes256Gcm::new((&**key).into()))
    }

    /// Encrypts the message; `None` when it is longer than the cipher can take.
    pub(crate) fn seal(self, message: &[u8]) -> Option<Vec<u8>> {
        self.0.encrypt(&Nonce::default(), message).ok()
    }

    /// The message; `None` when any bit of what [`Self::seal`] gave, or of the key, is another one.
    pub(crate) fn open(self, sealed: &[u8]) -> Option<Vec<u8>> {
        self.0.decrypt(&Nonce::default(), sealed).ok()
    }
}
