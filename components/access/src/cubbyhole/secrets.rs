//! The secrets of one token, by their paths, and how they are sealed.

use std::collections::{BTreeMap, BTreeSet};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use gatehouse_ports::Random;
use gatehouse_storage::Record;
use serde::{Deserialize, Serialize};
use zeroize::{Zeroize, Zeroizing};

use crate::api::{CubbyholeError, ServiceError};
use crate::one_time_cipher::OneTimeCipher;
use crate::secret::IdentifierHasher;

/// Longest path of a secret, in bytes.
const MAXIMUM_PATH_BYTES: usize = 512;
/// Most secrets of one token.
const MAXIMUM_SECRETS: usize = 1024;
/// Largest secrets of one token together, with their paths: what a record can hold in base64, beside the rest of it.
const MAXIMUM_BYTES: usize = 512 * 1024;

/// Random bytes that make the key of each sealing another one.
const SALT_BYTES: usize = 32;

/// The secrets of a token.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct CubbyholeRecord {
    /// Makes the key another one each time: hexadecimal digits.
    salt: String,
    /// Base64 of the secrets, encrypted under a key that the token yields.
    sealed_secrets: String,
}

impl Record for CubbyholeRecord {
    const SCHEMA: u16 = 1;
}

/// The secrets of one token. Wiped when dropped, the paths too: they are sealed like the contents.
#[derive(Default)]
pub(super) struct Secrets(BTreeMap<String, Zeroizing<Vec<u8>>>);

impl Drop for Secrets {
    fn drop(&mut self) {
        for (mut path, _) in std::mem::take(&mut self.0) {
            path.zeroize();
        }
    }
}

impl Secrets {
    /// The secrets that `record` holds for `token`.
    pub(super) fn open(
        hasher: &IdentifierHasher,
        token: &str,
        record: &CubbyholeRecord,
    ) -> Result<Self, ServiceError> {
        let sealed = STANDARD.decode(&record.sealed_secrets).ok();
        let cipher = OneTimeCipher::new(&hasher.cubbyhole_key(token, &record.salt));
        let opened = sealed.and_then(|sealed| cipher.open(&sealed));
        let secrets = opened.map(Zeroizing::new).and_then(|it| Self::unpack(&it));
        secrets
            .ok_or_else(|| ServiceError::Damaged("the secrets of a token were altered".to_owned()))
    }

    /// The record that holds them for `token`.
    pub(super) fn seal(
        &self,
        hasher: &IdentifierHasher,
        token: &str,
        random: &impl Random,
    ) -> Result<CubbyholeRecord, ServiceError> {
        let mut salt = [0; SALT_BYTES];
        random.fill(&mut salt)?;
        let salt = base16ct::lower::encode_string(&salt);
        let sealed = OneTimeCipher::new(&hasher.cubbyhole_key(token, &salt)).seal(&self.pack());
        let sealed = sealed.ok_or_else(|| {
            ServiceError::Damaged("the secrets of a token cannot be encrypted".to_owned())
        })?;
        Ok(CubbyholeRecord {
            salt,
            sealed_secrets: STANDARD.encode(sealed),
        })
    }

    /// Takes the secret at `path` out.
    pub(super) fn take(&mut self, path: &str) -> Option<Zeroizing<Vec<u8>>> {
        self.0.remove(path)
    }

    pub(super) fn has(&self, path: &str) -> bool {
        self.0.contains_key(path)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Puts a secret at `path`, where there may be one.
    pub(super) fn put(&mut self, path: &str, content: &[u8]) -> Result<(), CubbyholeError> {
        if path.len() > MAXIMUM_PATH_BYTES {
            return Err(CubbyholeError::PathTooLong(MAXIMUM_PATH_BYTES as u32));
        }
        // Before it is copied.
        if content.len() > MAXIMUM_BYTES {
            return Err(CubbyholeError::TooLarge(MAXIMUM_BYTES as u32));
        }
        self.0.insert(path.to_owned(), content.to_vec().into());
        if self.0.len() > MAXIMUM_SECRETS {
            return Err(CubbyholeError::TooManySecrets(MAXIMUM_SECRETS as u32));
        }
        let sizes = self
            .0
            .iter()
            .map(|(path, secret)| path.len() + secret.len());
        if sizes.sum::<usize>() > MAXIMUM_BYTES {
            return Err(CubbyholeError::TooLarge(MAXIMUM_BYTES as u32));
        }
        Ok(())
    }

    /// The keys directly in `folder`, sorted: the last segments of secrets, and of further folders, which end in `/`.
    pub(super) fn keys(&self, folder: &str) -> Vec<String> {
        let prefix = match folder.trim_end_matches('/') {
            "" => String::new(),
            folder => format!("{folder}/"),
        };
        let below = self.0.keys().filter_map(|path| path.strip_prefix(&prefix));
        let keys: BTreeSet<&str> = below
            .map(|path| path.split_inclusive('/').next().unwrap_or(path))
            .collect();
        keys.into_iter().map(str::to_owned).collect()
    }

    /// One after the other, each path and each content behind its length.
    fn pack(&self) -> Zeroizing<Vec<u8>> {
        let parts = || {
            let secrets = self.0.iter();
            secrets.flat_map(|(path, content)| [path.as_bytes(), content.as_slice()])
        };
        // All at once: growing would leave parts of the secrets behind.
        let length = parts().map(|part| size_of::<u32>() + part.len()).sum();
        let mut packed = Zeroizing::new(Vec::with_capacity(length));
        for part in parts() {
            packed.extend_from_slice(&(part.len() as u32).to_be_bytes());
            packed.extend_from_slice(part);
        }
        packed
    }

    /// The secrets that [`Self::pack`] was given; `None` for anything else.
    fn unpack(mut packed: &[u8]) -> Option<Self> {
        let mut secrets = Self::default();
        while !packed.is_empty() {
            let path = next_part(&mut packed)?;
            let path = str::from_utf8(path).ok()?.to_owned();
            let content = next_part(&mut packed)?.to_vec();
            secrets.0.insert(path, content.into());
        }
        Some(secrets)
    }
}

fn next_part<'a>(packed: &mut &'a [u8]) -> Option<&'a [u8]> {
    let (length, rest) = packed.split_first_chunk::<4>()?;
    let (part, rest) = rest.split_at_checked(u32::from_be_bytes(*length) as usize)?;
    *packed = rest;
    Some(part)
}

#[cfg(test)]
mod tests {
    use super::*;
    use gatehouse_ports::doubles::SeededRandom;

    fn sealed_by(hasher: &IdentifierHasher, random: &SeededRandom) -> CubbyholeRecord {
        let mut secrets = Secrets::default();
        secrets.put("a/b", b"content").unwrap();
        secrets.put("empty", b"").unwrap();
        secrets.seal(hasher, "hvs.a", random).unwrap()
    }

    #[test]
    fn t2_only_token_and_server_secret_together_open_what_they_sealed() {
        let hasher = IdentifierHasher::new(&[1; 32]).unwrap();
        let other_server = IdentifierHasher::new(&[2; 32]).unwrap();
        let random = SeededRandom::new(1);
        let record = sealed_by(&hasher, &random);
        let mut opened = Secrets::open(&hasher, "hvs.a", &record).unwrap();
        let mut taken = |path: &str| opened.take(path).map(|content| content.to_vec());
        assert_eq!(taken("a/b").as_deref(), Some(b"content".as_slice()));
        assert_eq!(taken("empty").as_deref(), Some(b"".as_slice()));
        assert!(opened.is_empty());
        assert!(Secrets::open(&hasher, "hvs.b", &record).is_err());
        assert!(Secrets::open(&other_server, "hvs.a", &record).is_err());
        // No two sealings share a key.
        let again = sealed_by(&hasher, &random);
        assert_ne!(again.sealed_secrets, record.sealed_secrets);
        let exchanged = CubbyholeRecord {
            salt: again.salt,
            ..record
        };
        assert!(Secrets::open(&hasher, "hvs.a", &exchanged).is_err());
    }

    #[test]
    fn k6_secrets_of_a_token_can_be_neither_printed_nor_copied() {
        gatehouse_ports::assert_lacks!([Secrets], [std::fmt::Debug, Clone, serde::Serialize]);
    }

    #[test]
    fn what_is_cut_off_is_not_unpacked() {
        let mut secrets = Secrets::default();
        secrets.put("a", b"1").unwrap();
        let packed = secrets.pack();
        assert_eq!(packed.len(), 10);
        assert!(Secrets::unpack(&packed).is_some());
        for length in 1..packed.len() {
            assert!(Secrets::unpack(&packed[..length]).is_none(), "{length}");
        }
    }
}
