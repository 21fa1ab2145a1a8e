//! Public keys that Google publishes: its own, and those of each service account (contract 4.3, 8.2; SEC-G1, G8, N9).
//!
//! The two kinds are never merged: which one has the key decides whose token it is.

use std::collections::HashMap;
use std::sync::Arc;

use gatehouse_ports::{Clock, Http, HttpResponse, Random};
use pkcs1::RsaPublicKeyRef;
use pkcs8::ObjectIdentifier;
use x509_cert::Certificate;
use x509_cert::der::DecodePem as _;

use super::exchange::{CallError, Question};
use super::freshness::lifetime;
use super::memory::lock;
use super::{Api, Google};
use crate::KeyRefusal;
use crate::jwt::Subject;
use crate::rs256::VerifyingKey;

const RSA_ENCRYPTION: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.1");

/// Seconds that Google's own document is used at most without asking again.
const LONGEST_GOOGLE: u64 = 6 * 3600;
/// Seconds beyond that during which it is used while Google cannot be reached.
const STALE_GOOGLE: u64 = 3600;
/// Seconds that an account's document is used at most: its keys can be removed at any time.
const LONGEST_ACCOUNT: u64 = 15 * 60;
/// Seconds between two questions for one document because of a key that it lacks, and that an account without keys is remembered.
const ASK_AGAIN_AFTER: u64 = 30;

/// Seconds that a failure to reach Google is remembered when nothing older can be used. Not [`ASK_AGAIN_AFTER`], because logins must
/// recover within 5 s of an outage (SEC-N7); three tries in 5 s are still fewer than one call per second.
const OUTAGE_REMEMBERED: u64 = 5;

/// Who publishes a key, and so whose token it signs.
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

/// Why there is no key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KeyError {
    Call(CallError),
    Refused(KeyRefusal),
}

impl KeyError {
    /// When to ask again, for a question that failed at `failed_at`. What the server itself denies was never asked.
    const fn remembered_until(self, failed_at: u64) -> u64 {
        let seconds = match self {
            Self::Call(CallError::Unavailable(_) | CallError::Unusable(_)) => OUTAGE_REMEMBERED,
            Self::Call(CallError::Denied(_)) => 0,
            Self::Refused(_) => ASK_AGAIN_AFTER,
        };
        failed_at.saturating_add(seconds)
    }
}

/// The usable keys of one answer.
#[derive(Debug, Clone)]
pub(super) struct Document {
    keys: Arc<HashMap<String, Arc<VerifyingKey>>>,
    fresh_until: u64,
}

/// What is remembered of Google's own document.
#[derive(Debug, Clone, Default)]
pub(super) struct GoogleKeys {
    document: Option<Document>,
    /// Why the last question failed, and until when that is the answer where no document can be used.
    failure: Option<(KeyError, u64)>,
    /// When Google was last asked, with or without success.
    asked_at: u64,
}

/// What is remembered of an account's document.
#[derive(Debug, Clone)]
pub(super) enum AccountKeys {
    /// Google publishes none.
    Unknown,
    /// The document could not be had, and there is no older one.
    Failed(KeyError),
    Published {
        document: Document,
        asked_at: u64,
    },
}

impl<H: Http, C: Clock, R: Random> Google<'_, H, C, R> {
    /// The key called `key_id`: Google's own, or else one of the account that `subject` names.
    pub(crate) fn find_key(
        &self,
        key_id: &str,
        subject: &Subject,
    ) -> Result<(Arc<VerifyingKey>, KeyOwner), KeyError> {
        if let Some(key) = self.google_key(key_id)? {
            return Ok((key, KeyOwner::Google));
        }
        let key = self.account_key(key_id, subject)?;
        Ok((key, KeyOwner::Account))
    }

    /// The key called `key_id` among Google's own.
    pub(crate) fn find_google_key(
        &self,
        key_id: &str,
    ) -> Result<(Arc<VerifyingKey>, KeyOwner), KeyError> {
        let key = self.google_key(key_id)?;
        key.map(|key| (key, KeyOwner::Google))
            .ok_or(KeyError::Refused(KeyRefusal::NotGoogles))
    }

    fn google_key(&self, key_id: &str) -> Result<Option<Arc<VerifyingKey>>, KeyError> {
        let now = self.now();
        let known = lock(&self.memory.google_keys).clone();
        let asked_lately = now < known.asked_at.saturating_add(ASK_AGAIN_AFTER);
        if let Some(document) = &known.document {
            let usable_until = if asked_lately {
                document.fresh_until.saturating_add(STALE_GOOGLE)
            } else {
                document.fresh_until
            };
            let key = document.keys.get(key_id);
            if now < usable_until && (key.is_some() || asked_lately) {
                return Ok(key.cloned());
            }
        }
        if let Some((error, until)) = known.failure
            && now < until
        {
            return Err(error);
        }
        let answer = self
            .published(&["oauth2", "v1", "certs"], None)
            .and_then(|answer| document_in(&answer, now, LONGEST_GOOGLE));
        let failed_at = self.now();
        let mut memory = lock(&self.memory.google_keys);
        memory.asked_at = now;
        memory.failure = None;
        match answer {
            Ok(document) => {
                let key = document.keys.get(key_id).cloned();
                memory.document = Some(document);
                Ok(key)
            }
            Err(error) => {
                memory.failure = Some((error, error.remembered_until(failed_at)));
                let stale = memory
                    .document
                    .as_ref()
                    .filter(|document| now < document.fresh_until.saturating_add(STALE_GOOGLE));
                stale
                    .and_then(|document| document.keys.get(key_id).cloned())
                    .map(Some)
                    .ok_or(error)
            }
        }
    }

    fn account_key(&self, key_id: &str, subject: &Subject) -> Result<Arc<VerifyingKey>, KeyError> {
        let now = self.now();
        let unknown = KeyError::Refused(KeyRefusal::KeyUnknown);
        let known = lock(&self.memory.account_keys).get(subject.as_str(), now);
        match &known {
            Some(AccountKeys::Unknown) => {
                return Err(KeyError::Refused(KeyRefusal::AccountUnknown));
            }
            Some(AccountKeys::Failed(error)) => return Err(*error),
            Some(AccountKeys::Published { document, asked_at }) => {
                if let Some(key) = document.keys.get(key_id) {
                    return Ok(Arc::clone(key));
                }
                if now < asked_at.saturating_add(ASK_AGAIN_AFTER) {
                    return Err(unknown);
                }
            }
            None => {}
        }
        let segments = [
            "service_accounts",
            "v1",
            "metadata",
            "x509",
            subject.as_str(),
        ];
        let answer = self.published(&segments, Some("alt=json"));
        let found = answer.and_then(|answer| {
            if answer.status == 404 {
                return Ok(None);
            }
            document_in(&answer, now, LONGEST_ACCOUNT).map(Some)
        });
        let ((keys, until), outcome) = match found {
            Ok(None) => (
                (AccountKeys::Unknown, now.saturating_add(ASK_AGAIN_AFTER)),
                Err(KeyError::Refused(KeyRefusal::AccountUnknown)),
            ),
            Ok(Some(document)) => {
                let key = document.keys.get(key_id).cloned().ok_or(unknown);
                let fresh_until = document.fresh_until;
                let asked_at = now;
                let published = AccountKeys::Published { document, asked_at };
                ((published, fresh_until), key)
            }
            Err(error) => {
                // A document that is still fresh stays, and is not asked for again at once.
                let kept = if let Some(AccountKeys::Published { document, .. }) = known {
                    let fresh_until = document.fresh_until;
                    let asked_at = now;
                    (AccountKeys::Published { document, asked_at }, fresh_until)
                } else {
                    (
                        AccountKeys::Failed(error),
                        error.remembered_until(self.now()),
                    )
                };
                (kept, Err(error))
            }
        };
        lock(&self.memory.account_keys).insert(subject.as_str(), keys, until, now);
        outcome
    }

    /// Key documents are public: they are asked for without credentials.
    fn published(&self, segments: &[&str], query: Option<&str>) -> Result<HttpResponse, KeyError> {
        let mut url = self.endpoints.url(Api::Certificates, segments);
        if let Some(url) = &mut url {
            url.set_query(query);
        }
        self.ask(Question::get(Api::Certificates, url))
            .map_err(KeyError::Call)
    }
}

fn document_in(answer: &HttpResponse, now: u64, longest: u64) -> Result<Document, KeyError> {
    let unreadable = KeyError::Refused(KeyRefusal::DocumentUnreadable);
    if answer.status != 200 {
        return Err(unreadable);
    }
    let certificates: HashMap<String, String> =
        serde_json::from_slice(&answer.body).map_err(|_| unreadable)?;
    let keys = certificates
        .into_iter()
        .filter_map(|(key_id, pem)| Some((key_id, Arc::new(key_in(&pem)?))))
        .collect();
    Ok(Document {
        keys: Arc::new(keys),
        fresh_until: now.saturating_add(lifetime(answer, longest)),
    })
}

/// The key of a certificate, of which nothing else counts; `None` when it is not one that RS256 can use (SEC-J13).
fn key_in(pem: &str) -> Option<VerifyingKey> {
    let certificate = Certificate::from_pem(pem).ok()?;
    let key = certificate.tbs_certificate().subject_public_key_info();
    if key.algorithm.oid != RSA_ENCRYPTION {
        return None;
    }
    let key = RsaPublicKeyRef::try_from(key.subject_public_key.as_bytes()?).ok()?;
    VerifyingKey::from_components(key.modulus.as_bytes(), key.public_exponent.as_bytes()).ok()
}
