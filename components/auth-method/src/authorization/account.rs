//! The account of a claimant, and the checks of it.

use std::sync::Arc;

use gatehouse_ports::{Clock, Http, Random};

use super::claimant::Claimant;
use crate::google::{ApiError, Google, ServiceAccount};
use crate::roles::ANY_ACCOUNT;
use crate::trace::{Condition as _, Trace, input, list};
use crate::{AccountNotBound, AccountRefusal, Check, LoginError, ProjectNotBound, Role};

/// The account as Google knows it now, or as far as the token itself tells on a role that trusts it.
pub(super) fn account_of<H: Http, C: Clock, R: Random>(
    role: &Role,
    claimant: &Claimant<'_>,
    google: &Google<'_, H, C, R>,
    not_found: fn(AccountRefusal) -> LoginError,
) -> Result<Arc<ServiceAccount>, LoginError> {
    if role.options.trust_claims {
        return Ok(Arc::new(ServiceAccount {
            email: claimant.email.to_owned(),
            unique_id: claimant.subject.to_owned(),
            project_id: String::new(),
            disabled: false,
        }));
    }
    google
        .service_account(claimant.subject)
        .map_err(|error| match error {
            ApiError::Refused(refusal) => not_found(AccountRefusal {
                account: claimant.subject.to_owned(),
                refusal,
            }),
            other => other.into(),
        })
}

/// I3 and I4: the account exists, is the one asked for, and is enabled.
pub(super) fn confirmed(
    account: Result<Arc<ServiceAccount>, LoginError>,
    claimant: &Claimant<'_>,
    confirm: impl FnOnce(&ServiceAccount) -> Result<(), LoginError>,
    trace: &mut impl Trace,
) -> Result<Arc<ServiceAccount>, LoginError> {
    let outcome = account.and_then(|account| {
        if !account.is_called(claimant.subject) {
            return Err(LoginError::AccountMismatch);
        }
        if account.disabled {
            return Err(LoginError::AccountDisabled(account.email.clone()));
        }
        confirm(&account)?;
        Ok(account)
    });
    let inputs = || vec![input("sub", claimant.subject)];
    trace.require(Check::Account, inputs, outcome)
}

/// I5 and I6: the account's project, then the account. Names are compared exactly (SEC-G10, G11).
pub(super) fn check_account(
    role: &Role,
    account: &ServiceAccount,
    trace: &mut impl Trace,
) -> Result<(), LoginError> {
    let projects = &role.bound_projects;
    trace.judge(
        Check::Project,
        || {
            let bound = list("bound_projects", projects);
            vec![input("project", &account.project_id), bound]
        },
        is_bound(projects, &account.project_id).otherwise_with(|| {
            LoginError::ProjectNotBound(ProjectNotBound {
                email: account.email.clone(),
                bound_projects: projects.clone(),
            })
        }),
    )?;
    trace.judge(
        Check::BoundAccount,
        || account_inputs(role, account),
        lets_in(role, account).otherwise_with(|| {
            LoginError::AccountNotBound(AccountNotBound {
                email: account.email.clone(),
                unique_id: account.unique_id.clone(),
            })
        }),
    )
}

pub(super) fn account_inputs(role: &Role, account: &ServiceAccount) -> Vec<(String, String)> {
    vec![
        input("service_account_email", &account.email),
        input("service_account_id", &account.unique_id),
        list("bound_service_accounts", &role.bound_service_accounts),
    ]
}

/// True if `value` is among `bounds`, of which an empty list binds nothing.
pub(super) fn is_bound(bounds: &[String], value: &str) -> bool {
    bounds.is_empty() || bounds.iter().any(|bound| bound == value)
}

pub(super) fn lets_in(role: &Role, account: &ServiceAccount) -> bool {
    let accounts = &role.bound_service_accounts;
    accounts.as_slice() == [ANY_ACCOUNT] || accounts.iter().any(|name| account.is_called(name))
}
