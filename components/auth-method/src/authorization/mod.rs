//! Authorization: decides if a role lets a caller in, whose token is proven (contract 4.4, 4.6).

mod account;
mod ancestors;
mod claimant;
mod instance;

pub(crate) use claimant::{Caller, Claimant};

use gatehouse_ports::{Clock, Http, Random};

use self::account::{account_of, check_account, confirmed};
use crate::google::{ApiError, Google, ServiceAccount};
use crate::trace::Trace;
use crate::{CredentialsError, CredentialsRefusal, CredentialsStep, LoginError, Role, RoleRules};

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
