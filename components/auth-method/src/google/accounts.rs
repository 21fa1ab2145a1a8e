//! Service accounts as Google knows them now (contract 8.3; SEC-G6, G7).

use std::sync::Arc;

use gatehouse_ports::{Clock, Http, Random};
use serde::{Deserialize, Serialize};

use super::authorized::ApiError;
use super::exchange::{CallError, Question};
use super::single_flight::SharedQuestion;
use super::strict::identity_in;
use super::{Api, Google};

/// Milliseconds that the state of an account is believed without asking again.
const BELIEVED_FOR: u64 = 60_000;

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
    /// True if `name` is its e-mail address or its unique id, exactly.
    pub(crate) fn is_called(&self, name: &str) -> bool {
        name == self.unique_id || name == self.email
    }

    fn is_complete(&self) -> bool {
        [&self.email, &self.unique_id, &self.project_id]
            .iter()
            .all(|text| !text.is_empty())
    }
}

impl<H: Http, C: Clock, R: Random> Google<'_, H, C, R> {
    /// The account with this e-mail address or unique id.
    pub(crate) fn service_account(&self, name: &str) -> Result<Arc<ServiceAccount>, ApiError> {
        let question = SharedQuestion {
            api: Api::Iam,
            kind: "account",
            name,
            slot: &self.memory.accounts,
            stale_for: 0,
        };
        let found = self.consult(
            &question,
            |_| true,
            || Ok((self.ask_for_account(name)?, BELIEVED_FOR)),
        )?;
        Ok(found.value)
    }

    fn ask_for_account(&self, name: &str) -> Result<ServiceAccount, ApiError> {
        let segments = ["v1", "projects", "-", "serviceAccounts", name];
        let url = self.endpoints.url(Api::Iam, &segments);
        let answer = self.authorized_answer(&Question::get(Api::Iam, url))?;
        service_account_in(&answer.body).ok_or_else(|| CallError::Unusable(Api::Iam).into())
    }
}

/// The account that an answer of the API tells of; `None` when it is not one about an account.
pub(crate) fn service_account_in(body: &[u8]) -> Option<ServiceAccount> {
    let account: ServiceAccount = identity_in(body).ok()?;
    account.is_complete().then_some(account)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn g6_only_an_object_with_one_reading_is_an_account() {
        let account = r#"{"email":"a@x","uniqueId":"1","projectId":"p","etag":"e"}"#;
        assert!(service_account_in(account.as_bytes()).is_some_and(|it| it.is_called("1")));
        for odd in [
            r#"["a@x","1","p",false]"#,
            r#"[{"email":"a@x","uniqueId":"1","projectId":"p"}]"#,
            r#"{"email":"a@x","uniqueId":"1","projectId":"p","uniqueId":"2"}"#,
            r#"{"email":"a@x","uniqueId":"1","projectId":"p","etag":1,"etag":2}"#,
            r#"{"email":"a@x","uniqueId":1,"projectId":"p"}"#,
            r#"{"email":"a@x","uniqueId":"1"}"#,
            r#"{"email":"","uniqueId":"1","projectId":"p"}"#,
            r#"{"error":{"code":404}}"#,
            "<html>",
        ] {
            assert!(service_account_in(odd.as_bytes()).is_none(), "{odd}");
        }
    }
}
