//! Conversions of what the interfaces share.

use gatehouse_ports::StoreError;
use gatehouse_storage::StorageError;

use super::bindings::exports::gatehouse::auth_method::types as wit;
use crate::{CredentialsFailure, Mount, RoleType, TokenParameters, TokenType};

impl From<wit::Mount> for Mount {
    fn from(mount: wit::Mount) -> Self {
        Self {
            id: mount.id,
            accessor: mount.accessor,
            path: mount.path,
            default_lease: mount.default_lease,
            maximum_lease: mount.maximum_lease,
        }
    }
}

impl From<RoleType> for wit::RoleType {
    fn from(role_type: RoleType) -> Self {
        match role_type {
            RoleType::Iam => Self::Iam,
            RoleType::Gce => Self::Gce,
        }
    }
}

impl From<TokenParameters> for wit::TokenParameters {
    fn from(token: TokenParameters) -> Self {
        Self {
            ttl: token.ttl,
            maximum_ttl: token.maximum_ttl,
            explicit_maximum_ttl: token.explicit_maximum_ttl,
            period: token.period,
            policies: token.policies,
            bound_cidrs: token.bound_cidrs,
            no_default_policy: token.no_default_policy,
            number_of_uses: token.number_of_uses,
            token_type: match token.token_type {
                TokenType::Default => wit::TokenType::Default,
                TokenType::Service => wit::TokenType::Service,
                TokenType::Batch => wit::TokenType::Batch,
            },
        }
    }
}

impl From<StorageError> for wit::StorageError {
    fn from(error: StorageError) -> Self {
        match error {
            StorageError::Store(StoreError::Sealed) => Self::Sealed,
            StorageError::Store(StoreError::Unavailable(why)) => Self::Unavailable(why),
            StorageError::Contended(attempts) => Self::Contended(attempts),
            StorageError::Store(StoreError::Corrupt(_) | StoreError::Invalid(_))
            | StorageError::NewerSchema { .. }
            | StorageError::Malformed => Self::Damaged(error.to_string()),
        }
    }
}

impl From<CredentialsFailure> for wit::CredentialsFailure {
    fn from(failure: CredentialsFailure) -> Self {
        match failure {
            CredentialsFailure::NotFound => Self::NotFound,
            CredentialsFailure::Unusable => Self::Unusable,
            CredentialsFailure::Refused { status, message } => {
                Self::Refused(wit::CredentialsRefusal { status, message })
            }
            CredentialsFailure::AnswerUnreadable => Self::AnswerUnreadable,
        }
    }
}
