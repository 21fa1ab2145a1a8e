//! Refusals and failures of `auth-method`.

use gatehouse_auth_method::{
    AccountRefusal, ConfigError, CredentialsFailure, CredentialsFlaw, EndpointFlaw, JwtFlaw,
    KeyRefusal, LoginError, MetadataFlaw, RenewalError, RoleError,
};
use gatehouse_ports::{RandomError, StoreError};
use gatehouse_storage::StorageError;

use super::{config_wit, login_wit, roles_wit, types};

impl From<types::StorageError> for StorageError {
    fn from(from: types::StorageError) -> Self {
        match from {
            types::StorageError::Sealed => StoreError::Sealed.into(),
            types::StorageError::Unavailable(why) => StoreError::Unavailable(why).into(),
            types::StorageError::Damaged(what) => StoreError::Corrupt(what).into(),
            types::StorageError::Contended(attempts) => Self::Contended(attempts),
        }
    }
}

impl From<types::CredentialsFailure> for CredentialsFailure {
    fn from(from: types::CredentialsFailure) -> Self {
        match from {
            types::CredentialsFailure::NotFound => Self::NotFound,
            types::CredentialsFailure::Unusable => Self::Unusable,
            types::CredentialsFailure::Refused(refusal) => Self::Refused {
                status: refusal.status,
                message: refusal.message,
            },
            types::CredentialsFailure::AnswerUnreadable => Self::AnswerUnreadable,
        }
    }
}

same_cases!(
    config_wit::EndpointFlaw,
    EndpointFlaw,
    NotUrl,
    UserInformation,
    QueryOrFragment,
    Scheme,
    PlainHttp,
    LinkLocal,
    HostNotAllowed
);

impl From<config_wit::CredentialsFlaw> for CredentialsFlaw {
    fn from(from: config_wit::CredentialsFlaw) -> Self {
        use config_wit::CredentialsFlaw as Wit;
        match from {
            Wit::NotJson(position) => Self::NotJson {
                line: usize::try_from(position.line).unwrap_or(usize::MAX),
                column: usize::try_from(position.column).unwrap_or(usize::MAX),
            },
            Wit::TooLong => Self::TooLong,
            Wit::PrivateKeyIdMissing => Self::PrivateKeyIdMissing,
            Wit::NotServiceAccount => Self::NotServiceAccount,
            Wit::ClientEmailMissing => Self::ClientEmailMissing,
            Wit::PrivateKeyUnusable => Self::PrivateKeyUnusable,
        }
    }
}

impl From<config_wit::MetadataFlaw> for MetadataFlaw {
    fn from(from: config_wit::MetadataFlaw) -> Self {
        match from {
            config_wit::MetadataFlaw::DefaultWithOthers(names) => Self::DefaultWithOthers { names },
            config_wit::MetadataFlaw::Unavailable(field) => Self::Unavailable {
                name: field.name,
                available: field.available.into_iter().map(Into::into).collect(),
            },
        }
    }
}

impl From<config_wit::ConfigError> for ConfigError {
    fn from(from: config_wit::ConfigError) -> Self {
        use config_wit::ConfigError as Wit;
        match from {
            Wit::Credentials(flaw) => Self::Credentials(flaw.into()),
            Wit::Alias(role_type) => Self::Alias(role_type.into()),
            Wit::Metadata(refusal) => Self::Metadata {
                role_type: refusal.role_type.into(),
                flaw: refusal.flaw.into(),
            },
            Wit::EndpointKey(key) => Self::EndpointKey(key),
            Wit::EndpointValue(refusal) => Self::EndpointValue {
                key: refusal.key.into(),
                flaw: refusal.flaw.into(),
            },
            Wit::Storage(error) => Self::Storage(error.into()),
        }
    }
}

impl From<roles_wit::RoleError> for RoleError {
    fn from(from: roles_wit::RoleError) -> Self {
        use roles_wit::RoleError as Wit;
        match from {
            Wit::InvalidName => Self::InvalidName,
            Wit::Exists => Self::Exists,
            Wit::DoesNotExist => Self::DoesNotExist,
            Wit::BoundCidr(address) => Self::BoundCidr(address),
            Wit::NegativeNumberOfUses => Self::NegativeNumberOfUses,
            Wit::TokenType(name) => Self::TokenType(name),
            Wit::PeriodicBatch => Self::PeriodicBatch,
            Wit::LimitedUseBatch => Self::LimitedUseBatch,
            Wit::TtlAboveMaximumTtl => Self::TtlAboveMaximumTtl,
            Wit::PeriodAboveMountMaximum(above) => Self::PeriodAboveMountMaximum {
                period: above.given,
                mount_maximum: above.bound,
            },
            Wit::TypeMissing => Self::TypeMissing,
            Wit::TypeInvalid(name) => Self::TypeInvalid(name),
            Wit::TypeChanged => Self::TypeChanged,
            Wit::WildcardWithOthers => Self::WildcardWithOthers,
            Wit::ProjectsTwice => Self::ProjectsTwice,
            Wit::FieldsOfOtherType(foreign) => Self::FieldsOfOtherType {
                role_type: foreign.role_type.into(),
                fields: foreign.fields.into_iter().map(Into::into).collect(),
            },
            Wit::JwtLifetimeTooLong => Self::JwtLifetimeTooLong,
            Wit::NoServiceAccounts => Self::NoServiceAccounts,
            Wit::TooLarge => Self::TooLarge,
            Wit::RandomnessFailed => Self::Random(RandomError),
            Wit::Storage(error) => Self::Storage(error.into()),
        }
    }
}

same_cases!(
    login_wit::JwtFlaw,
    JwtFlaw,
    TooLong,
    NotThreeParts,
    NotBase64Url,
    Header,
    Claims,
    TooComplex,
    Algorithm,
    KeyId,
    Extension,
    Type
);
same_cases!(
    login_wit::KeyRefusal,
    KeyRefusal,
    SubjectShape,
    AccountUnknown,
    KeyUnknown,
    DocumentUnreadable
);
same_fields!(login_wit::AccountRefusal => AccountRefusal { account, status, message, reason });

impl From<login_wit::LoginError> for LoginError {
    fn from(from: login_wit::LoginError) -> Self {
        use login_wit::LoginError as Wit;
        match from {
            Wit::RoleMissing => Self::RoleMissing,
            Wit::RoleNotFound(role) => Self::RoleNotFound(role),
            Wit::JwtMissing => Self::JwtMissing,
            Wit::AddressNotAllowed => Self::AddressNotAllowed,
            Wit::MalformedJwt(flaw) => Self::MalformedJwt(flaw.into()),
            Wit::KeyNotFound(missing) => Self::KeyNotFound {
                key_id: missing.key_id,
                subject: missing.subject,
                refusal: missing.refusal.into(),
            },
            Wit::SignatureInvalid => Self::SignatureInvalid,
            Wit::Expired => Self::Expired,
            Wit::ExpiresTooLate(expires_in) => Self::ExpiresTooLate { expires_in },
            Wit::NotYetValid => Self::NotYetValid,
            Wit::SubjectMissing => Self::SubjectMissing,
            Wit::AudienceNotForRole(role) => Self::AudienceNotForRole(role),
            Wit::IssuerNotAcceptable => Self::IssuerNotAcceptable,
            Wit::InferenceNotAllowed(role) => Self::InferenceNotAllowed(role),
            Wit::ExpiresBeyondRole(maximum_jwt_lifetime) => Self::ExpiresBeyondRole {
                maximum_jwt_lifetime,
            },
            Wit::AccountNotFound(refusal) => Self::AccountNotFound(refusal.into()),
            Wit::AccountDisabled(email) => Self::AccountDisabled(email),
            Wit::AccountMismatch => Self::AccountMismatch,
            Wit::ProjectNotBound(refusal) => Self::ProjectNotBound {
                email: refusal.email,
                bound_projects: refusal.bound_projects,
            },
            Wit::AccountNotBound(refusal) => Self::AccountNotBound {
                email: refusal.email,
                unique_id: refusal.unique_id,
            },
            Wit::AliasEmpty => Self::AliasEmpty,
            Wit::Credentials(failure) => Self::Credentials(failure.into()),
            Wit::EndpointDenied(api) => Self::EndpointDenied(api.into()),
            Wit::GoogleUnavailable(api) => Self::GoogleUnavailable(api.into()),
            Wit::Storage(error) => Self::Storage(error.into()),
        }
    }
}

impl From<login_wit::RenewalError> for RenewalError {
    fn from(from: login_wit::RenewalError) -> Self {
        use login_wit::RenewalError as Wit;
        match from {
            Wit::StateUnreadable => Self::StateUnreadable,
            Wit::RoleGone(role) => Self::RoleGone(role),
            Wit::PoliciesChanged(role) => Self::PoliciesChanged(role),
            Wit::AccountNotFound(id) => Self::AccountNotFound(id),
            Wit::InferenceNotAllowed(role) => Self::InferenceNotAllowed(role),
            Wit::AccountNotBound(role) => Self::AccountNotBound(role),
            Wit::AddressNotAllowed => Self::AddressNotAllowed,
            Wit::Credentials(failure) => Self::Credentials(failure.into()),
            Wit::EndpointDenied(api) => Self::EndpointDenied(api.into()),
            Wit::GoogleUnavailable(api) => Self::GoogleUnavailable(api.into()),
            Wit::Storage(error) => Self::Storage(error.into()),
        }
    }
}
