//! Authorization: decides if a role lets a caller in, whose token is proven (contract 4.4, 4.6).

mod ancestors;
mod instance;

use std::sync::Arc;

use gatehouse_ports::{Clock, Http, Random};

use crate::google::{ApiError, Google, ServiceAccount};
use crate::jwt::InstanceClaims;
use crate::roles::ANY_ACCOUNT;
use crate::trace::{Condition as _, Trace, input, list};
use crate::{
    AccountNotBound, AccountRefusal, Check, CredentialsError, CredentialsRefusal, CredentialsStep,
    LoginError, ProjectNotBound, Role, RoleRules,
};

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

/// Makes every check of `role` about the claimant that Google can answer now. `confirm` has the last word on the account.
pub(crate) fn authorize<H: Http, C: Clock, R: Random>(
    role: &Role,
    claimant: &Claimant<'_>,
    google: &Google<'_, H, C, R>,
    confirm: impl FnOnce(&ServiceAccount) -> Result<(), LoginError>,
    trace: &mut impl Trace,
) -> Result<Caller, LoginError> {
    let mut caller = match &role.rules {
        RoleRules::Iam(_) => {
            let account = account_of(role, claimant, google, LoginError::AccountNotFound);
            let account = confirmed(account, claimant, confirm, trace)?;
            check_account(role, &account, trace)?;
            Caller {
                account,
                instance: None,
                group_aliases: None,
            }
        }
        RoleRules::Gce(rules) => {
            instance::authorize(role, rules, claimant, google, confirm, trace)?
        }
    };
    caller.group_aliases = ancestors::check(role, caller.project(), google, trace)?;
    Ok(caller)
}

/// The account as Google knows it now, or as far as the token itself tells on a role that trusts it.
fn account_of<H: Http, C: Clock, R: Random>(
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

/// I3 and I4: the account is there, is the one asked for, and is enabled.
fn confirmed(
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
fn check_account(
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

fn account_inputs(role: &Role, account: &ServiceAccount) -> Vec<(String, String)> {
    vec![
        input("service_account_email", &account.email),
        input("service_account_id", &account.unique_id),
        list("bound_service_accounts", &role.bound_service_accounts),
    ]
}

/// True if `value` is among `bounds`, of which an empty list binds nothing.
fn is_bound(bounds: &[String], value: &str) -> bool {
    bounds.is_empty() || bounds.iter().any(|bound| bound == value)
}

fn lets_in(role: &Role, account: &ServiceAccount) -> bool {
    let accounts = &role.bound_service_accounts;
    accounts.as_slice() == [ANY_ACCOUNT] || accounts.iter().any(|name| account.is_called(name))
}

impl From<ApiError> for LoginError {
    /// A refusal without a text of its own is about the mount's credentials.
    fn from(error: ApiError) -> Self {
        match error {
            ApiError::Refused(refusal) => {
                Self::Credentials(CredentialsError::Refused(CredentialsRefusal {
                    step: CredentialsStep::Use,
                    status: refusal.status,
                    message: refusal.reason,
                }))
            }
            ApiError::Credentials(failure) => Self::Credentials(failure),
            ApiError::Call(error) => error.into(),
            ApiError::Storage(error) => Self::Storage(error),
        }
    }
}
