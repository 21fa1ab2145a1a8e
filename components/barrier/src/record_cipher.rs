//! The ciphers of records. A record's first byte says which of them sealed it.

use crate::cipher::{ForgedError, KEY_BYTES, NONCE_BYTES, TAG_BYTES, XChaCha, Xaes};
use crate::derivation::derive;

/// Data keys seal by AES themselves, as in earlier versions. No key serves two algorithms, so the other one has a key that follows from it.
const XCHACHA_LABEL: &[u8] = b"gatehouse record XChaCha20-Poly1305";

/// How a record is sealed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecordFormat {
    /// By XAES-256-GCM.
    Xaes,
    /// By XChaCha20-Poly1305.
    XChaCha,
}

impl RecordFormat {
    /// The format of records that are sealed by this program. WebAssembly has no instructions for AES; without them AES in constant time
    /// takes a component four times as long as `XChaCha20-Poly1305`.
    pub const HERE: Self = if cfg!(target_family = "wasm") {
        Self::XChaCha
    } else {
        Self::Xaes
    };

    /// The first byte of records of this format.
    pub const fn number(self) -> u8 {
        match self {
            Self::Xaes => 1,
            Self::XChaCha => 2,
        }
    }

    /// The format that a record begins with; `None` for one of a later version.
    pub const fn from_number(number: u8) -> Option<Self> {
        match number {
            1 => Some(Self::Xaes),
            2 => Some(Self::XChaCha),
            _ => None,
        }
    }
}

/// One data key, ready to seal and open records of each format.
pub struct RecordCipher {
    xaes: Xaes,
    xchacha: XChaCha,
}

impl RecordCipher {
    /// Prepares a data key.
    pub fn new(key: &[u8; KEY_BYTES]) -> Self {
        let derived = derive(key.iter().copied(), XCHACHA_LABEL);
        Self {
            xaes: Xaes::new(key),
            xchacha: XChaCha::new(&derived),
        }
    }

    /// Encrypts `body` in place. `None` for one that is longer than the algorithm can take.
    pub fn seal(
        &self,
        format: RecordFormat,
        nonce: &[u8; NONCE_BYTES],
        associated_data: &[u8],
        body: &mut [u8],
    ) -> Option<[u8; TAG_BYTES]> {
        match format {
            RecordFormat::Xaes => self.xaes.seal(nonce, associated_data, body),
            RecordFormat::XChaCha => self.xchacha.seal(nonce, associated_data, body),
        }
    }

    /// Decrypts `body` in place; after an error it is of no use.
    pub fn open(
        &self,
        format: RecordFormat,
        nonce: &[u8; NONCE_BYTES],
        associated_data: &[u8],
        body: &mut [u8],
        tag: &[u8; TAG_BYTES],
    ) -> Result<(), ForgedError> {
        match format {
            RecordFormat::Xaes => self.xaes.open(nonce, associated_data, body, tag),
            RecordFormat::XChaCha => self.xchacha.open(nonce, associated_data, body, tag),
        }
    }
}
