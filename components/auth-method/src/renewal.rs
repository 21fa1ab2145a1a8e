//! Renewals: they decide if an earlier login may continue (contract 4.10).

use gatehouse_ports::{Cache, Clock, Http, Random, Store, networks};
use gatehouse_storage::{Record, decode, encode};
use serde::{Deserialize, Serialize};

use crate::authorization::{Caller, Claimant, authorize};
use crate::google::{Api, KeyOwner};
use crate::jwt::InstanceClaims;
use crate::policies::are_equivalent;
use crate::service::AuthMethodService;
use crate::trace::{Condition as _, Decide};
use crate::{
    IamRules, InstanceRefused, LoginError, Mount, RenewalError, RenewalRequest, Renewed, Role,
    RoleName, RoleRules, RoleType, StorageError,
};

/// The facts of a login that a renewal needs. They travel with the token as opaque bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RenewalState {
    role: String,
    role_id: String,
    /// The account's unique id: an e-mail address can come to belong to another account (SEC-G11).
    account: String,
    /// The account's e-mail address, for roles that trust what a token said.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    email: String,
    project: String,
    /// True if Google itself had signed the login's token.
    google_signed: bool,
    /// The networks of the token, which later changes of the role do not move.
    bound_cidrs: Vec<String>,
    /// The claims of the login's token about an instance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    instance: Option<InstanceClaims>,
}

impl Record for RenewalState {
    const SCHEMA: u16 = 1;
}

impl RenewalState {
    pub(crate) fn new(name: &RoleName, role: &Role, caller: &Caller, owner: KeyOwner) -> Self {
        Self {
            role: name.as_str().to_owned(),
            role_id: role.role_id.clone(),
            account: caller.account.unique_id.clone(),
            email: caller.account.email.clone(),
            project: caller.project().to_owned(),
            google_signed: owner == KeyOwner::Google,
            bound_cidrs: role.token.bound_cidrs.clone(),
            instance: caller.instance.clone(),
        }
    }

    pub(crate) fn to_bytes(&self) -> Result<Vec<u8>, StorageError> {
        Ok(encode(self)?)
    }
}

/// Repeats the authorization of an earlier login (contract 4.10).
pub(crate) fn revalidate<S: Store, M: Cache, H: Http, C: Clock, R: Random>(
    service: &AuthMethodService<S, M, H, C, R>,
    mount: &Mount,
    request: &RenewalRequest,
) -> Result<Renewed, RenewalError> {
    let deadline = service.deadline();
    let state: RenewalState =
        decode(&request.renewal_state).map_err(|_| RenewalError::StateUnreadable)?;
    let name = RoleName::new(&state.role).ok_or(RenewalError::StateUnreadable)?;
    let (memory, role) = service.mount_and_role(mount, &name)?;
    let role = role.ok_or_else(|| RenewalError::RoleGone(state.role.clone()))?;
    if !are_equivalent(&role.token.policies, &request.token_policies) {
        return Err(RenewalError::PoliciesChanged(state.role));
    }
    if !networks::allow(&state.bound_cidrs, request.source_address) {
        return Err(RenewalError::AddressNotAllowed);
    }
    let claimant = Claimant {
        subject: &state.account,
        email: &state.email,
        instance: state.instance.as_ref(),
    };
    let allows_inference = match role.rules {
        RoleRules::Iam(IamRules {
            allow_gce_inference,
            ..
        }) => allow_gce_inference || service.settings().compatibility.ignore_allow_gce_inference,
        RoleRules::Gce(_) => true,
    };
    // Without Google's word neither then nor now, the account is unproven.
    let is_vouched_for = state.google_signed || !role.options.trust_claims;
    let outcome = service.with_google(mount, &memory, deadline, |google| {
        is_vouched_for.otherwise(LoginError::NotGoogleSigned)?;
        authorize(&role, &claimant, google, |_| Ok(()), &mut Decide)
    });
    // R3 comes before R4, and R4 before R5.
    let still_there = !matches!(
        &outcome,
        Err(LoginError::AccountNotFound(_)
            | LoginError::AccountMismatch
            | LoginError::AccountDisabled(_)
            | LoginError::Credentials(_)
            | LoginError::EndpointDenied(_)
            | LoginError::GoogleUnusable(_)
            | LoginError::GoogleUnavailable(_)
            | LoginError::Storage(_))
    );
    if still_there && state.google_signed && !allows_inference {
        return Err(RenewalError::InferenceNotAllowed(state.role));
    }
    let group_aliases = match outcome {
        Ok(caller) => caller.group_aliases,
        Err(error) if only_groups_are_unknown(&error, &role) => None,
        Err(error) => return Err(refusal_of(error, &role, &state)),
    };
    Ok(Renewed {
        token: role.token,
        group_aliases,
    })
}
/// True if all that an outage leaves open is the membership in groups, which then stays as it was. The ancestry is asked for last, so
/// everything else has been checked.
fn only_groups_are_unknown(error: &LoginError, role: &Role) -> bool {
    let binds =
        !role.options.bound_folders.is_empty() || !role.options.bound_organizations.is_empty();
    !binds && matches!(error, LoginError::GoogleUnavailable(api) if api == Api::Crm.name())
}

/// A failed check of a login as the refusal of a renewal.
fn refusal_of(error: LoginError, role: &Role, state: &RenewalState) -> RenewalError {
    match error {
        LoginError::Credentials(failure) => RenewalError::Credentials(failure),
        LoginError::EndpointDenied(api) => RenewalError::EndpointDenied(api),
        LoginError::GoogleUnusable(api) => RenewalError::GoogleUnusable(api),
        LoginError::GoogleUnavailable(api) => RenewalError::GoogleUnavailable(api),
        LoginError::Storage(error) => RenewalError::Storage(error),
        refusal if role.rules.role_type() == RoleType::Gce => {
            RenewalError::InstanceRefused(InstanceRefused {
                role: state.role.clone(),
                refusal,
            })
        }
        LoginError::AccountNotFound(_)
        | LoginError::AccountMismatch
        | LoginError::AccountDisabled(_) => RenewalError::AccountNotFound(state.account.clone()),
        _ => RenewalError::AccountNotBound(state.role.clone()),
    }
}
