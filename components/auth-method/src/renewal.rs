//! Whether an earlier login may go on (contract 4.10).

use gatehouse_ports::{Clock, Http, Random, Store};
use gatehouse_storage::{Record, StorageError, decode, encode};
use serde::{Deserialize, Serialize};

use crate::authorization;
use crate::google::{AccountError, CallError, KeyOwner, ServiceAccount};
use crate::policies::are_equivalent;
use crate::roles::RoleName;
use crate::service::AuthMethodService;
use crate::{Mount, RenewalError, RenewalRequest, Role, RoleRules, TokenParameters, networks};

/// What a login knew and a renewal needs. It travels with the token as opaque bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RenewalState {
    role: String,
    role_id: String,
    /// The account's unique id: an e-mail address can come to belong to another account (SEC-G11).
    account: String,
    project: String,
    /// Whether Google itself had signed the login's token.
    google_signed: bool,
    /// The networks of the token, which later changes of the role do not move.
    bound_cidrs: Vec<String>,
}

impl Record for RenewalState {
    const SCHEMA: u16 = 1;
}

impl RenewalState {
    pub(crate) fn new(
        name: &RoleName,
        role: &Role,
        account: &ServiceAccount,
        owner: KeyOwner,
    ) -> Self {
        Self {
            role: name.as_str().to_owned(),
            role_id: role.role_id.clone(),
            account: account.unique_id.clone(),
            project: account.project_id.clone(),
            google_signed: owner == KeyOwner::Google,
            bound_cidrs: role.token.bound_cidrs.clone(),
        }
    }

    pub(crate) fn to_bytes(&self) -> Result<Vec<u8>, StorageError> {
        encode(self)
    }
}

impl<S: Store, H: Http, C: Clock, R: Random> AuthMethodService<S, H, C, R> {
    pub(crate) fn renew(
        &self,
        mount: &Mount,
        request: &RenewalRequest,
    ) -> Result<TokenParameters, RenewalError> {
        let deadline = self.deadline();
        let state: RenewalState =
            decode(&request.renewal_state).map_err(|_| RenewalError::StateUnreadable)?;
        let name = RoleName::new(&state.role).ok_or(RenewalError::StateUnreadable)?;
        let (memory, role) = self.mount_and_role(mount, &name)?;
        let role = role.ok_or_else(|| RenewalError::RoleGone(state.role.clone()))?;
        if !are_equivalent(&role.token.policies, &request.token_policies) {
            return Err(RenewalError::PoliciesChanged(state.role));
        }
        if !networks::allow(&state.bound_cidrs, request.source_address) {
            return Err(RenewalError::AddressNotAllowed);
        }
        let account = self
            .with_google(mount, &memory, deadline, |google| {
                google.service_account(&state.account)
            })
            .map_err(|error| refusal_of(error, &state.account))?;
        if account.unique_id != state.account || account.disabled {
            return Err(RenewalError::AccountNotFound(state.account));
        }
        let RoleRules::Iam {
            allow_gce_inference,
            ..
        } = role.rules;
        if state.google_signed && !allow_gce_inference {
            return Err(RenewalError::InferenceNotAllowed(state.role));
        }
        authorization::check(&role, &account)
            .map_err(|_| RenewalError::AccountNotBound(state.role))?;
        Ok(role.token)
    }
}

fn refusal_of(error: AccountError, account: &str) -> RenewalError {
    match error {
        AccountError::Refused(_) => RenewalError::AccountNotFound(account.to_owned()),
        AccountError::Credentials(failure) => RenewalError::Credentials(failure),
        AccountError::Call(CallError::Unavailable(api)) => {
            RenewalError::GoogleUnavailable(api.name().into())
        }
        AccountError::Call(CallError::Denied(api)) => {
            RenewalError::EndpointDenied(api.name().into())
        }
        AccountError::Storage(error) => RenewalError::Storage(error),
    }
}
