//! The text of a token, and its hash.

use gatehouse_ports::organizations_api::TOKEN_MARK;
use gatehouse_ports::{Random, RandomError};
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use zeroize::Zeroizing;

use crate::identifier::random_characters;

/// The characters before the mark, and those after it.
const BEFORE: usize = 14;
const AFTER: usize = 67;

/// A new token: 14 letters and digits, `.atlasv1.`, 67 letters and digits. It holds more than 400 unpredictable bits.
pub(crate) fn new_secret(random: &impl Random) -> Result<Zeroizing<String>, RandomError> {
    let mut text = Zeroizing::new(String::with_capacity(BEFORE + TOKEN_MARK.len() + AFTER));
    random_characters(&mut text, BEFORE, random)?;
    text.push_str(TOKEN_MARK);
    random_characters(&mut text, AFTER, random)?;
    Ok(text)
}

/// True if `text` has the form of a token of this API.
pub(crate) fn is_secret(text: &str) -> bool {
    text.split_once(TOKEN_MARK).is_some_and(|(before, after)| {
        before.len() == BEFORE
            && after.len() == AFTER
            && before
                .bytes()
                .chain(after.bytes())
                .all(|byte| byte.is_ascii_alphanumeric())
    })
}

/// The key under which texts are hashed, ready to use. It is wiped from memory when dropped, and cannot be printed.
#[derive(Clone)]
pub(crate) struct SecretHasher(Hmac<Sha256>);

impl SecretHasher {
    /// Length of the key in bytes.
    pub(crate) const KEY_BYTES: usize = 32;

    /// A hasher under `key`; `None` when the key has another length.
    pub(crate) fn new(key: &[u8]) -> Option<Self> {
        if key.len() != Self::KEY_BYTES {
            return None;
        }
        Hmac::new_from_slice(key).ok().map(Self)
    }

    /// The hash of a token. A lookup by it compares hashes only, so timing tells nothing about the token.
    pub(crate) fn token(&self, secret: &str) -> String {
        self.hash("token", secret)
    }

    /// The hash of an e-mail address.
    pub(crate) fn email(&self, email: &str) -> String {
        self.hash("email", email)
    }

    /// The hash of what a token is described as.
    pub(crate) fn description(&self, description: &str) -> String {
        self.hash("description", description)
    }

    /// The hash of a caller that has no account.
    pub(crate) fn account(&self, id: &str) -> String {
        self.hash("account", id)
    }

    /// The hash that makes the identifier of the user who has an address, or will have it.
    pub(crate) fn user(&self, email: &str) -> String {
        self.hash("user", email)
    }

    fn hash(&self, purpose: &str, text: &str) -> String {
        let mut mac = self.0.clone();
        mac.update(purpose.as_bytes());
        // A byte that no UTF-8 text contains, so that purpose and text do not run together.
        mac.update(&[0xff]);
        mac.update(text.as_bytes());
        base16ct::lower::encode_string(&mac.finalize().into_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gatehouse_ports::doubles::SeededRandom;

    #[test]
    fn k6_secrets_of_tokens_and_the_key_of_their_hashes_cannot_be_printed() {
        use crate::Credential;
        use crate::tokens::record::HashKeyRecord;
        gatehouse_ports::assert_lacks!(
            [Credential, SecretHasher, HashKeyRecord],
            [std::fmt::Debug, std::fmt::Display]
        );
    }

    #[test]
    fn contract_1_6_a_token_has_ninety_characters_around_its_mark() {
        let random = SeededRandom::new(1);
        let secret = new_secret(&random).unwrap();
        assert_eq!(secret.len(), 90);
        assert_eq!(&secret[14..23], ".atlasv1.");
        assert!(is_secret(&secret));
        assert_ne!(*secret, *new_secret(&random).unwrap());
        for other in [
            "",
            ".atlasv1.",
            "hvs.abc",
            &secret[1..],
            &secret.replace('a', "/"),
        ] {
            assert!(!is_secret(other) || other == secret.as_str(), "{other}");
        }
    }

    #[test]
    fn the_hash_depends_on_key_purpose_and_text() {
        let hasher = SecretHasher::new(&[1; 32]).unwrap();
        let other = SecretHasher::new(&[2; 32]).unwrap();
        assert_eq!(hasher.token("a"), hasher.token("a"));
        assert_ne!(hasher.token("a"), hasher.token("b"));
        assert_ne!(hasher.token("a"), hasher.email("a"));
        assert_ne!(hasher.token("a"), other.token("a"));
        assert_eq!(hasher.token("a").len(), 64);
        assert!(SecretHasher::new(&[1; 31]).is_none());
    }
}
