//! The outcomes of logins, as labels of the counter `logins` (SEC-L6). There are few labels, and none comes from a request.

use gatehouse_access_api::LoginError as NotIssued;
use gatehouse_auth_method_api::LoginError;

/// The login created a token.
pub(super) const SUCCESS: &str = "success";
/// The rate limit refused the login.
pub(super) const RATE_LIMITED: &str = "rate-limited";
/// The request was not a login.
pub(super) const MALFORMED_REQUEST: &str = "malformed-request";

/// The reason for a refusal by the auth method.
pub(super) const fn of_refusal(error: &LoginError) -> &'static str {
    match error {
        LoginError::Storage(_) => "storage",
        LoginError::Credentials(_) => "root-credentials",
        LoginError::EndpointDenied(_)
        | LoginError::GoogleUnusable(_)
        | LoginError::GoogleUnavailable(_) => "google",
        LoginError::AddressNotAllowed => "address",
        LoginError::RoleMissing | LoginError::RoleNotFound(_) => "role",
        LoginError::JwtMissing | LoginError::MalformedJwt(_) => "malformed-jwt",
        LoginError::KeyNotFound(_) | LoginError::SignatureInvalid => "signature",
        LoginError::Expired
        | LoginError::ExpiresTooLate(_)
        | LoginError::NotYetValid
        | LoginError::ExpiresBeyondRole(_) => "lifetime",
        LoginError::SubjectMissing
        | LoginError::AudienceNotForRole(_)
        | LoginError::IssuerNotAcceptable
        | LoginError::InferenceNotAllowed(_)
        | LoginError::NotGoogleSigned
        | LoginError::InstanceClaimsMissing => "claims",
        LoginError::Replayed => "replayed",
        LoginError::AccountNotFound(_)
        | LoginError::AccountDisabled(_)
        | LoginError::AccountMismatch
        | LoginError::ProjectNotBound(_)
        | LoginError::AccountNotBound(_) => "account",
        _ => "instance",
    }
}

/// The reason why no token was created.
pub(super) const fn of_failure(error: &NotIssued) -> &'static str {
    match error {
        NotIssued::Failure(_) => "storage",
        NotIssued::AddressDenied => "address",
        NotIssued::EntityUnusable => "entity",
        NotIssued::TooManyTokensOfMount(_) | NotIssued::TooManyTokensOfRole(_) => "quota",
        _ => "token",
    }
}
