//! The method's part in a renewal: the decision whether the login may continue (contract 4.10).

use gatehouse_access_api::{Revalidated, Revalidation};
use gatehouse_auth_method_api::{
    Instance, InstanceRefused, LoginError, RenewalError, RenewalRequest, Renewed,
};

use super::google;
use super::login::{lifetime, text};
use super::mount_of;
use crate::vault::call::Call;
use crate::vault::errors::ApiError;
use crate::vault::text::quoted;

/// Asks the method that issued a token, and returns the present terms of the token.
///
/// # Errors
///
/// The first failed check of the method.
pub(in crate::vault) fn revalidate(
    call: &Call<'_>,
    revalidation: Revalidation,
) -> Result<Revalidated, ApiError> {
    let mount = mount_of(&revalidation.mount);
    let request = RenewalRequest {
        renewal_state: revalidation.renewal_state,
        token_policies: revalidation.token_policies,
        source_address: call.request.peer,
    };
    let auth_method = call.server.auth_method;
    let renewed = auth_method
        .revalidate(&mount, &request)
        .map_err(|error| api_error(error).concerning(&format!("auth/{}", mount.path)))?;
    Ok(confirmed(renewed))
}

/// The terms of a token that the method confirms, in the form of access.
fn confirmed(renewed: Renewed) -> Revalidated {
    Revalidated {
        lifetime: lifetime(&renewed.token),
        group_aliases: renewed.group_aliases,
    }
}

fn api_error(error: RenewalError) -> ApiError {
    let text = match error {
        RenewalError::Storage(error) => return error.into(),
        RenewalError::StateUnreadable => return ApiError::internal(error.to_string()),
        RenewalError::Credentials(failure) => return google::credentials(&failure),
        RenewalError::EndpointDenied(api) => return google::endpoint_denied(&api),
        RenewalError::GoogleUnusable(api) => return google::unusable(&api),
        RenewalError::GoogleUnavailable(api) => return google::unavailable(&api),
        RenewalError::InstanceRefused(InstanceRefused { role, refusal }) => {
            return instance_refused(&role, refusal);
        }
        RenewalError::AddressNotAllowed => return ApiError::denied(),
        RenewalError::RoleGone(role) => format!("role {} no longer exists", quoted(&role)),
        RenewalError::PoliciesChanged(role) => {
            format!(
                "policies on role {} have changed, cannot renew",
                quoted(&role)
            )
        }
        RenewalError::AccountNotFound(id) => format!("cannot find service account {id}"),
        // The misspelling is kept, since scripts match it.
        RenewalError::InferenceNotAllowed(role) => {
            format!("GCE inferrence is no longer allowed for role {role}")
        }
        RenewalError::AccountNotBound(role) => {
            format!("service account is no longer authorized for role {role}")
        }
    };
    ApiError::plain(400, text)
}

/// The login check that an instance no longer passes (R6). A flaw of the instance itself is reported without the words about its search, which a
/// login adds.
fn instance_refused(role: &str, refusal: LoginError) -> ApiError {
    if let LoginError::Instance(Instance { name, flaw, .. }) = &refusal {
        return text::flawed_instance(name, flaw);
    }
    let error = text::refused(refusal);
    if !error.is_refusal() {
        return error;
    }
    error.after(&format!("could not renew token for role {role}: "))
}
