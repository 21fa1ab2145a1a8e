//! The caller, before and after a role has let them in.

use std::sync::Arc;

use crate::google::ServiceAccount;
use crate::jwt::InstanceClaims;

/// The caller that asks to be let in, as a proven token or an earlier login names them.
pub(crate) struct Claimant<'a> {
    /// Unique id or e-mail address of the service account.
    pub(crate) subject: &'a str,
    /// E-mail address, if Google vouched for it in the token; empty otherwise.
    pub(crate) email: &'a str,
    /// The instance, if Google vouched for it.
    pub(crate) instance: Option<&'a InstanceClaims>,
}

/// A caller whom the role lets in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Caller {
    pub(crate) account: Arc<ServiceAccount>,
    /// On gce roles.
    pub(crate) instance: Option<InstanceClaims>,
    /// Group names that the project's ancestors stand for, if the role asks for them.
    pub(crate) group_aliases: Option<Vec<String>>,
}

impl Caller {
    /// The project that authorization goes by: the instance's, or that of the account.
    pub(crate) fn project(&self) -> &str {
        self.instance
            .as_ref()
            .map_or(&self.account.project_id, |instance| &instance.project_id)
    }
}
