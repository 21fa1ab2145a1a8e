//! The interface `login`.

use std::net::IpAddr;

use super::bindings::exports::gatehouse::auth_method::login as wit;
use super::bindings::exports::gatehouse::auth_method::types::{Mount, TokenParameters};
use super::{Component, SERVICE};
use crate::{
    AccountRefusal, AuthMethod, Identity, JwtFlaw, KeyRefusal, LoginError, LoginRequest,
    RenewalError, RenewalRequest,
};

impl wit::Guest for Component {
    fn login(mount: Mount, request: wit::LoginRequest) -> Result<wit::Identity, wit::LoginError> {
        let request = LoginRequest {
            role: request.role,
            jwt: request.jwt,
            source_address: address(request.source_address),
        };
        SERVICE
            .with(|service| service.login(&mount.into(), &request))
            .map(Into::into)
            .map_err(Into::into)
    }

    fn revalidate(
        mount: Mount,
        request: wit::RenewalRequest,
    ) -> Result<TokenParameters, wit::RenewalError> {
        let request = RenewalRequest {
            renewal_state: request.renewal_state,
            token_policies: request.token_policies,
            source_address: address(request.source_address),
        };
        SERVICE
            .with(|service| service.revalidate(&mount.into(), &request))
            .map(Into::into)
            .map_err(Into::into)
    }
}

fn address(text: Option<String>) -> Option<IpAddr> {
    text?.parse().ok()
}

impl From<Identity> for wit::Identity {
    fn from(identity: Identity) -> Self {
        Self {
            role: identity.role,
            role_id: identity.role_id,
            display_name: identity.display_name,
            alias_name: identity.alias_name,
            metadata: identity.metadata,
            token: identity.token.into(),
            renewal_state: identity.renewal_state,
        }
    }
}

impl From<JwtFlaw> for wit::JwtFlaw {
    fn from(flaw: JwtFlaw) -> Self {
        match flaw {
            JwtFlaw::TooLong => Self::TooLong,
            JwtFlaw::NotThreeParts => Self::NotThreeParts,
            JwtFlaw::NotBase64Url => Self::NotBase64Url,
            JwtFlaw::Header => Self::Header,
            JwtFlaw::Claims => Self::Claims,
            JwtFlaw::TooComplex => Self::TooComplex,
            JwtFlaw::Algorithm => Self::Algorithm,
            JwtFlaw::KeyId => Self::KeyId,
            JwtFlaw::Extension => Self::Extension,
            JwtFlaw::Type => Self::Type,
        }
    }
}

impl From<KeyRefusal> for wit::KeyRefusal {
    fn from(refusal: KeyRefusal) -> Self {
        match refusal {
            KeyRefusal::SubjectShape => Self::SubjectShape,
            KeyRefusal::AccountUnknown => Self::AccountUnknown,
            KeyRefusal::KeyUnknown => Self::KeyUnknown,
            KeyRefusal::DocumentUnreadable => Self::DocumentUnreadable,
        }
    }
}

impl From<AccountRefusal> for wit::AccountRefusal {
    fn from(refusal: AccountRefusal) -> Self {
        Self {
            account: refusal.account,
            status: refusal.status,
            message: refusal.message,
            reason: refusal.reason,
        }
    }
}

impl From<LoginError> for wit::LoginError {
    fn from(error: LoginError) -> Self {
        match error {
            LoginError::RoleMissing => Self::RoleMissing,
            LoginError::RoleNotFound(role) => Self::RoleNotFound(role),
            LoginError::JwtMissing => Self::JwtMissing,
            LoginError::AddressNotAllowed => Self::AddressNotAllowed,
            LoginError::MalformedJwt(flaw) => Self::MalformedJwt(flaw.into()),
            LoginError::KeyNotFound {
                key_id,
                subject,
                refusal,
            } => Self::KeyNotFound(wit::KeyNotFound {
                key_id,
                subject,
                refusal: refusal.into(),
            }),
            LoginError::SignatureInvalid => Self::SignatureInvalid,
            LoginError::Expired => Self::Expired,
            LoginError::ExpiresTooLate { expires_in } => Self::ExpiresTooLate(expires_in),
            LoginError::NotYetValid => Self::NotYetValid,
            LoginError::SubjectMissing => Self::SubjectMissing,
            LoginError::AudienceNotForRole(role) => Self::AudienceNotForRole(role),
            LoginError::IssuerNotAcceptable => Self::IssuerNotAcceptable,
            LoginError::InferenceNotAllowed(role) => Self::InferenceNotAllowed(role),
            LoginError::ExpiresBeyondRole {
                maximum_jwt_lifetime,
            } => Self::ExpiresBeyondRole(maximum_jwt_lifetime),
            LoginError::AccountNotFound(refusal) => Self::AccountNotFound(refusal.into()),
            LoginError::AccountDisabled(email) => Self::AccountDisabled(email),
            LoginError::AccountMismatch => Self::AccountMismatch,
            LoginError::ProjectNotBound {
                email,
                bound_projects,
            } => Self::ProjectNotBound(wit::ProjectNotBound {
                email,
                bound_projects,
            }),
            LoginError::AccountNotBound { email, unique_id } => {
                Self::AccountNotBound(wit::AccountNotBound { email, unique_id })
            }
            LoginError::AliasEmpty => Self::AliasEmpty,
            LoginError::Credentials(failure) => Self::Credentials(failure.into()),
            LoginError::EndpointDenied(api) => Self::EndpointDenied(api.into_owned()),
            LoginError::GoogleUnavailable(api) => Self::GoogleUnavailable(api.into_owned()),
            LoginError::Storage(error) => Self::Storage(error.into()),
        }
    }
}

impl From<RenewalError> for wit::RenewalError {
    fn from(error: RenewalError) -> Self {
        match error {
            RenewalError::StateUnreadable => Self::StateUnreadable,
            RenewalError::RoleGone(role) => Self::RoleGone(role),
            RenewalError::PoliciesChanged(role) => Self::PoliciesChanged(role),
            RenewalError::AccountNotFound(account) => Self::AccountNotFound(account),
            RenewalError::InferenceNotAllowed(role) => Self::InferenceNotAllowed(role),
            RenewalError::AccountNotBound(role) => Self::AccountNotBound(role),
            RenewalError::AddressNotAllowed => Self::AddressNotAllowed,
            RenewalError::Credentials(failure) => Self::Credentials(failure.into()),
            RenewalError::EndpointDenied(api) => Self::EndpointDenied(api.into_owned()),
            RenewalError::GoogleUnavailable(api) => Self::GoogleUnavailable(api.into_owned()),
            RenewalError::Storage(error) => Self::Storage(error.into()),
        }
    }
}
