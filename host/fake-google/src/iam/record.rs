//! The record of a service account (contract 8.3).

use serde_json::{Value, json};

use crate::account::Account;
use crate::answer::Outcome;
use crate::call::Call;
use crate::iam::{IamRequest, permission_denied};
use crate::state::State;

const GET: &str = "iam.serviceAccounts.get";

impl State {
    /// Answers `serviceAccounts.get`.
    pub(super) fn service_account(&self, request: &IamRequest<'_>, call: &Call<'_>) -> Outcome {
        let account = self.permitted_account(request, GET, call)?;
        if account.hidden {
            return Err(permission_denied(GET));
        }
        Ok(record_of(account))
    }
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
