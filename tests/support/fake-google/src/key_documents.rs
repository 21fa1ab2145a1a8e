//! The documents in which Google and its service accounts publish their keys (contract 8.2).

use std::sync::Arc;

use http::StatusCode;
use serde_json::{Map, Value, json};

use crate::account::Account;
use crate::answer::{self, Answer};
use crate::endpoint::Endpoint;
use crate::signing_key::SigningKey;
use crate::state::State;

impl State {
    /// Google's own keys as certificates.
    pub(crate) fn google_certificates(&self) -> Answer {
        self.key_document(
            Endpoint::GoogleCertificates,
            certificates(&self.google_keys),
        )
    }

    /// Google's own keys as JWKs.
    pub(crate) fn google_key_set(&self) -> Answer {
        self.key_document(Endpoint::GoogleKeySet, key_set(&self.google_keys))
    }

    /// An account's keys as certificates, with whatever else was published under its name.
    pub(crate) fn account_certificates(&self, name: &str) -> Answer {
        self.account_document(Endpoint::AccountCertificates, name, |account| {
            let mut document = certificates(&account.keys);
            let foreign = account.foreign_certificates.iter();
            document.extend(foreign.map(|(key_id, pem)| (key_id.clone(), pem.as_str().into())));
            document
        })
    }

    /// An account's keys as JWKs.
    pub(crate) fn account_key_set(&self, name: &str) -> Answer {
        self.account_document(Endpoint::AccountKeySet, name, |account| {
            key_set(&account.keys)
        })
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

fn certificates(keys: &[Arc<SigningKey>]) -> Map<String, Value> {
    keys.iter()
        .map(|key| (key.key_id().to_owned(), key.certificate_pem().into()))
        .collect()
}

fn key_set(keys: &[Arc<SigningKey>]) -> Map<String, Value> {
    let jwks: Vec<Value> = keys.iter().map(|key| key.jwk()).collect();
    Map::from_iter([("keys".to_owned(), json!(jwks))])
}
