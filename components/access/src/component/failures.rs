//! Errors, case by case.

use super::{mounts_wit, policies_wit, requests_wit, system_wit, tokens_wit, types_wit};
use crate::{
    CreateError, Failure, FieldTooLong, InitializeError, LoginError, LookupError, MountError,
    PolicyError, Refusal, RenewError, RevokeError, ServiceField, TuneError,
};

impl From<Failure> for types_wit::Failure {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::NotInitialized => Self::NotInitialized,
            Failure::Sealed => Self::Sealed,
            Failure::Unavailable(why) => Self::Unavailable(why),
            Failure::Contended => Self::Contended,
            Failure::Damaged(why) => Self::Damaged(why),
            Failure::NoRandomness => Self::NoRandomness,
        }
    }
}

impl From<FieldTooLong> for types_wit::FieldTooLong {
    fn from(error: FieldTooLong) -> Self {
        Self {
            field: error.field,
            bytes: error.bytes,
        }
    }
}

impl From<InitializeError> for system_wit::InitializeError {
    fn from(error: InitializeError) -> Self {
        match error {
            InitializeError::AlreadyInitialized => Self::AlreadyInitialized,
            InitializeError::UnusableRootToken => Self::UnusableRootToken,
            InitializeError::Failure(failure) => Self::Failure(failure.into()),
        }
    }
}

impl From<Refusal> for requests_wit::Refusal {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::NoToken => Self::NoToken,
            Refusal::InvalidToken => Self::InvalidToken,
            Refusal::Denied => Self::Denied,
            Refusal::ParametersNeeded => Self::ParametersNeeded,
            Refusal::AddressDenied => Self::AddressDenied,
            Refusal::EntityUnusable => Self::EntityUnusable,
            Refusal::NoMount => Self::NoMount,
            Refusal::MalformedPath => Self::MalformedPath,
            Refusal::Failure(failure) => Self::Failure(failure.into()),
        }
    }
}

impl From<LookupError> for requests_wit::CapabilitiesError {
    fn from(error: LookupError) -> Self {
        match error {
            LookupError::UnknownToken => Self::UnknownToken,
            LookupError::Failure(failure) => Self::Failure(failure.into()),
        }
    }
}

impl From<LookupError> for tokens_wit::LookupError {
    fn from(error: LookupError) -> Self {
        match error {
            LookupError::UnknownToken => Self::UnknownToken,
            LookupError::Failure(failure) => Self::Failure(failure.into()),
        }
    }
}

impl From<LoginError> for tokens_wit::LoginError {
    fn from(error: LoginError) -> Self {
        match error {
            LoginError::MountGone => Self::MountGone,
            LoginError::EmptyAliasName => Self::EmptyAliasName,
            LoginError::RootPolicy => Self::RootPolicy,
            LoginError::UnassignablePolicy(name) => Self::UnassignablePolicy(name),
            LoginError::TooManyPolicies(most) => Self::TooManyPolicies(most),
            LoginError::InvalidBoundCidr(range) => Self::InvalidBoundCidr(range),
            LoginError::BatchWithNumUses => Self::BatchWithNumUses,
            LoginError::BatchWithPeriod => Self::BatchWithPeriod,
            LoginError::BatchTooLarge(most) => Self::BatchTooLarge(most),
            LoginError::TooManyGroupAliases(most) => Self::TooManyGroupAliases(most),
            LoginError::AddressDenied => Self::AddressDenied,
            LoginError::EntityUnusable => Self::EntityUnusable,
            LoginError::TooLong(error) => Self::TooLong(error.into()),
            LoginError::TooManyTokensOfMount(most) => Self::TooManyTokensOfMount(most),
            LoginError::TooManyTokensOfRole(most) => Self::TooManyTokensOfRole(most),
            LoginError::Failure(failure) => Self::Failure(failure.into()),
        }
    }
}

impl From<ServiceField> for tokens_wit::ServiceField {
    fn from(field: ServiceField) -> Self {
        match field {
            ServiceField::NumUses => Self::NumUses,
            ServiceField::Period => Self::Period,
            ServiceField::ExplicitMaxTtl => Self::ExplicitMaxTtl,
        }
    }
}

impl From<CreateError> for tokens_wit::CreateError {
    fn from(error: CreateError) -> Self {
        match error {
            CreateError::InvalidToken => Self::InvalidToken,
            CreateError::RestrictedUseParent => Self::RestrictedUseParent,
            CreateError::TooManyAncestors(most) => Self::TooManyAncestors(most),
            CreateError::PoliciesNotSubset => Self::PoliciesNotSubset,
            CreateError::RootFromNonRoot => Self::RootFromNonRoot,
            CreateError::EndlessRootFromExpiring => Self::EndlessRootFromExpiring,
            CreateError::UnassignablePolicy(name) => Self::UnassignablePolicy(name),
            CreateError::TooManyPolicies(most) => Self::TooManyPolicies(most),
            CreateError::OrphanNeedsSudo => Self::OrphanNeedsSudo,
            CreateError::PeriodNeedsSudo => Self::PeriodNeedsSudo,
            CreateError::IdNeedsSudo => Self::IdNeedsSudo,
            CreateError::IdWithReservedPrefix => Self::IdWithReservedPrefix,
            CreateError::UnusableId => Self::UnusableId,
            CreateError::DuplicateId => Self::DuplicateId,
            CreateError::NegativeTtl => Self::NegativeTtl,
            CreateError::NegativeExplicitMaxTtl => Self::NegativeExplicitMaxTtl,
            CreateError::NegativePeriod => Self::NegativePeriod,
            CreateError::NegativeNumUses => Self::NegativeNumUses,
            CreateError::InvalidTokenType => Self::InvalidTokenType,
            CreateError::BatchWith(field) => Self::BatchWith(field.into()),
            CreateError::BatchRoot => Self::BatchRoot,
            CreateError::BatchParent => Self::BatchParent,
            CreateError::BatchTooLarge(most) => Self::BatchTooLarge(most),
            CreateError::UnknownRole(name) => Self::UnknownRole(name),
            CreateError::PoliciesNotOfRole(it) => {
                Self::PoliciesNotOfRole(tokens_wit::PoliciesOfRole {
                    policies: it.policies,
                    allowed: it.allowed,
                    allowed_glob: it.allowed_glob,
                })
            }
            CreateError::PolicyDisallowedByRole(name) => Self::PolicyDisallowedByRole(name),
            CreateError::AliasNotAllowed => Self::AliasNotAllowed,
            CreateError::AliasEntityUnusable => Self::AliasEntityUnusable,
            CreateError::EntityAliasWithoutRole => Self::EntityAliasWithoutRole,
            CreateError::TooLong(error) => Self::TooLong(error.into()),
            CreateError::TooManyEntities(most) => Self::TooManyEntities(most),
            CreateError::Failure(failure) => Self::Failure(failure.into()),
        }
    }
}

impl From<RevokeError> for tokens_wit::RevokeError {
    fn from(error: RevokeError) -> Self {
        match error {
            RevokeError::BatchToken => Self::BatchToken,
            RevokeError::Failure(failure) => Self::Failure(failure.into()),
        }
    }
}

impl From<RenewError> for tokens_wit::RenewError {
    fn from(error: RenewError) -> Self {
        match error {
            RenewError::UnknownToken => Self::UnknownToken,
            RenewError::NotRenewable => Self::NotRenewable,
            RenewError::BatchToken => Self::BatchToken,
            RenewError::PastMaxTtl => Self::PastMaxTtl,
            RenewError::RoleGone(name) => Self::RoleGone(name),
            RenewError::AddressDenied => Self::AddressDenied,
            RenewError::TooManyGroupAliases(most) => Self::TooManyGroupAliases(most),
            RenewError::RevalidationMissing => Self::RevalidationMissing,
            RenewError::Failure(failure) => Self::Failure(failure.into()),
        }
    }
}

impl From<PolicyError> for policies_wit::PolicyError {
    fn from(error: PolicyError) -> Self {
        match error {
            PolicyError::InvalidName => Self::InvalidName,
            PolicyError::Empty => Self::Empty,
            PolicyError::TooLong => Self::TooLong,
            PolicyError::CannotUpdate(name) => Self::CannotUpdate(name),
            PolicyError::CannotDelete(name) => Self::CannotDelete(name),
            PolicyError::CannotDeleteDefault => Self::CannotDeleteDefault,
            PolicyError::Syntax(message) => Self::Syntax(message),
            PolicyError::InvalidKey { key, line } => {
                Self::InvalidKey(policies_wit::KeyPosition { key, line })
            }
            PolicyError::InvalidCapability(name) => Self::InvalidCapability(name),
            PolicyError::InvalidLegacyPolicy(word) => Self::InvalidLegacyPolicy(word),
            PolicyError::InvalidWildcard(path) => Self::InvalidWildcard(path),
            PolicyError::WrongType(key) => Self::WrongType(key),
            PolicyError::InvalidTemplate(path) => Self::InvalidTemplate(path),
            PolicyError::InvalidDuration { key, reason } => {
                Self::InvalidDuration(policies_wit::MalformedDuration { key, reason })
            }
            PolicyError::WrappingLimits => Self::WrappingLimits,
            PolicyError::UnsupportedKey(key) => Self::UnsupportedKey(key),
            PolicyError::Failure(failure) => Self::Failure(failure.into()),
        }
    }
}

impl From<MountError> for mounts_wit::MountError {
    fn from(error: MountError) -> Self {
        match error {
            MountError::InvalidPath => Self::InvalidPath,
            MountError::PathInUse(path) => Self::PathInUse(path),
            MountError::MissingType => Self::MissingType,
            MountError::UnknownType(name) => Self::UnknownType(name),
            MountError::DefaultAboveMaximum => Self::DefaultAboveMaximum,
            MountError::InvalidTokenType => Self::InvalidTokenType,
            MountError::InvalidListingVisibility => Self::InvalidListingVisibility,
            MountError::UnknownIdentityTokenKey => Self::UnknownIdentityTokenKey,
            MountError::TokenMount => Self::TokenMount,
            MountError::TooManyMounts(most) => Self::TooManyMounts(most),
            MountError::TooLong(error) => Self::TooLong(error.into()),
            MountError::Failure(failure) => Self::Failure(failure.into()),
        }
    }
}

impl From<TuneError> for mounts_wit::TuneError {
    fn from(error: TuneError) -> Self {
        match error {
            TuneError::NoMount => Self::NoMount,
            TuneError::MaxBelowDefault {
                default_ttl,
                max_ttl,
            } => Self::MaxBelowDefault(mounts_wit::LeaseConflict {
                default_ttl,
                max_ttl,
            }),
            TuneError::InvalidTokenType => Self::InvalidTokenType,
            TuneError::TokenMountType => Self::TokenMountType,
            TuneError::InvalidListingVisibility => Self::InvalidListingVisibility,
            TuneError::UnknownIdentityTokenKey => Self::UnknownIdentityTokenKey,
            TuneError::TooLong(error) => Self::TooLong(error.into()),
            TuneError::Failure(failure) => Self::Failure(failure.into()),
        }
    }
}
