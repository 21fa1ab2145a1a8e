//! A service account, and what an answer tells of one.

use serde::{Deserialize, Serialize};

use super::strict::identity_in;

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

/// The account that an answer of the API tells of; `None` when it is not one about an account.
pub(crate) fn service_account_in(body: &[u8]) -> Option<ServiceAccount> {
    let account: ServiceAccount = identity_in(body).ok()?;
    account.is_complete().then_some(account)
}
