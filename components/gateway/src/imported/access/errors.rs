//! Refusals and failures of `access`.

use gatehouse_access::{
    CreateError, Failure, FieldTooLong, InitializeError, LoginError, LookupError, MountError,
    PoliciesOfRole, PolicyError, PrefixError, Refusal, RemountError, RenewError, RevokeError,
    ServiceField, TuneError,
};

use super::{
    leases_wit, migrations_wit, mounts_wit, policies_wit, requests_wit, rights_wit, system_wit,
    tokens_wit, types,
};

same_cases!(
    tokens_wit::ServiceField,
    ServiceField,
    NumUses,
    Period,
    ExplicitMaxTtl
);

same_fields!(tokens_wit::PoliciesOfRole => PoliciesOfRole {
    policies,
    allowed,
    allowed_glob,
});

same_fields!(types::FieldTooLong => FieldTooLong { field, bytes });

same_errors!(types::Failure => Failure {
    NotInitialized, Sealed, Contended, NoRandomness;
    Unavailable, Damaged
});
same_errors!(system_wit::InitializeError => InitializeError {
    AlreadyInitialized, UnusableRootToken;
    Failure
});
same_errors!(requests_wit::Refusal => Refusal {
    MalformedPath, NoToken, InvalidToken, AddressDenied, EntityUnusable, ParametersNeeded, Denied,
    NoMount;
    Failure
});
same_errors!(requests_wit::CapabilitiesError => LookupError { UnknownToken; Failure });
same_errors!(tokens_wit::LookupError => LookupError { UnknownToken; Failure });
same_errors!(tokens_wit::LoginError => LoginError {
    MountGone, EmptyAliasName, RootPolicy, BatchWithNumUses, BatchWithPeriod, AddressDenied,
    EntityUnusable;
    UnassignablePolicy, TooManyPolicies, InvalidBoundCidr, TooManyGroupAliases, BatchTooLarge,
    TooLong, TooManyTokensOfMount, TooManyTokensOfRole, Failure
});
same_errors!(tokens_wit::CreateError => CreateError {
    InvalidToken, RestrictedUseParent, PoliciesNotSubset, RootFromNonRoot,
    EndlessRootFromExpiring, OrphanNeedsSudo, PeriodNeedsSudo, IdNeedsSudo, IdWithReservedPrefix,
    UnusableId, DuplicateId, NegativeTtl, NegativeExplicitMaxTtl, NegativePeriod,
    NegativeNumUses, InvalidTokenType, BatchRoot, BatchParent, AliasNotAllowed,
    AliasEntityUnusable, EntityAliasWithoutRole;
    UnknownRole, PoliciesNotOfRole, PolicyDisallowedByRole, TooManyAncestors, UnassignablePolicy, TooManyPolicies, BatchWith, BatchTooLarge,
    TooLong, TooManyEntities, Failure
});
same_errors!(tokens_wit::RenewError => RenewError {
    UnknownToken, NotRenewable, BatchToken, PastMaxTtl, AddressDenied, RevalidationMissing;
    RoleGone, TooManyGroupAliases, Failure
});
same_errors!(leases_wit::PrefixError => PrefixError {; TooManyPrefixes, Failure });
same_errors!(rights_wit::RightsError => LookupError { UnknownToken; Failure });
same_errors!(migrations_wit::RemountError => RemountError {
    TokenMount, ReservedTarget, NoMount, InvalidTarget;
    PathInUse, Failure
});
same_errors!(tokens_wit::RevokeError => RevokeError { BatchToken; Failure });
same_errors!(mounts_wit::MountError => MountError {
    InvalidPath, MissingType, DefaultAboveMaximum, InvalidTokenType, InvalidListingVisibility,
    UnknownIdentityTokenKey, TokenMount;
    PathInUse, UnknownType, TooManyMounts, TooLong, Failure
});

impl From<policies_wit::PolicyError> for PolicyError {
    fn from(from: policies_wit::PolicyError) -> Self {
        use policies_wit::PolicyError as Wit;
        match from {
            Wit::InvalidName => Self::InvalidName,
            Wit::Empty => Self::Empty,
            Wit::TooLong => Self::TooLong,
            Wit::CannotUpdate(name) => Self::CannotUpdate(name),
            Wit::CannotDelete(name) => Self::CannotDelete(name),
            Wit::CannotDeleteDefault => Self::CannotDeleteDefault,
            Wit::Syntax(why) => Self::Syntax(why),
            Wit::InvalidKey(position) => Self::InvalidKey {
                key: position.key,
                line: position.line,
            },
            Wit::InvalidCapability(name) => Self::InvalidCapability(name),
            Wit::InvalidLegacyPolicy(name) => Self::InvalidLegacyPolicy(name),
            Wit::InvalidWildcard(path) => Self::InvalidWildcard(path),
            Wit::WrongType(key) => Self::WrongType(key),
            Wit::InvalidTemplate(path) => Self::InvalidTemplate(path),
            Wit::InvalidDuration(duration) => Self::InvalidDuration {
                key: duration.key,
                reason: duration.reason,
            },
            Wit::WrappingLimits => Self::WrappingLimits,
            Wit::UnsupportedKey(key) => Self::UnsupportedKey(key),
            Wit::Failure(failure) => Self::Failure(failure.into()),
        }
    }
}

impl From<mounts_wit::TuneError> for TuneError {
    fn from(from: mounts_wit::TuneError) -> Self {
        use mounts_wit::TuneError as Wit;
        match from {
            Wit::NoMount => Self::NoMount,
            Wit::MaxBelowDefault(conflict) => Self::MaxBelowDefault {
                default_ttl: conflict.default_ttl,
                max_ttl: conflict.max_ttl,
            },
            Wit::InvalidTokenType => Self::InvalidTokenType,
            Wit::TokenMountType => Self::TokenMountType,
            Wit::InvalidListingVisibility => Self::InvalidListingVisibility,
            Wit::UnknownIdentityTokenKey => Self::UnknownIdentityTokenKey,
            Wit::TooLong(error) => Self::TooLong(error.into()),
            Wit::Failure(failure) => Self::Failure(failure.into()),
        }
    }
}
