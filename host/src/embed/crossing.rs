//! How values cross between this program and the component inside it.
//!
//! Wasmtime generates types of its own, which have the names, fields and cases of those of [`gatehouse_auth_method_api`]. The lists below
//! say so once; the compiler holds them to both.

use gatehouse_auth_method_api as api;

use super::bindings::exports::gatehouse::auth_method::{
    config as config_wit, identity_tokens as identity_tokens_wit, login as login_wit,
    roles as roles_wit, types as types_wit,
};

/// A type that takes its values from the other side.
pub(super) trait FromAcross<T> {
    /// The same value on this side.
    fn from_across(value: T) -> Self;
}

/// A value that has a twin on the other side: [`FromAcross`] as callers want it.
pub(super) trait Across<T> {
    /// The same value on the other side.
    fn across(self) -> T;
}

impl<T, U: FromAcross<T>> Across<U> for T {
    fn across(self) -> U {
        U::from_across(self)
    }
}

macro_rules! themselves {
    ($($same:ty),+) => {
        $(
            impl FromAcross<$same> for $same {
                fn from_across(value: $same) -> Self {
                    value
                }
            }
        )+
    };
}

themselves!((), bool, u8, u16, u32, u64, i64, String);

impl<T, U: FromAcross<T>> FromAcross<Option<T>> for Option<U> {
    fn from_across(value: Option<T>) -> Self {
        value.map(Across::across)
    }
}

impl<T, U: FromAcross<T>> FromAcross<Vec<T>> for Vec<U> {
    fn from_across(value: Vec<T>) -> Self {
        value.into_iter().map(Across::across).collect()
    }
}

impl<A, B, C: FromAcross<A>, D: FromAcross<B>> FromAcross<(A, B)> for (C, D) {
    fn from_across((first, second): (A, B)) -> Self {
        (first.across(), second.across())
    }
}

impl<T, E, U: FromAcross<T>, F: FromAcross<E>> FromAcross<Result<T, E>> for Result<U, F> {
    fn from_across(value: Result<T, E>) -> Self {
        value.map(Across::across).map_err(Across::across)
    }
}

/// A record that goes from the module on the left to the one on the right.
macro_rules! record {
    ($from:ident => $to:ident :: $name:ident { $($field:ident),+ $(,)? }) => {
        impl FromAcross<$from::$name> for $to::$name {
            fn from_across(value: $from::$name) -> Self {
                Self { $($field: value.$field.across()),+ }
            }
        }
    };
}

/// Cases that go from the module on the left to the one on the right: those that hold nothing, then those that hold a value.
macro_rules! cases {
    ($from:ident => $to:ident :: $name:ident { $($empty:ident),* $(,)? } $(holds { $($holding:ident),* $(,)? })?) => {
        impl FromAcross<$from::$name> for $to::$name {
            fn from_across(value: $from::$name) -> Self {
                match value {
                    $($from::$name::$empty => Self::$empty,)*
                    $($($from::$name::$holding(value) => Self::$holding(value.across()),)*)?
                }
            }
        }
    };
}

// The questions to the component.
record!(api => types_wit::Mount { id, accessor, path, default_lease, maximum_lease });
record!(api => config_wit::ConfigChanges { credentials, iam_alias, gce_alias, iam_metadata,
    gce_metadata, custom_endpoint, service_account_email, identity_token_audience,
    identity_token_ttl, rotation_schedule, rotation_period, rotation_window, rotation_policy,
    disable_automated_rotation });
record!(api => roles_wit::RoleChanges { role_type, bound_service_accounts, service_accounts,
    bound_projects, project_id, add_group_aliases, max_jwt_exp, allow_gce_inference, bound_zones,
    bound_regions, bound_instance_groups, bound_labels, bound_zone, bound_region,
    bound_instance_group, token_ttl, token_max_ttl, token_explicit_max_ttl, token_period,
    token_policies, token_bound_cidrs, token_no_default_policy, token_num_uses, token_type,
    policies, ttl, max_ttl, period, bound_folders, bound_organizations, bound_audiences,
    alias_source, refuse_replay, live_checks, max_instance_age });
record!(api => roles_wit::ListEdit { add, remove });
cases!(api => roles_wit::Precondition { Any, MustBeNew, MustExist });
record!(api => login_wit::RenewalRequest { renewal_state, token_policies, source_address });
record!(api => login_wit::LoginRequest { role, jwt, source_address });

// Its answers, by interface.
cases!(types_wit => api::StorageError { Sealed } holds { Unavailable, Damaged, Contended });
cases!(types_wit => api::RoleType { Iam, Gce });
cases!(types_wit => api::AliasSource { RoleId, Caller });
cases!(types_wit => api::TokenType { Default, Service, Batch });
record!(types_wit => api::TokenParameters { ttl, maximum_ttl, explicit_maximum_ttl, period,
    policies, bound_cidrs, no_default_policy, number_of_uses, token_type });
record!(types_wit => api::ApiRefusal { status, message, reason });
cases!(types_wit => api::CredentialsStep { Token, Metadata, Exchange, Impersonation, Use });
record!(types_wit => api::CredentialsRefusal { step, status, message });
cases!(types_wit => api::CredentialsError { NotFound, Unusable, DefaultUnusable, NoIdentityToken,
    AnswerUnreadable } holds { Refused });
cases!(types_wit => api::IdentityTokenError { NoIssuer, Random } holds { Storage });

record!(config_wit => api::CredentialsView { client_email, client_id, private_key_id, project_id });
record!(config_wit => api::CustomEndpoints { api, iam, crm, compute });
cases!(config_wit => api::CredentialsSource { Static, Federation, ApplicationDefault });
record!(config_wit => api::RotationSettings { schedule, period, window, policy, disabled });
record!(config_wit => api::ConfigView { credentials, iam_alias, gce_alias, iam_metadata,
    gce_metadata, custom_endpoint, credentials_source, service_account_email,
    identity_token_audience, identity_token_ttl, rotation });
cases!(config_wit => api::ConfigWarning { KeysFromForeignHost });
record!(config_wit => api::JsonPosition { line, column });
cases!(config_wit => api::KeyFileError { TooLong, PrivateKeyIdMissing, NotServiceAccount,
    ClientEmailMissing, PrivateKeyUnusable } holds { NotJson });
record!(config_wit => api::Unavailable { name, available });
cases!(config_wit => api::MetadataError {} holds { DefaultWithOthers, Unavailable });
cases!(config_wit => api::EndpointFlaw { NotUrl, UserInformation, QueryOrFragment, Scheme,
    PlainHttp, LinkLocal, HostNotAllowed, PathNotAllowed });
cases!(config_wit => api::ScheduleError { FieldCount, Never } holds { Field });
record!(config_wit => api::ConfigBound { field, maximum });
record!(config_wit => api::Metadata { role_type, flaw });
record!(config_wit => api::EndpointValue { key, flaw });
cases!(config_wit => api::ConfigError { CredentialsTwice, ServiceAccountMissing,
    ServiceAccountEmail, RotationTwice, WindowWithoutSchedule, WindowWithPeriod, TooLarge } holds {
    Credentials, Alias, EndpointKey, IdentityToken, RotationSchedule, Storage, TooLong, Metadata,
    EndpointValue });
record!(config_wit => api::Rotated { private_key_id, key_left_behind });
cases!(config_wit => api::RotationError { NoStoredCredentials, Busy, AnswerUnreadable,
    ConfigurationChanged } holds { Refused, NotYetAccepted, Credentials, EndpointDenied,
    GoogleUnavailable, Storage });
cases!(config_wit => api::GoogleCallError {} holds { Refused, Credentials, EndpointDenied,
    GoogleUnusable, GoogleUnavailable });
record!(config_wit => api::PermissionsFound { held, lacking });
record!(config_wit => api::ProjectReport { project, outcome });
record!(config_wit => api::CredentialsReport { source, failure, projects });

record!(roles_wit => api::LegacyTokenFields { policies, ttl, maximum_ttl, period });
record!(roles_wit => api::GceRules { bound_zones, bound_regions, bound_instance_groups,
    bound_labels, maximum_instance_age });
record!(roles_wit => api::IamRules { maximum_jwt_lifetime, allow_gce_inference });
cases!(roles_wit => api::RoleRules {} holds { Gce, Iam });
record!(roles_wit => api::Role { role_id, rules, bound_service_accounts, bound_projects,
    add_group_aliases, token, legacy, bound_folders, bound_organizations, bound_audiences, alias,
    refuse_replay, trust_claims });
record!(roles_wit => api::DeprecatedField { used, instead });
record!(roles_wit => api::AboveBound { given, bound });
cases!(roles_wit => api::RoleWarning { GroupAliasesOnSharedEntity, AnyServiceAccountOfAnyProject,
    RegionsBesideZones, BoundByLabelsOnly, ClaimsTrusted } holds { DeprecatedField,
    TtlAboveMountMaximum, TtlAboveMountDefault, MaximumTtlAboveMountMaximum,
    PeriodAboveMountMaximum, MaximumTtlAboveMountDefault });
record!(roles_wit => api::RoleNames { names, next });
record!(roles_wit => api::RoleWritten { created, warnings });
record!(roles_wit => api::RoleBound { field, maximum });
record!(roles_wit => api::FieldsOfOtherType { role_type, fields });
record!(roles_wit => api::SentTwice { old, new });
cases!(roles_wit => api::RoleError { InvalidName, Exists, DoesNotExist, NegativeNumberOfUses,
    PeriodicBatch, LimitedUseBatch, TtlAboveMaximumTtl, TypeMissing, TypeChanged,
    WildcardWithOthers, ProjectsTwice, JwtLifetimeTooLong, NoServiceAccounts, GroupsWithoutLocation,
    TooLarge, Random } holds { BoundCidr, TokenType, TypeInvalid, InvalidLabels, AliasSource,
    AncestorNumber, NeedsLiveChecks, BlankList, Storage, PeriodAboveMountMaximum, TooMany, TooLong,
    FieldsOfOtherType, SentTwice });
cases!(roles_wit => api::EditError { Empty } holds { RoleNotFound, WrongType, InvalidLabels, Role,
    Storage });

record!(login_wit => api::Identity { role, role_id, display_name, alias_name, metadata,
    group_aliases, token, renewal_state });
record!(login_wit => api::Renewed { token, group_aliases });
cases!(login_wit => api::JwtFlaw { TooLong, NotThreeParts, NotBase64Url, Header, Claims, TooComplex,
    Algorithm, KeyId, Extension, Type });
cases!(login_wit => api::KeyRefusal { SubjectShape, AccountUnknown, KeyUnknown, NotGoogles,
    DocumentUnreadable });
record!(login_wit => api::AccountRefusal { account, refusal });
record!(login_wit => api::CreatedLater { claimed, created });
cases!(login_wit => api::InstanceError { OtherId } holds { Refused, Status, CreatedLater });
cases!(login_wit => api::GroupLocations {} holds { Zones, Regions });
record!(login_wit => api::KeyNotFound { key_id, subject, refusal });
record!(login_wit => api::ProjectNotBound { email, bound_projects });
record!(login_wit => api::AccountNotBound { email, unique_id });
record!(login_wit => api::InstanceProjectNotBound { instance_id, project, bound_projects });
record!(login_wit => api::Instance { project, zone, name, flaw });
record!(login_wit => api::InstanceTooOld { age, maximum });
record!(login_wit => api::LabelMissing { key, value });
record!(login_wit => api::GroupNotFound { group, project, locations });
record!(login_wit => api::ProjectRefusal { project, refusal });
record!(login_wit => api::InstanceAccountNotBound { unique_id, email, bound });
record!(login_wit => api::AncestorNotBound { project, bound });
cases!(login_wit => api::LoginError { RoleMissing, JwtMissing, AddressNotAllowed, SignatureInvalid,
    Expired, NotYetValid, SubjectMissing, IssuerNotAcceptable, AccountMismatch, NotGoogleSigned,
    Replayed, InstanceClaimsMissing, AliasEmpty } holds { RoleNotFound, MalformedJwt,
    AudienceNotForRole, InferenceNotAllowed, AccountNotFound, AccountDisabled, ZoneNotBound,
    RegionNotBound, NotInGroups, BoundAccountNotFound, InstanceAccountNotFound, AccountNotAttached,
    Credentials, EndpointDenied, GoogleUnusable, GoogleUnavailable, Storage, ExpiresTooLate,
    ExpiresBeyondRole, KeyNotFound, ProjectNotBound, AccountNotBound, InstanceProjectNotBound,
    Instance, InstanceTooOld, LabelMissing, GroupNotFound, GroupsUnreadable,
    InstanceAccountNotBound, AncestryUnreadable, FolderNotBound, OrganizationNotBound });
record!(login_wit => api::InstanceRefused { role, refusal });
cases!(login_wit => api::RenewalError { StateUnreadable, AddressNotAllowed } holds { RoleGone,
    PoliciesChanged, AccountNotFound, InferenceNotAllowed, AccountNotBound, Credentials,
    EndpointDenied, GoogleUnusable, GoogleUnavailable, Storage, InstanceRefused });
cases!(login_wit => api::Check { Role, SourceAddress, Form, Expiry, Beginning, Subject, Audience,
    Key, Signature, Issuer, Inference, Lifetime, InstanceClaims, Project, Instance, InstanceAge,
    Labels, Location, InstanceGroups, Account, BoundAccount, Folder, Organization, GroupAliases,
    Replay });
cases!(login_wit => api::Verdict { Passed, NotRun } holds { Failed });
record!(login_wit => api::CheckReport { check, inputs, verdict });

record!(identity_tokens_wit => api::PublicKey { key_id, modulus, exponent });
cases!(identity_tokens_wit => api::IssuerError { NotUrl } holds { Storage });
