//! Service accounts as Google knows them now (contract 8.3; SEC-G6, G7).

use std::sync::Arc;

use gatehouse_ports::{Clock, Http, HttpResponse, Method, Random};
use gatehouse_storage::StorageError;
use serde::Deserialize;

use super::answers::api_refusal;
use super::exchange::{CallError, Question};
use super::memory::lock;
use super::tokens::TokenError;
use super::{Api, Google};
use crate::{AccountRefusal, CredentialsFailure};

/// Seconds that the state of an account is believed without asking again.
const BELIEVED_FOR: u64 = 60;
/// Seconds that an account stays unknown without asking again.
const UNKNOWN_FOR: u64 = 30;

/// A service account, by Google's word.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ServiceAccount {
    pub(crate) email: String,
    pub(crate) unique_id: String,
    pub(crate) project_id: String,
    #[serde(default)]
    pub(crate) disabled: bool,
}

impl ServiceAccount {
    /// Whether `name` is its e-mail address or its unique id, exactly.
    pub(crate) fn is_called(&self, name: &str) -> bool {
        name == self.unique_id || name == self.email
    }

    fn is_complete(&self) -> bool {
        [&self.email, &self.unique_id, &self.project_id]
            .iter()
            .all(|text| !text.is_empty())
    }
}

/// What is remembered of a question.
pub(super) type AccountAnswer = Result<Arc<ServiceAccount>, AccountRefusal>;

/// Why the state of an account is not known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum AccountError {
    Refused(AccountRefusal),
    Credentials(CredentialsFailure),
    Call(CallError),
    Storage(StorageError),
}

impl From<TokenError> for AccountError {
    fn from(error: TokenError) -> Self {
        match error {
            TokenError::Credentials(failure) => Self::Credentials(failure),
            TokenError::Call(error) => Self::Call(error),
            TokenError::Storage(error) => Self::Storage(error),
        }
    }
}

impl<H: Http, C: Clock, R: Random> Google<'_, H, C, R> {
    /// The account with this e-mail address or unique id.
    pub(crate) fn service_account(&self, name: &str) -> Result<Arc<ServiceAccount>, AccountError> {
        let now = self.now();
        if let Some(remembered) = lock(&self.memory.accounts).get(name, now) {
            return remembered.map_err(AccountError::Refused);
        }
        let answer = self.ask_for_account(name);
        let remembered = match &answer {
            Ok(account) => Some((Ok(Arc::clone(account)), BELIEVED_FOR)),
            Err(AccountError::Refused(refusal)) if refusal.status == 404 => {
                Some((Err(refusal.clone()), UNKNOWN_FOR))
            }
            Err(_) => None,
        };
        if let Some((remembered, seconds)) = remembered {
            let until = now.saturating_add(seconds);
            lock(&self.memory.accounts).insert(name, remembered, until, now);
        }
        answer
    }

    fn ask_for_account(&self, name: &str) -> Result<Arc<ServiceAccount>, AccountError> {
        let mut token = self.access_token()?;
        let mut answer = self.account_answer(name, &token.text)?;
        if answer.status == 401 && !token.is_new {
            // The remembered access token may have been revoked.
            self.forget_access_token();
            token = self.access_token()?;
            answer = self.account_answer(name, &token.text)?;
        }
        match answer.status {
            200 => serde_json::from_slice(&answer.body)
                .ok()
                .filter(ServiceAccount::is_complete)
                .map(Arc::new)
                // An answer that cannot be read says nothing about the account.
                .ok_or(AccountError::Call(CallError::Unavailable(Api::Iam))),
            401 => {
                self.forget_access_token();
                Err(AccountError::Credentials(CredentialsFailure::Refused {
                    status: 401,
                    message: api_refusal(&answer.body).reason,
                }))
            }
            status @ 400..500 => {
                let refusal = api_refusal(&answer.body);
                Err(AccountError::Refused(AccountRefusal {
                    account: name.to_owned(),
                    status,
                    message: refusal.message,
                    reason: refusal.reason,
                }))
            }
            _ => Err(AccountError::Call(CallError::Unavailable(Api::Iam))),
        }
    }

    fn account_answer(&self, name: &str, token: &str) -> Result<HttpResponse, AccountError> {
        let segments = ["v1", "projects", "-", "serviceAccounts", name];
        self.ask(Question {
            api: Api::Iam,
            method: Method::Get,
            url: self.endpoints.url(Api::Iam, &segments),
            headers: vec![("authorization".to_owned(), format!("Bearer {token}"))],
            body: Vec::new(),
        })
        .map_err(AccountError::Call)
    }
}
