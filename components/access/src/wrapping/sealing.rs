//! Encryption of wrapped content, so that who reads the store without a wrapping token learns nothing of it: it may hold
//! tokens, which are at rest as hashes only (SEC-T2).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::api::ServiceError;
use crate::one_time_cipher::OneTimeCipher;
use crate::secret::IdentifierHasher;

/// A wrapping token's cipher. A token wraps one content.
pub(super) struct ContentCipher(OneTimeCipher);

impl ContentCipher {
    /// The cipher whose key `token` yields.
    pub(super) fn new(hasher: &IdentifierHasher, token: &str) -> Self {
        Self(OneTimeCipher::new(&hasher.wrapping_key(token)))
    }

    /// Base64 of the encrypted content.
    pub(super) fn seal(self, content: &[u8]) -> Result<String, ServiceError> {
        let sealed = self.0.seal(content);
        let sealed = sealed.ok_or_else(|| damaged("wrapped content cannot be encrypted"))?;
        Ok(STANDARD.encode(sealed))
    }

    /// The content that was given to [`Self::seal`].
    pub(super) fn open(self, sealed: &str) -> Result<Vec<u8>, ServiceError> {
        let sealed = STANDARD.decode(sealed).ok();
        let content = sealed.and_then(|sealed| self.0.open(&sealed));
        content.ok_or_else(|| damaged("wrapped content was altered"))
    }
}

fn damaged(why: &str) -> ServiceError {
    ServiceError::Damaged(why.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_token_and_server_secret_together_open_what_they_sealed() {
        let hasher = IdentifierHasher::new(&[1; 32]).unwrap();
        let other_server = IdentifierHasher::new(&[2; 32]).unwrap();
        let sealed = ContentCipher::new(&hasher, "hvs.a").seal(b"content");
        let sealed = sealed.unwrap();
        let open = |hasher, token| ContentCipher::new(hasher, token).open(&sealed);
        assert_eq!(open(&hasher, "hvs.a"), Ok(b"content".to_vec()));
        let altered = Err(damaged("wrapped content was altered"));
        assert_eq!(open(&hasher, "hvs.b"), altered);
        assert_eq!(open(&other_server, "hvs.a"), altered);
    }
}
