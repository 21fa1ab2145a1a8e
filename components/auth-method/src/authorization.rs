//! Whether a role lets a service account in (contract 4.4, I5 and I6).

use crate::Role;
use crate::google::ServiceAccount;
use crate::roles::ANY_ACCOUNT;

/// Which of a role's bounds an account is outside of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Refusal {
    Project {
        email: String,
        bound_projects: Vec<String>,
    },
    Account {
        email: String,
        unique_id: String,
    },
}

/// Checks the account's project, then the account. Names are compared exactly.
pub(crate) fn check(role: &Role, account: &ServiceAccount) -> Result<(), Refusal> {
    let projects = &role.bound_projects;
    if !projects.is_empty() && !projects.contains(&account.project_id) {
        return Err(Refusal::Project {
            email: account.email.clone(),
            bound_projects: projects.clone(),
        });
    }
    let accounts = &role.bound_service_accounts;
    let anybody = accounts.as_slice() == [ANY_ACCOUNT];
    if anybody || accounts.iter().any(|name| account.is_called(name)) {
        return Ok(());
    }
    Err(Refusal::Account {
        email: account.email.clone(),
        unique_id: account.unique_id.clone(),
    })
}
