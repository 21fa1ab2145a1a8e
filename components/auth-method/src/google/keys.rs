//! Public keys that Google publishes: its own, and those of each service account (contract 4.3, 8.2; SEC-G1, G8, N9).
//!
//! The two kinds are never merged: which one has the key decides whose token it is.

use std::sync::Arc;

use gatehouse_ports::{Clock, Http, HttpResponse, Random};

use super::cached_answer::Found;
use super::call_error::CallError;
use super::exchange::Question;
use super::freshness::{LONGEST_ACCOUNT, LONGEST_GOOGLE, STALE_GOOGLE, lifetime};
use super::key_document::KeyDocument;
use super::key_error::KeyError;
use super::single_flight::SharedQuestion;
use super::{Api, Google};
use crate::KeyLookupError;
use crate::jwt::Subject;
use crate::rs256::VerifyingKey;

/// The party that publishes a key, and whose tokens the key signs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KeyOwner {
    /// Google itself.
    Google,
    /// The service account that the token is about.
    Account,
}

impl KeyOwner {
    /// For people.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Google => "Google",
            Self::Account => "the service account",
        }
    }
}

type FoundKeys = Found<KeyDocument, KeyError>;

const UNUSABLE: KeyError = KeyError::Call(CallError::Unusable(Api::Certificates));

impl<H: Http, C: Clock, R: Random> Google<'_, H, C, R> {
    /// The key called `key_id`: Google's own, or else one of the account that `subject` names.
    pub(crate) fn find_key(
        &self,
        key_id: &str,
        subject: &Subject,
    ) -> Result<(Arc<VerifyingKey>, KeyOwner), KeyError> {
        // A key that the account is known to have need not be looked for among newer ones of Google's.
        let google = self.google_keys(|document| {
            document.key(key_id).is_some() || self.account_is_known_to_have(key_id, subject)
        })?;
        if let Some(key) = google.value.key(key_id) {
            return Ok((Arc::clone(key), KeyOwner::Google));
        }
        let unknown = |refusal| google.setback.unwrap_or(KeyError::Refused(refusal));
        let account = match self.account_keys(key_id, subject) {
            Err(KeyError::Refused(refusal)) => return Err(unknown(refusal)),
            other => other?,
        };
        match account.value.key(key_id) {
            Some(key) => Ok((Arc::clone(key), KeyOwner::Account)),
            None => Err(account
                .setback
                .unwrap_or_else(|| unknown(KeyLookupError::KeyUnknown))),
        }
    }

    /// The key called `key_id` among Google's own.
    pub(crate) fn find_google_key(
        &self,
        key_id: &str,
    ) -> Result<(Arc<VerifyingKey>, KeyOwner), KeyError> {
        let google = self.google_keys(|document| document.key(key_id).is_some())?;
        let key = google.value.key(key_id).cloned();
        // While Google cannot be reached, a key that an older document lacks may exist.
        key.map(|key| (key, KeyOwner::Google)).ok_or(
            google
                .setback
                .unwrap_or(KeyError::Refused(KeyLookupError::NotGoogles)),
        )
    }

    /// When Google's own keys that logins go by were fetched, in milliseconds since 1970; `None` where there are none to go by.
    pub(crate) fn keys_fetched_at(&self) -> Option<u64> {
        let known = self.known(&self.about_google_keys());
        known.answer_asked_at(self.clock.now_milliseconds(), STALE_GOOGLE)
    }

    const fn about_google_keys(&self) -> SharedQuestion<'_, KeyDocument, KeyError> {
        SharedQuestion {
            api: Api::Certificates,
            kind: "google-keys",
            name: "",
            slot: &self.memory.google_keys,
            stale_for: STALE_GOOGLE,
        }
    }

    fn google_keys(&self, has: impl Fn(&KeyDocument) -> bool) -> Result<FoundKeys, KeyError> {
        self.consult(&self.about_google_keys(), has, || {
            let answer = self.published(&["oauth2", "v1", "certs"], None)?;
            let (document, lifetime) = document_in(&answer, LONGEST_GOOGLE)?;
            // Google always has keys. An answer without any must not take the place of one that has some.
            if document.is_empty() {
                return Err(UNUSABLE);
            }
            Ok((document, lifetime))
        })
    }

    fn account_keys(&self, key_id: &str, subject: &Subject) -> Result<FoundKeys, KeyError> {
        let question = SharedQuestion {
            api: Api::Certificates,
            kind: "account-keys",
            name: subject.as_str(),
            slot: &self.memory.account_keys,
            stale_for: 0,
        };
        self.consult(
            &question,
            |document| document.key(key_id).is_some(),
            || {
                let name = subject.as_str();
                let segments = ["service_accounts", "v1", "metadata", "x509", name];
                let answer = self.published(&segments, Some("alt=json"))?;
                match answer.status {
                    404 => Err(KeyError::Refused(KeyLookupError::AccountUnknown)),
                    400..500 => Err(KeyError::Refused(KeyLookupError::DocumentUnreadable)),
                    _ => document_in(&answer, LONGEST_ACCOUNT),
                }
            },
        )
    }

    fn account_is_known_to_have(&self, key_id: &str, subject: &Subject) -> bool {
        let now = self.clock.now_milliseconds();
        let known = self.memory.account_keys.get(subject.as_str(), now);
        known.is_some_and(|known| {
            known
                .fresh(now)
                .is_some_and(|document| document.key(key_id).is_some())
        })
    }

    /// Key documents are public: they are asked for without credentials.
    fn published(&self, segments: &[&str], query: Option<&str>) -> Result<HttpResponse, CallError> {
        let mut url = self.endpoints.url(Api::Certificates, segments);
        if let Some(url) = &mut url {
            url.set_query(query);
        }
        self.ask(Question::get(Api::Certificates, url))
    }
}

/// The document in `answer`, and the milliseconds that it is fresh: `longest` seconds at most.
fn document_in(answer: &HttpResponse, longest: u64) -> Result<(KeyDocument, u64), KeyError> {
    if answer.status != 200 {
        return Err(UNUSABLE);
    }
    let document = KeyDocument::from_certificates(&answer.body).map_err(|_| UNUSABLE)?;
    Ok((document, lifetime(answer, longest).saturating_mul(1000)))
}
