//! What a caller is told about a login that failed (contract 4.2 to 4.7).

use gatehouse_access::LoginError as NotIssued;
use gatehouse_auth_method::{AccountRefusal, CredentialsFailure, LoginError};

use crate::vault::duration;
use crate::vault::errors::Fault;
use crate::vault::text;

/// The refusal of the auth method.
pub(super) fn refused(error: LoginError) -> Fault {
    let text = match error {
        LoginError::Storage(error) => return error.into(),
        LoginError::Credentials(failure) => return credentials(&failure),
        LoginError::EndpointDenied(api) => return endpoint_denied(&api),
        LoginError::GoogleUnavailable(api) => return unavailable(&api),
        LoginError::AddressNotAllowed => return Fault::denied(),
        LoginError::RoleMissing => "role is required".to_owned(),
        LoginError::RoleNotFound(role) => format!("role {} not found", text::quoted(&role)),
        LoginError::JwtMissing => "jwt argument is required".to_owned(),
        LoginError::MalformedJwt(flaw) => format!("unable to parse signed JWT: {flaw}"),
        LoginError::KeyNotFound {
            key_id,
            subject,
            refusal,
        } => format!(
            "unable to get public key for signed JWT: unable to get public key {} for JWT subject {}: {refusal}",
            text::quoted(&key_id),
            text::quoted(&subject),
        ),
        LoginError::SignatureInvalid => "unable to verify JWT signature".to_owned(),
        LoginError::Expired => "JWT is expired or does not have proper 'exp' claim".to_owned(),
        LoginError::ExpiresTooLate { expires_in } => format!(
            "JWT must expire in 60 minutes, expires in {}",
            duration::full(expires_in)
        ),
        LoginError::NotYetValid => "JWT is not yet valid".to_owned(),
        LoginError::SubjectMissing => {
            "expected JWT to have 'sub' claim with service account id or email".to_owned()
        }
        LoginError::AudienceNotForRole(role) => format!(
            "at least one of the JWT claim 'aud' must end in {}",
            text::quoted(&format!("vault/{role}"))
        ),
        LoginError::IssuerNotAcceptable => "JWT issuer is not acceptable".to_owned(),
        LoginError::InferenceNotAllowed(role) => {
            format!(
                "Got GCE token but IAM role {} does not allow GCE inference",
                text::quoted(&role)
            )
        }
        LoginError::ExpiresBeyondRole {
            maximum_jwt_lifetime,
        } => format!(
            "role requires that service account JWTs expire within {maximum_jwt_lifetime} seconds"
        ),
        LoginError::AccountNotFound(refusal) => account_not_found(&refusal),
        LoginError::AccountDisabled(email) => format!("service account {email} is disabled"),
        LoginError::AccountMismatch => "service account does not match the JWT subject".to_owned(),
        LoginError::ProjectNotBound {
            email,
            bound_projects,
        } => format!(
            "service account {} not in bound projects {}",
            text::quoted(&email),
            text::bare(&bound_projects)
        ),
        LoginError::AccountNotBound { email, unique_id } => {
            format!("service account {email} (id: {unique_id}) is not authorized for role")
        }
        error @ LoginError::AliasEmpty => error.to_string(),
    };
    Fault::plain(400, text)
}

/// The refusal of a token after the method let the caller in.
pub(super) fn not_issued(error: NotIssued) -> Fault {
    let text = match error {
        NotIssued::Failure(failure) => return failure.into(),
        NotIssued::AddressDenied | NotIssued::EntityUnusable => return Fault::denied(),
        // As for a login where no mount is.
        NotIssued::MountGone => return Fault::plain(403, "permission denied"),
        NotIssued::RootPolicy => "auth methods cannot create root tokens".to_owned(),
        NotIssued::UnassignablePolicy(name) => {
            format!("cannot assign policy {}", text::quoted(&name))
        }
        NotIssued::InvalidBoundCidr(address) => {
            format!("error parsing address {}", text::quoted(&address))
        }
        NotIssued::BatchWithNumUses => "batch tokens cannot have \"num_uses\" set".to_owned(),
        NotIssued::BatchWithPeriod => "batch tokens cannot have \"period\" set".to_owned(),
        error @ (NotIssued::EmptyAliasName
        | NotIssued::TooManyPolicies(_)
        | NotIssued::TooManyGroupAliases(_)
        | NotIssued::BatchUnsupported) => error.to_string(),
    };
    Fault::plain(400, text)
}

/// The mount's own credentials are of no use: nothing the caller could change (contract 4.7).
pub(in crate::vault::auth_method) fn credentials(failure: &CredentialsFailure) -> Fault {
    let text = format!("failed to create oauth2 http client: {failure}");
    Fault::plain(502, text.clone()).with_detail(text)
}

/// The host does not let the method out.
pub(in crate::vault::auth_method) fn endpoint_denied(api: &str) -> Fault {
    let text = format!(
        "outgoing requests to the {api} API are not allowed: add its host to the allowed hosts of the server"
    );
    Fault::plain(502, text.clone()).with_detail(text)
}

/// Worth trying again.
pub(in crate::vault::auth_method) fn unavailable(api: &str) -> Fault {
    let text = format!("google API unavailable: {api}");
    Fault::plain(503, text.clone()).with_detail(text)
}

fn account_not_found(refusal: &AccountRefusal) -> String {
    let AccountRefusal {
        account,
        status,
        message,
        reason,
    } = refusal;
    let mut text = format!(
        "could not find service account 'projects/-/serviceAccounts/{account}': googleapi: Error {status}: {message}"
    );
    if !reason.is_empty() {
        text += ", ";
        text += reason;
    }
    text
}
