//! A batch token's text: `hvb.` and, in base64url without padding, the number of a key, a salt, and the token's record encrypted
//! under what key and salt yield together.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use gatehouse_storage::{decode, encode};
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

use crate::api::BATCH_TOKEN_PREFIX;
use crate::api::{ClientToken, ServiceError};
use crate::one_time_cipher::OneTimeCipher;
use crate::records::TokenRecord;

/// Longest record of a batch token, in bytes. The token is a third longer, and has to fit the header block of a request.
pub(crate) const MAXIMUM_RECORD_BYTES: usize = 8 * 1024;

const NUMBER_BYTES: usize = 4;
/// 256 random bits (SEC-T1). They make each token the only one of its key.
pub(crate) const SALT_BYTES: usize = 32;
/// By which the cipher makes a message longer.
const TAG_BYTES: usize = 16;
/// Longest text after the prefix that can be a token.
const MAXIMUM_TEXT_BYTES: usize =
    (NUMBER_BYTES + SALT_BYTES + MAXIMUM_RECORD_BYTES + TAG_BYTES).div_ceil(3) * 4;

/// Why a batch token was not made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum SealError {
    /// Its record is longer than [`MAXIMUM_RECORD_BYTES`].
    TooLarge,
    /// The server cannot answer now.
    Failure(ServiceError),
}

impl From<ServiceError> for SealError {
    fn from(failure: ServiceError) -> Self {
        Self::Failure(failure)
    }
}

/// A key's secret half: tokens are sealed and opened under it.
pub(crate) struct BatchKey {
    number: u32,
    secret: Hmac<Sha256>,
}

impl BatchKey {
    /// Length of the secret in bytes.
    pub(crate) const SECRET_BYTES: usize = 32;

    /// The key; `None` when the secret has another length than [`Self::SECRET_BYTES`].
    pub(crate) fn new(number: u32, secret: &[u8]) -> Option<Self> {
        if secret.len() != Self::SECRET_BYTES {
            return None;
        }
        let secret = Hmac::new_from_slice(secret).ok()?;
        Some(Self { number, secret })
    }

    /// The token that carries `record`. No other token may have the same salt.
    pub(super) fn seal(
        &self,
        record: &TokenRecord,
        salt: &[u8; SALT_BYTES],
    ) -> Result<ClientToken, SealError> {
        let record = encode(record).map_err(ServiceError::from)?;
        if record.len() > MAXIMUM_RECORD_BYTES {
            return Err(SealError::TooLarge);
        }
        let sealed = self.cipher(salt).seal(&record);
        let sealed = sealed.ok_or(SealError::TooLarge)?;
        let bytes = [&self.number.to_be_bytes(), salt.as_slice(), &sealed].concat();
        let bytes = Zeroizing::new(bytes);
        // All at once: growing would leave parts of the secret behind.
        let length = BATCH_TOKEN_PREFIX.len() + bytes.len().div_ceil(3) * 4;
        let mut text = String::with_capacity(length);
        text.push_str(BATCH_TOKEN_PREFIX);
        URL_SAFE_NO_PAD.encode_string(&*bytes, &mut text);
        Ok(ClientToken::new(text))
    }

    /// The record that `token` carries; `None` when it is not a token of this key.
    ///
    /// # Errors
    ///
    /// When it is one, made by a newer version of this software.
    pub(crate) fn open(&self, token: &SealedToken) -> Result<Option<TokenRecord>, ServiceError> {
        let record = self.cipher(&token.salt).open(&token.sealed_record);
        Ok(record.map(|record| decode(&record)).transpose()?)
    }

    /// Number and salt decide the token's own key, so that neither can be exchanged.
    fn cipher(&self, salt: &[u8; SALT_BYTES]) -> OneTimeCipher {
        let mut mac = self.secret.clone();
        mac.update(b"batch-token");
        mac.update(&self.number.to_be_bytes());
        mac.update(salt);
        OneTimeCipher::new(&Zeroizing::new(mac.finalize().into_bytes().into()))
    }
}

/// A batch token as a caller presents it: nothing in it has been confirmed. It is as secret as its text, and wiped when dropped.
#[derive(Zeroize, ZeroizeOnDrop)]
pub(crate) struct SealedToken {
    pub(crate) key_number: u32,
    salt: [u8; SALT_BYTES],
    sealed_record: Vec<u8>,
}

impl SealedToken {
    /// Takes apart what follows the prefix; `None` when no key could open it. One token has one text: there is no other spelling.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        if text.len() > MAXIMUM_TEXT_BYTES {
            return None;
        }
        let bytes = Zeroizing::new(URL_SAFE_NO_PAD.decode(text).ok()?);
        let (number, rest) = bytes.split_first_chunk::<NUMBER_BYTES>()?;
        let (salt, sealed_record) = rest.split_first_chunk::<SALT_BYTES>()?;
        Some(Self {
            key_number: u32::from_be_bytes(*number),
            salt: *salt,
            sealed_record: sealed_record.to_vec(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::SealedToken;
    use crate::batch::keys::BatchKeyRecord;

    #[test]
    fn k6_batch_tokens_and_their_keys_cannot_be_printed() {
        gatehouse_ports::assert_lacks!(
            [SealedToken, BatchKeyRecord],
            [std::fmt::Debug, std::fmt::Display]
        );
    }
}
