//! IAM: the record of a service account, for callers with an access token (contract 8.3).

use http::header::{AUTHORIZATION, HeaderValue, WWW_AUTHENTICATE};
use http::{HeaderMap, StatusCode};
use serde_json::{Value, json};

use crate::account::Account;
use crate::answer::{self, Answer};
use crate::state::State;

/// The scopes of which one opens IAM.
const IAM_SCOPES: [&str; 2] = [
    "https://www.googleapis.com/auth/cloud-platform",
    "https://www.googleapis.com/auth/iam",
];

impl State {
    /// Answers `serviceAccounts.get`.
    pub(crate) fn service_account(
        &self,
        project: &str,
        name: &str,
        headers: &HeaderMap,
        now: u64,
    ) -> Answer {
        if let Err(refusal) = self.authenticate(headers, now) {
            return *refusal;
        }
        match self.account(name) {
            Some(account) if account.hidden => answer::api_error(
                StatusCode::FORBIDDEN,
                "Permission 'iam.serviceAccounts.get' denied on resource (or it may not exist).",
            ),
            Some(account) if project == "-" || project == account.spec.project_id => {
                answer::json(StatusCode::OK, &record_of(account))
            }
            _ => answer::api_error(StatusCode::NOT_FOUND, "Unknown service account"),
        }
    }

    /// Lets a caller pass who holds a live access token of a live account, with a fitting scope.
    fn authenticate(&self, headers: &HeaderMap, now: u64) -> Result<(), Box<Answer>> {
        let Some(bearer) = headers.get(AUTHORIZATION) else {
            return Err(unauthenticated(
                "Request is missing required authentication credential.",
            ));
        };
        let token = bearer
            .to_str()
            .ok()
            .and_then(|text| text.strip_prefix("Bearer "))
            .and_then(|text| self.access_tokens.find(text, now))
            .filter(|token| {
                self.account(token.account())
                    .is_some_and(|account| !account.disabled)
            });
        match token {
            None => Err(unauthenticated(
                "Request had invalid authentication credentials.",
            )),
            Some(token) if IAM_SCOPES.iter().any(|scope| token.has_scope(scope)) => Ok(()),
            Some(_) => Err(Box::new(answer::api_error(
                StatusCode::FORBIDDEN,
                "Request had insufficient authentication scopes.",
            ))),
        }
    }
}

fn unauthenticated(problem: &str) -> Box<Answer> {
    let message = format!(
        "{problem} Expected OAuth 2 access token, login cookie or other valid authentication credential. \
         See https://developers.google.com/identity/sign-in/web/devconsole-project."
    );
    let mut answer = answer::api_error(StatusCode::UNAUTHORIZED, &message);
    let challenge = HeaderValue::from_static("Bearer realm=\"https://accounts.google.com/\"");
    answer.headers_mut().insert(WWW_AUTHENTICATE, challenge);
    Box::new(answer)
}

fn record_of(account: &Account) -> Value {
    let spec = &account.spec;
    let mut record = json!({
        "name": format!("projects/{}/serviceAccounts/{}", spec.project_id, spec.email),
        "projectId": spec.project_id,
        "uniqueId": spec.unique_id,
        "email": spec.email,
    });
    // Google writes no field that has its default value.
    if account.disabled
        && let Some(fields) = record.as_object_mut()
    {
        fields.insert("disabled".to_owned(), true.into());
    }
    record
}
