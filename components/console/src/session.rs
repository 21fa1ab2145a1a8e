//! The session of a visitor: it lies in the browser's cookie, sealed, and nowhere else.
//!
//! A cookie opens under the key that sealed it, until it has not been used for a time. It holds the visitor's token, and a
//! random number that every form of the session repeats: a form that another page made up, or that was made in another session, lacks it.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use gatehouse_ports::{Random, RandomError};
use subtle::ConstantTimeEq;
use xaes_256_gcm::Xaes256Gcm;
use xaes_256_gcm::aead::{AeadInOut, KeyInit};
use zeroize::Zeroizing;

/// Length of the key that seals sessions.
pub const KEY_BYTES: usize = 32;
/// Bytes of a visitor's token at most: with more, browsers would drop the cookie.
pub const MAXIMUM_TOKEN_BYTES: usize = 2_000;

const NONCE_BYTES: usize = 24;
const TAG_BYTES: usize = 16;
const FORM_KEY_BYTES: usize = 16;
/// Time of use, key of the forms, kind of credential.
const HEAD_BYTES: usize = 8 + FORM_KEY_BYTES + 1;
/// Bound to what is sealed, so that nothing else under the same key opens as a session.
const PURPOSE: &[u8] = b"gatehouse console session 1";

/// The token that a visitor signed in with.
#[derive(Clone, PartialEq, Eq)]
pub enum Credential {
    /// Opens both APIs.
    Server(Zeroizing<String>),
    /// Opens the organizations API alone.
    Organizations(Zeroizing<String>),
}

impl Credential {
    /// The token itself.
    pub fn token(&self) -> &str {
        match self {
            Self::Server(token) | Self::Organizations(token) => token,
        }
    }
}

/// A session, open.
pub struct Session {
    /// `None` before a visitor has signed in.
    pub credential: Option<Credential>,
    form_key: [u8; FORM_KEY_BYTES],
    used_at: u64,
}

/// Why a cookie is not a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SessionError {
    /// It does not open under the key.
    #[error("the cookie was not sealed with this server's key")]
    Foreign,
    /// It has not been used for too long.
    #[error("the session has not been used for too long")]
    Idle,
}

impl Session {
    /// A new session at `now` (seconds since 1970).
    ///
    /// # Errors
    ///
    /// When there is no randomness.
    pub fn new(
        credential: Option<Credential>,
        now: u64,
        random: &dyn Random,
    ) -> Result<Self, RandomError> {
        let mut form_key = [0; FORM_KEY_BYTES];
        random.fill(&mut form_key)?;
        Ok(Self {
            credential,
            form_key,
            used_at: now,
        })
    }

    /// The text that forms of this session carry.
    pub fn form_key(&self) -> String {
        URL_SAFE_NO_PAD.encode(self.form_key)
    }

    /// True if `text` is what forms of this session carry. Compared in constant time.
    pub fn made_form(&self, text: &str) -> bool {
        self.form_key().as_bytes().ct_eq(text.as_bytes()).into()
    }

    /// The same session, used at `now`.
    pub fn used(mut self, now: u64) -> Self {
        self.used_at = now;
        self
    }
}

/// Seals sessions. Its key material is wiped when it is dropped.
pub struct SealingKey(Xaes256Gcm);

impl SealingKey {
    /// Prepares `key`.
    #[must_use]
    pub fn new(key: &[u8; KEY_BYTES]) -> Self {
        Self(Xaes256Gcm::new(key.into()))
    }

    /// The key in base64url without padding. `None` for anything else.
    #[must_use]
    pub fn from_text(text: &str) -> Option<Self> {
        let bytes = Zeroizing::new(URL_SAFE_NO_PAD.decode(text).ok()?);
        Some(Self::new(bytes.as_slice().try_into().ok()?))
    }

    /// The text of a cookie.
    ///
    /// # Errors
    ///
    /// When there is no randomness.
    pub fn seal(&self, session: &Session, random: &dyn Random) -> Result<String, RandomError> {
        let (kind, token) = match &session.credential {
            None => (0, ""),
            Some(Credential::Server(token)) => (1, token.as_str()),
            Some(Credential::Organizations(token)) => (2, token.as_str()),
        };
        let mut message = Zeroizing::new(Vec::with_capacity(HEAD_BYTES + token.len() + TAG_BYTES));
        message.extend_from_slice(&session.used_at.to_be_bytes());
        message.extend_from_slice(&session.form_key);
        message.push(kind);
        message.extend_from_slice(token.as_bytes());
        let mut nonce = [0; NONCE_BYTES];
        random.fill(&mut nonce)?;
        // Only a message beyond 64 GiB fails.
        let tag = self
            .0
            .encrypt_inout_detached((&nonce).into(), PURPOSE, message.as_mut_slice().into())
            .map_err(|_| RandomError)?;
        Ok(URL_SAFE_NO_PAD.encode([&nonce[..], &message, &tag].concat()))
    }

    /// The session in a cookie, at `now`, where sessions may rest for `idle` seconds. One without a token may rest for ever: it opens nothing,
    /// and a form to sign in stays good for as long as its page is open.
    ///
    /// # Errors
    ///
    /// When the cookie was sealed with another key, or has a token and has not been used for longer.
    pub fn open(&self, cookie: &str, now: u64, idle: u64) -> Result<Session, SessionError> {
        let session = self.unsealed(cookie).ok_or(SessionError::Foreign)?;
        if session.credential.is_some() && now.saturating_sub(session.used_at) > idle {
            return Err(SessionError::Idle);
        }
        Ok(session)
    }

    fn unsealed(&self, cookie: &str) -> Option<Session> {
        let sealed = URL_SAFE_NO_PAD.decode(cookie).ok()?;
        let (nonce, rest) = sealed.split_first_chunk::<NONCE_BYTES>()?;
        let (message, tag) = rest.split_last_chunk::<TAG_BYTES>()?;
        let mut message = Zeroizing::new(message.to_vec());
        self.0
            .decrypt_inout_detached(
                nonce.into(),
                PURPOSE,
                message.as_mut_slice().into(),
                tag.into(),
            )
            .ok()?;
        let (used_at, rest) = message.split_first_chunk::<8>()?;
        let (form_key, rest) = rest.split_first_chunk::<FORM_KEY_BYTES>()?;
        let (kind, token) = rest.split_first()?;
        let token = Zeroizing::new(str::from_utf8(token).ok()?.to_owned());
        Some(Session {
            credential: match kind {
                0 => None,
                1 => Some(Credential::Server(token)),
                2 => Some(Credential::Organizations(token)),
                _ => return None,
            },
            form_key: *form_key,
            used_at: u64::from_be_bytes(*used_at),
        })
    }
}

#[cfg(test)]
mod tests {
    use gatehouse_ports::doubles::{NoRandom, SeededRandom};

    use super::*;

    fn sealed(key: u8) -> String {
        let random = SeededRandom::new(1);
        let token = Zeroizing::new("hvs.secret".to_owned());
        let session = Session::new(Some(Credential::Server(token)), 1_000, &random).unwrap();
        SealingKey::new(&[key; KEY_BYTES])
            .seal(&session, &random)
            .unwrap()
    }

    #[test]
    fn a_cookie_opens_under_the_key_that_sealed_it_and_under_no_other() {
        let cookie = sealed(1);
        let session = SealingKey::new(&[1; KEY_BYTES])
            .open(&cookie, 1_000, 900)
            .unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(session.credential.unwrap().token(), "hvs.secret");
        let other = SealingKey::new(&[2; KEY_BYTES]);
        assert_eq!(
            other.open(&cookie, 1_000, 900).err(),
            Some(SessionError::Foreign)
        );
    }

    #[test]
    fn a_session_that_rested_too_long_is_over() {
        let key = SealingKey::new(&[1; KEY_BYTES]);
        assert!(key.open(&sealed(1), 1_900, 900).is_ok());
        assert_eq!(
            key.open(&sealed(1), 1_901, 900).err(),
            Some(SessionError::Idle)
        );
    }

    #[test]
    fn h17_no_part_of_a_cookie_can_be_changed_or_left_out() {
        let key = SealingKey::new(&[1; KEY_BYTES]);
        let cookie = sealed(1);
        for place in 0..cookie.len() {
            let mut changed = cookie.clone().into_bytes();
            changed[place] = if changed[place] == b'A' { b'B' } else { b'A' };
            let changed = String::from_utf8(changed).unwrap();
            // The last letter has bits that stand for nothing; those must be zero.
            assert!(key.open(&changed, 1_000, 900).is_err(), "{place}");
            assert!(key.open(&cookie[..place], 1_000, 900).is_err(), "{place}");
        }
    }

    #[test]
    fn h16_a_form_belongs_to_one_session() {
        let random = SeededRandom::new(1);
        let one = Session::new(None, 0, &random).unwrap();
        let other = Session::new(None, 0, &random).unwrap();
        assert!(one.made_form(&one.form_key()));
        assert!(!one.made_form(&other.form_key()));
        assert!(!one.made_form(""));
    }

    #[test]
    fn nothing_is_made_without_randomness() {
        assert!(Session::new(None, 0, &NoRandom).is_err());
    }
}
