//! Everything that crosses, by interface.

/// The conversions of all types of this capability, both ways.
///
/// Where it is called, `types_wit`, `config_wit`, `roles_wit`, `login_wit` and `identity_tokens_wit` are the modules that were generated from
/// the interfaces of `gatehouse:auth-method`; the crates `gatehouse-ports` and `gatehouse-storage` are there too.
#[macro_export]
macro_rules! crossings {
    () => {
        $crate::crossings_of_types!();
        $crate::crossings_of_config!();
        $crate::crossings_of_roles!();
        $crate::crossings_of_login!();
        $crate::crossings_of_identity_tokens!();
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! crossings_of_types {
    () => {
        $crate::crossing_record!(types_wit::Mount { id, accessor, path, default_lease, maximum_lease });
        $crate::crossing_cases!(types_wit::RoleType { Iam, Gce });
        $crate::crossing_cases!(types_wit::AliasSource { RoleId, Caller });
        $crate::crossing_cases!(types_wit::TokenType { Default, Service, Batch });
        $crate::crossing_record!(types_wit::TokenParameters {
            ttl, maximum_ttl, explicit_maximum_ttl, period, policies, bound_cidrs, no_default_policy, number_of_uses,
            token_type
        });
        $crate::crossing_record!(types_wit::ApiRefusal { status, message, reason });
        $crate::crossing_cases!(types_wit::CredentialsStep { Token, Metadata, Exchange, Impersonation, Use });
        $crate::crossing_cases!(types_wit::CredentialsFailure {
            NotFound, Unusable, DefaultUnusable, NoIdentityToken, AnswerUnreadable
        } records {
            Refused(CredentialsRefusal) { step = step, status = status, message = message }
        });
        $crate::crossing_cases!(types_wit::IdentityTokenError { NoIssuer, Random } holds { Storage });

        impl $crate::crossing::FromAcross<types_wit::StorageError> for ::gatehouse_storage::StorageError {
            fn from_across(value: types_wit::StorageError) -> Self {
                use ::gatehouse_ports::StoreError;
                match value {
                    types_wit::StorageError::Sealed => StoreError::Sealed.into(),
                    types_wit::StorageError::Unavailable(why) => StoreError::Unavailable(why).into(),
                    types_wit::StorageError::Damaged(what) => StoreError::Corrupt(what).into(),
                    types_wit::StorageError::Contended(attempts) => Self::Contended(attempts),
                }
            }
        }

        impl $crate::crossing::FromAcross<::gatehouse_storage::StorageError> for types_wit::StorageError {
            fn from_across(value: ::gatehouse_storage::StorageError) -> Self {
                use ::gatehouse_ports::StoreError;
                use ::gatehouse_storage::StorageError;
                match value {
                    StorageError::Store(StoreError::Sealed) => Self::Sealed,
                    StorageError::Store(StoreError::Unavailable(why)) => Self::Unavailable(why),
                    StorageError::Contended(attempts) => Self::Contended(attempts),
                    StorageError::Store(StoreError::Corrupt(_) | StoreError::Invalid(_))
                    | StorageError::NewerSchema { .. }
                    | StorageError::Malformed => Self::Damaged(value.to_string()),
                }
            }
        }
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! crossings_of_config {
    () => {
        $crate::crossing_record!(config_wit::CredentialsView { client_email, client_id, private_key_id, project_id });
        $crate::crossing_record!(config_wit::CustomEndpoints { api, iam, crm, compute });
        $crate::crossing_cases!(config_wit::CredentialsSource { Static, Federation, ApplicationDefault });
        $crate::crossing_record!(config_wit::RotationSettings { schedule, period, window, policy, disabled });
        $crate::crossing_record!(config_wit::ConfigView {
            credentials, iam_alias, gce_alias, iam_metadata, gce_metadata, custom_endpoint, credentials_source,
            service_account_email, identity_token_audience, identity_token_ttl, rotation
        });
        $crate::crossing_record!(config_wit::ConfigChanges {
            credentials, iam_alias, gce_alias, iam_metadata, gce_metadata, custom_endpoint, service_account_email,
            identity_token_audience, identity_token_ttl, rotation_schedule, rotation_period, rotation_window,
            rotation_policy, disable_automated_rotation
        });
        $crate::crossing_cases!(config_wit::ConfigWarning { KeysFromForeignHost });
        $crate::crossing_cases!(config_wit::CredentialsFlaw {
            TooLong, PrivateKeyIdMissing, NotServiceAccount, ClientEmailMissing, PrivateKeyUnusable
        } records {
            NotJson(JsonPosition) { line = line, column = column }
        });
        $crate::crossing_cases!(config_wit::MetadataFlaw {} names { DefaultWithOthers { names } } records {
            Unavailable(Unavailable) { name = name, available = available }
        });
        $crate::crossing_cases!(config_wit::EndpointFlaw {
            NotUrl, UserInformation, QueryOrFragment, Scheme, PlainHttp, LinkLocal, HostNotAllowed, PathNotAllowed
        });
        $crate::crossing_cases!(config_wit::ScheduleFlaw { FieldCount, Never } holds { Field });
        $crate::crossing_cases!(config_wit::ConfigError {
            CredentialsTwice, ServiceAccountMissing, ServiceAccountEmail, RotationTwice, WindowWithoutSchedule, WindowWithPeriod,
            TooLarge
        } holds {
            Credentials, Alias, EndpointKey, IdentityToken, RotationSchedule, Storage
        } records {
            TooLong(ConfigBound) { field = field, maximum = maximum },
            Metadata(Metadata) { role_type = role_type, flaw = flaw },
            EndpointValue(EndpointValue) { key = key, flaw = flaw }
        });
        $crate::crossing_record!(config_wit::Rotated { private_key_id, key_left_behind });
        $crate::crossing_cases!(config_wit::RotationError {
            NoStoredCredentials, Busy, AnswerUnreadable, ConfigurationChanged
        } holds {
            Refused, NotYetAccepted, Credentials, EndpointDenied, GoogleUnavailable, Storage
        });
        $crate::crossing_cases!(config_wit::CallFailure {} holds {
            Refused, Credentials, EndpointDenied, GoogleUnusable, GoogleUnavailable
        });
        $crate::crossing_record!(config_wit::PermissionsFound { held, lacking });
        $crate::crossing_record!(config_wit::ProjectReport { project, outcome });
        $crate::crossing_record!(config_wit::CredentialsReport { source, failure, projects });
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! crossings_of_roles {
    () => {
        $crate::crossing_record!(roles_wit::LegacyTokenFields { policies, ttl, maximum_ttl, period });
        $crate::crossing_record!(roles_wit::GceRules {
            bound_zones, bound_regions, bound_instance_groups, bound_labels, maximum_instance_age
        });
        $crate::crossing_cases!(roles_wit::RoleRules {} holds { Gce } records {
            Iam(IamRules) { maximum_jwt_lifetime = maximum_jwt_lifetime, allow_gce_inference = allow_gce_inference }
        });
        $crate::crossing_record!(roles_wit::Role {
            role_id, rules, bound_service_accounts, bound_projects, add_group_aliases, token, legacy, bound_folders,
            bound_organizations, bound_audiences, alias, refuse_replay, trust_claims
        });
        $crate::crossing_record!(roles_wit::RoleChanges {
            role_type, bound_service_accounts, service_accounts, bound_projects, project_id, add_group_aliases, max_jwt_exp,
            allow_gce_inference, bound_zones, bound_regions, bound_instance_groups, bound_labels, bound_zone, bound_region,
            bound_instance_group, token_ttl, token_max_ttl, token_explicit_max_ttl, token_period, token_policies,
            token_bound_cidrs, token_no_default_policy, token_num_uses, token_type, policies, ttl, max_ttl, period,
            bound_folders, bound_organizations, bound_audiences, alias_source, refuse_replay, live_checks, max_instance_age
        });
        $crate::crossing_record!(roles_wit::ListEdit { add, remove });
        $crate::crossing_cases!(roles_wit::Precondition { Any, MustBeNew, MustExist });
        $crate::crossing_cases!(roles_wit::RoleWarning {
            GroupAliasesOnSharedEntity, AnyServiceAccountOfAnyProject, RegionsBesideZones, BoundByLabelsOnly, ClaimsTrusted
        } records {
            DeprecatedField(DeprecatedField) { used = used, instead = instead },
            TtlAboveMountMaximum(AboveBound) { given = ttl, bound = mount_maximum },
            TtlAboveMountDefault(AboveBound) { given = ttl, bound = mount_default },
            MaximumTtlAboveMountMaximum(AboveBound) { given = maximum_ttl, bound = mount_maximum },
            PeriodAboveMountMaximum(AboveBound) { given = period, bound = mount_maximum },
            MaximumTtlAboveMountDefault(AboveBound) { given = maximum_ttl, bound = mount_default }
        });
        $crate::crossing_record!(roles_wit::RoleNames { names, next });
        $crate::crossing_record!(roles_wit::RoleWritten { created, warnings });
        $crate::crossing_cases!(roles_wit::RoleError {
            InvalidName, Exists, DoesNotExist, NegativeNumberOfUses, PeriodicBatch, LimitedUseBatch, TtlAboveMaximumTtl,
            TypeMissing, TypeChanged, WildcardWithOthers, ProjectsTwice, JwtLifetimeTooLong, NoServiceAccounts,
            GroupsWithoutLocation, TooLarge
        } holds {
            BoundCidr, TokenType, TypeInvalid, InvalidLabels, AliasSource, AncestorNumber, NeedsLiveChecks, BlankList,
            Storage
        } units {
            Random(::gatehouse_ports::RandomError)
        } records {
            PeriodAboveMountMaximum(AboveBound) { given = period, bound = mount_maximum },
            TooMany(RoleBound) { field = field, maximum = maximum },
            TooLong(RoleBound) { field = field, maximum = maximum },
            FieldsOfOtherType(FieldsOfOtherType) { role_type = role_type, fields = fields },
            SentTwice(SentTwice) { old = old, new = new }
        });
        $crate::crossing_cases!(roles_wit::EditError { Empty } holds {
            RoleNotFound, WrongType, InvalidLabels, Role, Storage
        });
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! crossings_of_login {
    () => {
        $crate::crossing_record!(login_wit::Identity {
            role, role_id, display_name, alias_name, metadata, group_aliases, token, renewal_state
        });
        $crate::crossing_record!(login_wit::Renewed { token, group_aliases });
        $crate::crossing_cases!(login_wit::JwtFlaw {
            TooLong, NotThreeParts, NotBase64Url, Header, Claims, TooComplex, Algorithm, KeyId, Extension, Type
        });
        $crate::crossing_cases!(login_wit::KeyRefusal {
            SubjectShape, AccountUnknown, KeyUnknown, NotGoogles, DocumentUnreadable
        });
        $crate::crossing_record!(login_wit::AccountRefusal { account, refusal });
        $crate::crossing_cases!(login_wit::InstanceFlaw { OtherId } holds { Refused, Status } records {
            CreatedLater(CreatedLater) { claimed = claimed, created = created }
        });
        $crate::crossing_cases!(login_wit::GroupLocations {} holds { Zones, Regions });
        $crate::crossing_cases!(login_wit::LoginError {
            RoleMissing, JwtMissing, AddressNotAllowed, SignatureInvalid, Expired, NotYetValid, SubjectMissing,
            IssuerNotAcceptable, AccountMismatch, NotGoogleSigned, Replayed, InstanceClaimsMissing, AliasEmpty
        } holds {
            RoleNotFound, MalformedJwt, AudienceNotForRole, InferenceNotAllowed, AccountNotFound, AccountDisabled,
            ZoneNotBound, RegionNotBound, NotInGroups, BoundAccountNotFound, InstanceAccountNotFound, AccountNotAttached,
            Credentials, EndpointDenied, GoogleUnusable, GoogleUnavailable, Storage
        } names {
            ExpiresTooLate { expires_in },
            ExpiresBeyondRole { maximum_jwt_lifetime }
        } records {
            KeyNotFound(KeyNotFound) { key_id = key_id, subject = subject, refusal = refusal },
            ProjectNotBound(ProjectNotBound) { email = email, bound_projects = bound_projects },
            AccountNotBound(AccountNotBound) { email = email, unique_id = unique_id },
            InstanceProjectNotBound(InstanceProjectNotBound) {
                instance_id = instance_id, project = project, bound_projects = bound_projects
            },
            Instance(Instance) { project = project, zone = zone, name = name, flaw = flaw },
            InstanceTooOld(InstanceTooOld) { age = age, maximum = maximum },
            LabelMissing(LabelMissing) { key = key, value = value },
            GroupNotFound(GroupNotFound) { group = group, project = project, locations = locations },
            GroupsUnreadable(ProjectRefusal) { project = project, refusal = refusal },
            InstanceAccountNotBound(InstanceAccountNotBound) { unique_id = unique_id, email = email, bound = bound },
            AncestryUnreadable(ProjectRefusal) { project = project, refusal = refusal },
            FolderNotBound(AncestorNotBound) { project = project, bound = bound },
            OrganizationNotBound(AncestorNotBound) { project = project, bound = bound }
        });
        $crate::crossing_cases!(login_wit::RenewalError { StateUnreadable, AddressNotAllowed } holds {
            RoleGone, PoliciesChanged, AccountNotFound, InferenceNotAllowed, AccountNotBound, Credentials, EndpointDenied,
            GoogleUnusable, GoogleUnavailable, Storage
        } records {
            InstanceRefused(InstanceRefused) { role = role, refusal = refusal }
        });
        $crate::crossing_cases!(login_wit::Check {
            Role, SourceAddress, Form, Expiry, Beginning, Subject, Audience, Key, Signature, Issuer, Inference, Lifetime,
            InstanceClaims, Project, Instance, InstanceAge, Labels, Location, InstanceGroups, Account, BoundAccount, Folder,
            Organization, GroupAliases, Replay
        });
        $crate::crossing_cases!(login_wit::Verdict { Passed, NotRun } holds { Failed });
        $crate::crossing_record!(login_wit::CheckReport { check, inputs, verdict });

        impl $crate::crossing::FromAcross<Box<$crate::ApiRefusal>> for types_wit::ApiRefusal {
            fn from_across(value: Box<$crate::ApiRefusal>) -> Self {
                $crate::crossing::Across::across(*value)
            }
        }

        impl $crate::crossing::FromAcross<Box<$crate::LoginError>> for login_wit::LoginError {
            fn from_across(value: Box<$crate::LoginError>) -> Self {
                $crate::crossing::Across::across(*value)
            }
        }

        impl $crate::crossing::FromAcross<login_wit::LoginRequest> for $crate::LoginRequest {
            fn from_across(value: login_wit::LoginRequest) -> Self {
                Self {
                    role: value.role,
                    jwt: value.jwt,
                    source_address: value.source_address.and_then(|address| address.parse().ok()),
                }
            }
        }

        impl $crate::crossing::FromAcross<$crate::LoginRequest> for login_wit::LoginRequest {
            fn from_across(value: $crate::LoginRequest) -> Self {
                Self {
                    role: value.role,
                    jwt: value.jwt,
                    source_address: value.source_address.map(|address| address.to_string()),
                }
            }
        }

        impl $crate::crossing::FromAcross<login_wit::RenewalRequest> for $crate::RenewalRequest {
            fn from_across(value: login_wit::RenewalRequest) -> Self {
                Self {
                    renewal_state: value.renewal_state,
                    token_policies: value.token_policies,
                    source_address: value.source_address.and_then(|address| address.parse().ok()),
                }
            }
        }

        impl $crate::crossing::FromAcross<$crate::RenewalRequest> for login_wit::RenewalRequest {
            fn from_across(value: $crate::RenewalRequest) -> Self {
                Self {
                    renewal_state: value.renewal_state,
                    token_policies: value.token_policies,
                    source_address: value.source_address.map(|address| address.to_string()),
                }
            }
        }
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! crossings_of_identity_tokens {
    () => {
        $crate::crossing_record!(identity_tokens_wit::PublicKey { key_id, modulus, exponent });
        $crate::crossing_cases!(identity_tokens_wit::IssuerError { NotUrl } holds { Storage });
    };
}
