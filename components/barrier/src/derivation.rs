//! Keys that follow from another key and say nothing about it.

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use zeroize::Zeroizing;

use crate::cipher::KEY_BYTES;

/// Bytes of a block of SHA-256. A key as text has 44 of them.
const BLOCK_BYTES: usize = 64;

/// HMAC-SHA-256 of `label` under `key`, of which no more than the first 64 bytes count.
///
/// `label` is a constant of the caller, under which nothing else is derived.
pub fn derive(key: impl Iterator<Item = u8>, label: &[u8]) -> Zeroizing<[u8; KEY_BYTES]> {
    // HMAC fills a key that is shorter than a block with zeros, as is done here: a text of any length could be refused.
    let mut block = Zeroizing::new([0; BLOCK_BYTES]);
    for (to, from) in block.iter_mut().zip(key) {
        *to = from;
    }
    let mut code = Hmac::<Sha256>::new((&*block).into());
    code.update(label);
    Zeroizing::new(code.finalize().into_bytes().into())
}
