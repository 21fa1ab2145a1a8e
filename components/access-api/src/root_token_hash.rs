//! The hash by which an operator decides, before a server is initialized, which root token is its first.

use std::fmt;

use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

use crate::{ROOT_TOKEN_CHARACTERS, SERVICE_TOKEN_PREFIX};

/// The name of the hash function, before the digits.
const PREFIX: &str = "sha256:";

/// The SHA-256 of a root token that was generated: `sha256:` and 64 hexadecimal digits.
///
/// It may be read by others. The token cannot be guessed from it, since only a text in the form of generated tokens is accepted, and those
/// have 256 random bits; the hash of a password, which could be guessed, opens nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RootTokenHash([u8; 32]);

impl RootTokenHash {
    /// Reads what [`Display`](fmt::Display) writes; `None` for every other text.
    #[must_use]
    pub fn from_text(text: &str) -> Option<Self> {
        let digits = text.strip_prefix(PREFIX)?;
        let mut hash = [0; 32];
        let read = base16ct::lower::decode(digits, &mut hash).ok()?;
        (read.len() == 32).then_some(Self(hash))
    }

    /// The hash of a token.
    #[must_use]
    pub fn from_token(token: &str) -> Self {
        Self(Sha256::digest(token).into())
    }

    /// Tells whether this is the hash of `token`, and `token` has the form of generated ones. The time that takes does not depend on where
    /// the hashes differ.
    #[must_use]
    pub fn is_of(&self, token: &str) -> bool {
        let same: bool = Self::from_token(token).0.ct_eq(&self.0).into();
        same && is_generated(token)
    }
}

impl fmt::Display for RootTokenHash {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "{PREFIX}{}",
            base16ct::lower::encode_string(&self.0)
        )
    }
}

fn is_generated(token: &str) -> bool {
    token.len() == ROOT_TOKEN_CHARACTERS
        && token
            .strip_prefix(SERVICE_TOKEN_PREFIX)
            .is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_alphanumeric()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_generated_token_of_a_hash_is_its_token() {
        let token = format!("hvs.{}", "a1".repeat(25) + "Z");
        let hash = RootTokenHash::from_token(&token);
        assert!(hash.is_of(&token));
        assert!(!hash.is_of(&token.replace('Z', "Y")));
        assert!(!hash.is_of(""));
        assert_eq!(RootTokenHash::from_text(&hash.to_string()), Some(hash));
    }

    #[test]
    fn a_token_that_could_be_guessed_from_its_hash_opens_nothing() {
        for weak in [
            "root",
            "correct horse battery staple",
            &"a".repeat(ROOT_TOKEN_CHARACTERS),
        ] {
            assert!(!RootTokenHash::from_token(weak).is_of(weak), "{weak}");
        }
    }

    #[test]
    fn a_hash_has_one_spelling() {
        let digits = "0f".repeat(32);
        assert!(RootTokenHash::from_text(&format!("sha256:{digits}")).is_some());
        for other in [
            digits.clone(),
            format!("sha256:{}", digits.to_uppercase()),
            format!("sha256:{digits}00"),
            format!("sha256:{}", "0f".repeat(31)),
            format!("sha512:{digits}"),
            "sha256:".to_owned(),
            String::new(),
        ] {
            assert_eq!(RootTokenHash::from_text(&other), None, "{other}");
        }
    }
}
