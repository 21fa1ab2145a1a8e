//! The documents in which Google and its service accounts publish their keys (contract 8.2).

use std::borrow::Cow;
use std::sync::Arc;

use http::{Method, StatusCode};
use serde_json::{Map, Value, json};

use crate::account::Account;
use crate::answer::{self, Answer};
use crate::endpoint::Endpoint;
use crate::route::decode;
use crate::signing_key::SigningKey;
use crate::state::State;

/// A request for keys: whose they are, and in which form.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum KeyDocumentRequest<'a> {
    GoogleCertificates,
    GoogleKeySet,
    AccountCertificates(Cow<'a, str>),
    AccountKeySet(Cow<'a, str>),
}

impl<'a> KeyDocumentRequest<'a> {
    /// The request that these path segments make.
    pub(crate) fn parse(method: &Method, segments: &[&'a str]) -> Option<Self> {
        if method != Method::GET {
            return None;
        }
        match segments {
            ["oauth2", "v1", "certs"] => Some(Self::GoogleCertificates),
            ["oauth2", "v3", "certs"] => Some(Self::GoogleKeySet),
            ["service_accounts", "v1", "metadata", "x509", account] => {
                Some(Self::AccountCertificates(decode(account)))
            }
            ["service_accounts", "v1", "metadata", "jwk", account] => {
                Some(Self::AccountKeySet(decode(account)))
            }
            _ => None,
        }
    }

    /// The kind of request.
    pub(crate) fn endpoint(&self) -> Endpoint {
        match self {
            Self::GoogleCertificates => Endpoint::GoogleCertificates,
            Self::GoogleKeySet => Endpoint::GoogleKeySet,
            Self::AccountCertificates(_) => Endpoint::AccountCertificates,
            Self::AccountKeySet(_) => Endpoint::AccountKeySet,
        }
    }

    /// The same request for another account; Google's own keys stay what they are.
    pub(crate) fn for_account(self, other: &'a str) -> Self {
        match self {
            Self::AccountCertificates(_) => Self::AccountCertificates(other.into()),
            Self::AccountKeySet(_) => Self::AccountKeySet(other.into()),
            own => own,
        }
    }
}

impl State {
    /// Answers a request for keys.
    pub(crate) fn answer_key_document(&self, request: &KeyDocumentRequest<'_>) -> Answer {
        let endpoint = request.endpoint();
        match request {
            KeyDocumentRequest::GoogleCertificates => {
                self.key_document(endpoint, certificates(&self.google_keys))
            }
            KeyDocumentRequest::GoogleKeySet => {
                self.key_document(endpoint, key_set(&self.google_keys))
            }
            KeyDocumentRequest::AccountCertificates(account) => {
                self.account_document(endpoint, account, published_certificates)
            }
            KeyDocumentRequest::AccountKeySet(account) => {
                self.account_document(endpoint, account, |account| key_set(&account.keys))
            }
        }
    }

    fn account_document(
        &self,
        endpoint: Endpoint,
        name: &str,
        write: impl Fn(&Account) -> Map<String, Value>,
    ) -> Answer {
        match self.account(name) {
            Some(account) => self.key_document(endpoint, write(account)),
            None => answer::api_error(
                StatusCode::NOT_FOUND,
                &format!("Service account not found: {name}"),
            ),
        }
    }

    fn key_document(&self, endpoint: Endpoint, document: Map<String, Value>) -> Answer {
        let mut answer = answer::json(StatusCode::OK, &Value::Object(document));
        if let Some(caching) = self.cache_headers.get(&endpoint) {
            caching.apply(answer.headers_mut());
        }
        answer
    }
}

/// An account's certificates, with whatever else was published under its name.
fn published_certificates(account: &Account) -> Map<String, Value> {
    let mut document = certificates(&account.keys);
    let foreign = account.foreign_certificates.iter();
    document.extend(foreign.map(|(key_id, pem)| (key_id.clone(), pem.as_str().into())));
    document
}

fn certificates(keys: &[Arc<SigningKey>]) -> Map<String, Value> {
    keys.iter()
        .map(|key| (key.key_id().to_owned(), key.certificate_pem().into()))
        .collect()
}

fn key_set(keys: &[Arc<SigningKey>]) -> Map<String, Value> {
    let jwks: Vec<Value> = keys.iter().map(|key| key.jwk()).collect();
    Map::from_iter([("keys".to_owned(), json!(jwks))])
}
