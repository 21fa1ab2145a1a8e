//! Service accounts as Google knows them now (contract 8.3; SEC-G6, G7).

use std::sync::Arc;

use gatehouse_ports::{Clock, Http, Random};
use serde::{Deserialize, Serialize};

use super::authorized::ApiError;
use super::exchange::{CallError, Question};
use super::memory::lock;
use super::{Api, Google};
use crate::ApiRefusal;

/// Seconds that the state of an account is believed without asking again.
const BELIEVED_FOR: u64 = 60;
/// Seconds that an account stays unknown without asking again.
const UNKNOWN_FOR: u64 = 30;

/// A service account, by Google's word.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
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
pub(super) type AccountAnswer = Result<Arc<ServiceAccount>, ApiRefusal>;

impl<H: Http, C: Clock, R: Random> Google<'_, H, C, R> {
    /// The account with this e-mail address or unique id.
    pub(crate) fn service_account(&self, name: &str) -> Result<Arc<ServiceAccount>, ApiError> {
        let now = self.now();
        if let Some(remembered) = lock(&self.memory.accounts).get(name, now) {
            return remembered.map_err(ApiError::Refused);
        }
        let answer = self.ask_for_account(name);
        let remembered = match &answer {
            Ok(account) => Some((Ok(Arc::clone(account)), BELIEVED_FOR)),
            Err(ApiError::Refused(refusal)) if refusal.status == 404 => {
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

    fn ask_for_account(&self, name: &str) -> Result<Arc<ServiceAccount>, ApiError> {
        let segments = ["v1", "projects", "-", "serviceAccounts", name];
        let url = self.endpoints.url(Api::Iam, &segments);
        let account: ServiceAccount = self.ask_authorized(&Question::get(Api::Iam, url))?;
        if account.is_complete() {
            Ok(Arc::new(account))
        } else {
            Err(CallError::Unusable(Api::Iam).into())
        }
    }
}
