//! Service accounts as Google knows them now (contract 8.3; SEC-G6, G7).

use std::sync::Arc;

use gatehouse_ports::{Clock, Http, Random};

use super::api_error::ApiError;
use super::call_error::CallError;
use super::exchange::Question;
use super::service_account::{ServiceAccount, service_account_in};
use super::single_flight::SharedQuestion;
use super::{Api, Google};

/// Milliseconds that the state of an account is believed without asking again.
const BELIEVED_FOR: u64 = 60_000;

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
