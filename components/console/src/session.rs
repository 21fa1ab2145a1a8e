//! The session of a visitor. It is stored only in the browser's cookie, sealed.
//!
//! A cookie opens only under the key that sealed it. A session with a token ends once it has been idle for too long, and after at most twelve hours
//! (or the idle time, if that is longer). It holds the visitor's token, and a random number that every form of the session repeats: a form that
//! another site forged, or that was made in another session, lacks it. It also holds marks of the last forms that were carried out, which reveal a
//! form that is sent again.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use gatehouse_ports::{Random, RandomError};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;
use xaes_256_gcm::Xaes256Gcm;
use xaes_256_gcm::aead::{AeadInOut, KeyInit};
use zeroize::Zeroizing;

/// The length of the key that seals sessions, in bytes.
pub const KEY_BYTES: usize = 32;
/// The maximum length of a visitor's token, in bytes: browsers would drop a longer cookie.
pub const MAXIMUM_TOKEN_BYTES: usize = 2_000;
/// The seconds after which a session with a token ends even if it is in use. A longer idle time raises the limit.
const MAXIMUM_SECONDS: u64 = 12 * 60 * 60;

const NONCE_BYTES: usize = 24;
const TAG_BYTES: usize = 16;
const FORM_KEY_BYTES: usize = 16;
const PAGE_KEY_BYTES: usize = 8;
const MARK_BYTES: usize = 8;
/// The number of most recent forms of a session that are recognized when they are sent again.
const MAXIMUM_MARKS: usize = 16;
/// The length of a session's head, in bytes: the begin and last-use times, the form key, the kind of credential and the number of marks.
const HEAD_BYTES: usize = 8 + 8 + FORM_KEY_BYTES + 2;
/// The context that is bound to each sealed session, so that other data sealed under the same key does not open as a session.
const PURPOSE: &[u8] = b"gatehouse console session 2";

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

/// A session, unsealed.
pub struct Session {
    /// `None` before a visitor has signed in.
    pub credential: Option<Credential>,
    form_key: [u8; FORM_KEY_BYTES],
    /// The key of the page that is being made, which makes the forms of two pages differ even if they are filled in alike.
    page_key: [u8; PAGE_KEY_BYTES],
    begun_at: u64,
    used_at: u64,
    carried_out: Vec<FormMark>,
}

/// A mark that recognizes a form that was sent, and reveals nothing else about it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct FormMark([u8; MARK_BYTES]);

impl FormMark {
    /// The mark of the form with this `body`, sent to `target`.
    pub fn new(target: &str, body: &[u8]) -> Self {
        let digest: [u8; 32] = Sha256::new()
            .chain_update(target)
            .chain_update([0])
            .chain_update(body)
            .finalize()
            .into();
        let mut mark = [0; MARK_BYTES];
        for (byte, digested) in mark.iter_mut().zip(digest) {
            *byte = digested;
        }
        Self(mark)
    }
}

/// The reason why a cookie is not a valid session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SessionError {
    /// The cookie does not open under the key.
    #[error("the cookie was not sealed with this server's key")]
    Foreign,
    /// The session was idle for too long.
    #[error("the session has not been used for too long")]
    Idle,
    /// The session began too long ago.
    #[error("the session began too long ago")]
    Old,
}

impl Session {
    /// A new session at `now` (seconds since 1970).
    ///
    /// # Errors
    ///
    /// When no randomness is available.
    pub fn new(
        credential: Option<Credential>,
        now: u64,
        random: &dyn Random,
    ) -> Result<Self, RandomError> {
        let mut form_key = [0; FORM_KEY_BYTES];
        random.fill(&mut form_key)?;
        let session = Self {
            credential,
            form_key,
            page_key: [0; PAGE_KEY_BYTES],
            begun_at: now,
            used_at: now,
            carried_out: Vec::new(),
        };
        session.used(now, random)
    }

    /// The key that forms of the page carry.
    pub fn form_key(&self) -> String {
        URL_SAFE_NO_PAD.encode([&self.form_key[..], &self.page_key].concat())
    }

    /// True if `text` is a key that forms of a page of this session carry. The comparison takes constant time.
    pub fn made_form(&self, text: &str) -> bool {
        let bytes = URL_SAFE_NO_PAD.decode(text).unwrap_or_default();
        match bytes.split_first_chunk::<FORM_KEY_BYTES>() {
            Some((key, page_key)) if page_key.len() == PAGE_KEY_BYTES => {
                self.form_key.ct_eq(key).into()
            }
            _ => false,
        }
    }

    /// True if the form is among the last forms that this session carried out.
    pub fn has_carried_out(&self, form: FormMark) -> bool {
        self.carried_out.contains(&form)
    }

    /// Remembers that the form was carried out.
    pub fn carry_out(&mut self, form: FormMark) {
        if self.carried_out.len() == MAXIMUM_MARKS {
            self.carried_out.remove(0);
        }
        self.carried_out.push(form);
    }

    /// The same session, last used at `now`, with a new page key.
    ///
    /// # Errors
    ///
    /// When no randomness is available.
    pub fn used(mut self, now: u64, random: &dyn Random) -> Result<Self, RandomError> {
        random.fill(&mut self.page_key)?;
        self.used_at = now;
        Ok(self)
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

    /// The key in base64url without padding. `None` for any other text.
    #[must_use]
    pub fn from_text(text: &str) -> Option<Self> {
        let bytes = Zeroizing::new(URL_SAFE_NO_PAD.decode(text).ok()?);
        Some(Self::new(bytes.as_slice().try_into().ok()?))
    }

    /// The cookie value of `session`, sealed.
    ///
    /// # Errors
    ///
    /// When no randomness is available.
    pub fn seal(&self, session: &Session, random: &dyn Random) -> Result<String, RandomError> {
        let (kind, token) = match &session.credential {
            None => (0, ""),
            Some(Credential::Server(token)) => (1, token.as_str()),
            Some(Credential::Organizations(token)) => (2, token.as_str()),
        };
        let marks: Vec<u8> = session.carried_out.iter().flat_map(|mark| mark.0).collect();
        let length = HEAD_BYTES + marks.len() + token.len() + TAG_BYTES;
        let mut message = Zeroizing::new(Vec::with_capacity(length));
        message.extend_from_slice(&session.begun_at.to_be_bytes());
        message.extend_from_slice(&session.used_at.to_be_bytes());
        message.extend_from_slice(&session.form_key);
        message.push(kind);
        // The number of marks fits into a byte.
        message.push(session.carried_out.len() as u8);
        message.extend_from_slice(&marks);
        message.extend_from_slice(token.as_bytes());
        let mut nonce = [0; NONCE_BYTES];
        random.fill(&mut nonce)?;
        // Encryption fails only for a message beyond 64 GiB.
        let tag = self
            .0
            .encrypt_inout_detached((&nonce).into(), PURPOSE, message.as_mut_slice().into())
            .map_err(|_| RandomError)?;
        Ok(URL_SAFE_NO_PAD.encode([&nonce[..], &message, &tag].concat()))
    }

    /// The session in a cookie, at `now`, where sessions may be idle for `idle` seconds. A session without a token never ends: it grants nothing, and
    /// a form to sign in stays valid for as long as its page is open.
    ///
    /// # Errors
    ///
    /// When the cookie was sealed with another key, or when it has a token and was idle for longer or began more than twelve hours ago (more than
    /// `idle` seconds, where that is longer).
    pub fn open(&self, cookie: &str, now: u64, idle: u64) -> Result<Session, SessionError> {
        let session = self.unsealed(cookie).ok_or(SessionError::Foreign)?;
        if session.credential.is_none() {
            return Ok(session);
        }
        if now.saturating_sub(session.used_at) > idle {
            return Err(SessionError::Idle);
        }
        if now.saturating_sub(session.begun_at) > MAXIMUM_SECONDS.max(idle) {
            return Err(SessionError::Old);
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
        let (begun_at, rest) = message.split_first_chunk::<8>()?;
        let (used_at, rest) = rest.split_first_chunk::<8>()?;
        let (form_key, rest) = rest.split_first_chunk::<FORM_KEY_BYTES>()?;
        let ([kind, marks], rest) = rest.split_first_chunk::<2>()?;
        let (marks, token) = rest.split_at_checked(MARK_BYTES.checked_mul((*marks).into())?)?;
        let token = Zeroizing::new(str::from_utf8(token).ok()?.to_owned());
        Some(Session {
            credential: match kind {
                0 => None,
                1 => Some(Credential::Server(token)),
                2 => Some(Credential::Organizations(token)),
                _ => return None,
            },
            form_key: *form_key,
            page_key: [0; PAGE_KEY_BYTES],
            begun_at: u64::from_be_bytes(*begun_at),
            used_at: u64::from_be_bytes(*used_at),
            carried_out: marks.as_chunks().0.iter().copied().map(FormMark).collect(),
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
    fn a_session_that_is_used_all_the_time_is_over_after_twelve_hours() {
        let key = SealingKey::new(&[1; KEY_BYTES]);
        let random = SeededRandom::new(1);
        let used_at = |seconds| {
            let session = key.unsealed(&sealed(1)).unwrap();
            let session = session.used(1_000 + seconds, &random).unwrap();
            key.seal(&session, &random).unwrap()
        };
        let open = |seconds, idle| {
            key.open(&used_at(seconds), 1_000 + seconds, idle)
                .map(|_| ())
        };
        assert_eq!(open(MAXIMUM_SECONDS, 900), Ok(()));
        assert_eq!(open(MAXIMUM_SECONDS + 1, 900), Err(SessionError::Old));
        let longer = 2 * MAXIMUM_SECONDS;
        assert_eq!(open(longer, longer), Ok(()), "it may rest for longer");
    }

    #[test]
    fn the_last_forms_that_were_carried_out_are_recognized_and_fit_a_cookie() {
        let key = SealingKey::new(&[1; KEY_BYTES]);
        let random = SeededRandom::new(1);
        let token = Zeroizing::new("t".repeat(MAXIMUM_TOKEN_BYTES));
        let mut session = Session::new(Some(Credential::Server(token)), 1_000, &random).unwrap();
        let mark = |number: usize| FormMark::new("/ui/mounts", format!("path={number}").as_bytes());
        for number in 0..=MAXIMUM_MARKS {
            session.carry_out(mark(number));
        }
        let cookie = key.seal(&session, &random).unwrap();
        // Browsers limit a cookie to 4,096 bytes, including its name and attributes.
        assert!(cookie.len() < 3_900, "{}", cookie.len());
        let Ok(session) = key.open(&cookie, 1_000, 900) else {
            panic!("the cookie does not open");
        };
        for number in 1..=MAXIMUM_MARKS {
            assert!(session.has_carried_out(mark(number)), "{number}");
        }
        assert!(!session.has_carried_out(mark(0)), "the oldest made room");
        let elsewhere = FormMark::new("/ui/roles", b"path=1");
        assert!(!session.has_carried_out(elsewhere));
    }

    #[test]
    fn h17_no_part_of_a_cookie_can_be_changed_or_left_out() {
        let key = SealingKey::new(&[1; KEY_BYTES]);
        let cookie = sealed(1);
        for place in 0..cookie.len() {
            let mut changed = cookie.clone().into_bytes();
            changed[place] = if changed[place] == b'A' { b'B' } else { b'A' };
            let changed = String::from_utf8(changed).unwrap();
            // The last letter encodes unused bits, which must be zero.
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
        let page = one.form_key();
        let one = one.used(1, &random).unwrap();
        assert_ne!(page, one.form_key(), "each page has a key of its own");
        assert!(
            one.made_form(&page),
            "forms of all pages are of the session"
        );
        assert!(!one.made_form(&other.form_key()));
        assert!(!one.made_form(""));
    }

    #[test]
    fn nothing_is_made_without_randomness() {
        assert!(Session::new(None, 0, &NoRandom).is_err());
    }
}
