//! How the types of the WIT package and the plain ones correspond, written once for both sides of the interface.
//!
//! A module that has the bindings of the package as `wit` says `gatehouse_orgs::crossings!();` and then turns values of either
//! kind into the other with `cross()`. Fields and cases have the same names on both sides.

mod installation;
mod people;
mod tokens;

/// Both directions between two records with the same fields.
#[doc(hidden)]
#[macro_export]
macro_rules! crossing_record {
    ($interface:ident :: $name:ident { $($field:ident),+ $(,)? }) => {
        impl Cross<$crate::$name> for wit::$interface::$name {
            fn cross(self) -> $crate::$name {
                $crate::$name { $($field: self.$field.cross()),+ }
            }
        }

        impl Cross<wit::$interface::$name> for $crate::$name {
            fn cross(self) -> wit::$interface::$name {
                wit::$interface::$name { $($field: self.$field.cross()),+ }
            }
        }
    };
}

/// Both directions between two enumerations with the same cases, each of which holds one value or none.
#[doc(hidden)]
#[macro_export]
macro_rules! crossing_cases {
    ($interface:ident :: $name:ident { $($case:ident $(($data:ident))?),+ $(,)? }) => {
        impl Cross<$crate::$name> for wit::$interface::$name {
            fn cross(self) -> $crate::$name {
                match self {
                    $(Self::$case $(($data))? => $crate::$name::$case $(($data.cross()))?),+
                }
            }
        }

        impl Cross<wit::$interface::$name> for $crate::$name {
            fn cross(self) -> wit::$interface::$name {
                match self {
                    $(Self::$case $(($data))? => wit::$interface::$name::$case $(($data.cross()))?),+
                }
            }
        }
    };
}

/// Both directions between what a request says about a field of one type.
#[doc(hidden)]
#[macro_export]
macro_rules! crossing_change {
    ($interface:ident :: $name:ident { $case:ident($plain:ty) }) => {
        impl Cross<$crate::Attribute<$plain>> for wit::$interface::$name {
            fn cross(self) -> $crate::Attribute<$plain> {
                match self {
                    Self::Absent => $crate::Attribute::Absent,
                    Self::Null => $crate::Attribute::Null,
                    Self::WrongType => $crate::Attribute::WrongType,
                    Self::$case(value) => $crate::Attribute::Value(value.cross()),
                }
            }
        }

        impl Cross<wit::$interface::$name> for $crate::Attribute<$plain> {
            fn cross(self) -> wit::$interface::$name {
                match self {
                    Self::Absent => wit::$interface::$name::Absent,
                    Self::Null => wit::$interface::$name::Null,
                    Self::WrongType => wit::$interface::$name::WrongType,
                    Self::Value(value) => wit::$interface::$name::$case(value.cross()),
                }
            }
        }
    };
}

/// Values that are the same on both sides.
#[doc(hidden)]
#[macro_export]
macro_rules! crossing_same {
    ($($plain:ty),+ $(,)?) => {
        $(impl Cross<$plain> for $plain {
            fn cross(self) -> $plain {
                self
            }
        })+
    };
}

/// Defines `Cross` for every type of the WIT package, whose bindings the surrounding module calls `wit`.
#[macro_export]
macro_rules! crossings {
    () => {
        /// Turns a value into its counterpart on the other side of the interface.
        trait Cross<T> {
            /// The counterpart.
            fn cross(self) -> T;
        }

        $crate::crossing_same!((), bool, u32, u64, i64, String);

        impl<T: Cross<U>, U> Cross<Option<U>> for Option<T> {
            fn cross(self) -> Option<U> {
                self.map(Cross::cross)
            }
        }

        impl<T: Cross<U>, U> Cross<Vec<U>> for Vec<T> {
            fn cross(self) -> Vec<U> {
                self.into_iter().map(Cross::cross).collect()
            }
        }

        impl<T: Cross<U>, U, E: Cross<F>, F> Cross<Result<U, F>> for Result<T, E> {
            fn cross(self) -> Result<U, F> {
                self.map(Cross::cross).map_err(Cross::cross)
            }
        }

        impl<A: Cross<C>, B: Cross<D>, C, D> Cross<(C, D)> for (A, B) {
            fn cross(self) -> (C, D) {
                (self.0.cross(), self.1.cross())
            }
        }

        impl Cross<String> for ::std::borrow::Cow<'static, str> {
            fn cross(self) -> String {
                self.into_owned()
            }
        }

        impl Cross<::std::borrow::Cow<'static, str>> for String {
            fn cross(self) -> ::std::borrow::Cow<'static, str> {
                ::std::borrow::Cow::Owned(self)
            }
        }

        impl Cross<String> for ::zeroize::Zeroizing<String> {
            fn cross(mut self) -> String {
                ::std::mem::take(&mut self)
            }
        }

        impl Cross<::zeroize::Zeroizing<String>> for String {
            fn cross(self) -> ::zeroize::Zeroizing<String> {
                ::zeroize::Zeroizing::new(self)
            }
        }

        impl Cross<Vec<wit::types::Right>> for $crate::Rights {
            fn cross(self) -> Vec<wit::types::Right> {
                self.into_iter().map(Cross::cross).collect()
            }
        }

        impl Cross<$crate::Rights> for Vec<wit::types::Right> {
            fn cross(self) -> $crate::Rights {
                self.into_iter().map(Cross::cross).collect()
            }
        }

        $crate::crossing_change!(types::TextChange { Text(String) });
        $crate::crossing_change!(types::NumberChange { Number(i64) });
        $crate::crossing_change!(types::FlagChange { Flag(bool) });

        $crate::crossing_cases!(types::Edition { Hosted, SelfHosted });
        $crate::crossing_cases!(types::Plan { Free, Standard, Plus, Business, Premium, Enterprise });
        $crate::crossing_cases!(types::ExecutionMode { Remote, Local, Agent });
        $crate::crossing_cases!(types::CollaboratorAuthPolicy { Password, TwoFactorMandatory });
        $crate::crossing_cases!(types::Standing { SiteAdministrator, Owner, Member, OrganizationToken });
        $crate::crossing_cases!(types::Right {
            ManagePolicies,
            ManagePolicyOverrides,
            DelegatePolicyOverrides,
            ManageWorkspaces,
            ManageVcsSettings,
            ManageProviders,
            ManageModules,
            ManageRunTasks,
            ManageProjects,
            ReadWorkspaces,
            ReadProjects,
            ManageMembership,
            ManageTeams,
            ManageOrganizationAccess,
            AccessSecretTeams,
            ManageAgentPools,
        });
        $crate::crossing_cases!(types::Failure {
            Sealed,
            Unavailable(why),
            Contended,
            Damaged(why),
            NoRandomness,
        });
        $crate::crossing_cases!(types::Fault {
            Blank,
            ForbiddenCharacter,
            TooLong(maximum),
            Taken,
            NotAnAddress,
            NotIncluded,
            NotText,
            NotInteger,
            NotBoolean,
            NotObject,
            NotPositive,
            Negative,
            TooLarge(maximum),
            UnknownPool,
            PoolRequired,
            PoolWithoutAgentMode,
            PoolsDiffer,
            ExcludedByPassingStatuses,
            KeyRequired,
            NotTimestamp,
            LifetimeExceeded,
            UnknownTeam,
            UnknownEntity,
            Protected,
        });
        $crate::crossing_record!(types::AttributeIssue { attribute, fault });
        $crate::crossing_record!(types::Settings {
            email,
            session_timeout,
            session_remember,
            collaborator_auth_policy,
            cost_estimation_enabled,
            send_passing_statuses_for_untriggered_speculative_plans,
            aggregated_commit_status_enabled,
            speculative_plan_management_enabled,
            owners_team_saml_role_id,
            assessments_enforced,
            allow_force_delete_workspaces,
            default_execution_mode,
            default_agent_pool_id,
            stacks_enabled,
            stacks_default_execution_mode,
            stacks_default_agent_pool_id,
            user_tokens_enabled,
            max_ttl_enabled,
            enforce_hyok,
            registry_monorepo_support_enabled,
            recoverable_items_enabled,
        });
        $crate::crossing_record!(types::Subscription {
            id,
            plan,
            active,
            start_at,
            end_at,
            contract_start_at,
            runs_ceiling,
            agents_ceiling,
            contract_user_limit,
            contract_apply_limit,
            contract_managed_resources_limit,
            rum_alert_threshold,
        });
        $crate::crossing_record!(types::Organization {
            name,
            external_id,
            created_at,
            default_project_id,
            plan,
            subscription,
            settings,
            disabled,
            global_module_sharing,
            global_provider_sharing,
            module_consumers,
            provider_consumers,
            retention,
            default_retention,
            administration,
        });
        $crate::crossing_cases!(types::ChangeError { NotFound, Invalid(issues), Failed(failure) });
        $crate::crossing_cases!(types::Subject { Entity(id), Installation });
        $crate::crossing_record!(types::User {
            id,
            username,
            email,
            site_administrator,
            suspended,
            subject,
            created_at,
        });
        $crate::crossing_cases!(types::Principal {
            User(user),
            Team(team),
            Organization(id),
            AuditReader(id),
            Installation,
            Workload(entity),
        });
        $crate::crossing_record!(types::TeamReference { id, organization });
        $crate::crossing_record!(types::Identity { principal, token_id });
        $crate::crossing_record!(types::Caller { identity, request_id, client_request_id });

        $crate::crossing_record!(organizations::OrganizationChanges {
            name,
            email,
            session_timeout,
            session_remember,
            collaborator_auth_policy,
            cost_estimation_enabled,
            send_passing_statuses_for_untriggered_speculative_plans,
            aggregated_commit_status_enabled,
            speculative_plan_management_enabled,
            owners_team_saml_role_id,
            assessments_enforced,
            allow_force_delete_workspaces,
            default_execution_mode,
            default_agent_pool_id,
            default_agent_pool,
            stacks_enabled,
            stacks_default_execution_mode,
            stacks_default_agent_pool,
            user_tokens_enabled,
            max_ttl_enabled,
            enforce_hyok,
            registry_monorepo_support_enabled,
            recoverable_items_enabled,
        });
        $crate::crossing_cases!(organizations::Field {
            Name,
            Email,
            SessionTimeout,
            SessionRemember,
            CollaboratorAuthPolicy,
            CostEstimationEnabled,
            SendPassingStatusesForUntriggeredSpeculativePlans,
            AggregatedCommitStatusEnabled,
            SpeculativePlanManagementEnabled,
            OwnersTeamSamlRoleId,
            AssessmentsEnforced,
            AllowForceDeleteWorkspaces,
            DefaultExecutionMode,
            DefaultAgentPoolId,
            DefaultAgentPool,
            StacksEnabled,
            StacksDefaultExecutionMode,
            StacksDefaultAgentPool,
            UserTokensEnabled,
            MaxTtlEnabled,
            EnforceHyok,
            RegistryMonorepoSupportEnabled,
            RecoverableItemsEnabled,
        });
        $crate::crossing_record!(organizations::FieldFault { field, fault });
        $crate::crossing_cases!(organizations::CreateError { Invalid(faults), Failed(failure) });
        $crate::crossing_cases!(organizations::UpdateError {
            NotFound,
            Invalid(faults),
            Failed(failure),
        });
        $crate::crossing_record!(organizations::Reach { names, prefixes, user });
        $crate::crossing_cases!(organizations::Viewer {
            Everything,
            Member(user),
            Only(external_id),
            Workload(reach),
            Nothing
        });
        $crate::crossing_record!(organizations::Filter { name_or_email, name, email });
        $crate::crossing_record!(organizations::Batch { organizations, next });
        $crate::crossing_record!(organizations::Page { organizations, total });

        $crate::crossing_cases!(entitlements::EntitlementValue { Included(included), Limit(limit) });
        $crate::crossing_record!(entitlements::Entitlement { key, value });
        $crate::crossing_record!(entitlements::Permission { key, granted });

        $crate::crossing_record!(subscriptions::FeatureSet {
            id,
            plan,
            name,
            description,
            comparison_description,
        });
        $crate::crossing_record!(subscriptions::SubscriptionTerms {
            feature_set,
            contract_start_at,
            end_at,
            runs_ceiling,
            agents_ceiling,
            contract_user_limit,
            contract_apply_limit,
            contract_managed_resources_limit,
        });
        $crate::crossing_cases!(subscriptions::SubscriptionError {
            NotFound,
            Invalid(issues),
            Failed(failure),
        });

        $crate::crossing_cases!(authority::Credential {
            ApiToken(secret),
            Entity(id),
            Root,
            Nobody,
        });
        $crate::crossing_cases!(authority::Decision {
            Allowed,
            Hidden,
            Forbidden,
            UserTokensOff,
        });
        $crate::crossing_cases!(authority::Action {
            Show,
            Update,
            Delete,
            ReadProducers,
            ReadRetention,
            WriteRetention,
            ManageTokens,
            ReadAgentPools,
            ManageAgentPools,
            ReadTeams,
            ManageTeams,
            ManageTeamMembers,
            ReadMemberships,
            ManageMemberships,
            ManageTokenLifetimes,
            ReadAuditTrail,
        });
        $crate::crossing_record!(authority::Position {
            organization,
            standing,
            rights,
            teams,
            decision,
        });
        $crate::crossing_record!(authority::Tie { standing, rights });
        $crate::crossing_record!(authority::OwningOrganization { external_id, name });

        $crate::crossing_record!(authority::Mandate { standing, rights, teams });

        $crate::crossing_record!(agent_pools::AgentPool {
            id,
            name,
            created_at,
            organization_scoped,
        });
        $crate::crossing_record!(agent_pools::AgentPoolChanges { name, organization_scoped });
        $crate::crossing_record!(agent_pools::AgentPoolFilter {
            name,
            allowed_workspace,
            allowed_project,
        });
        $crate::crossing_cases!(agent_pools::AgentPoolOrder {
            Name,
            NameDescending,
            CreatedAt,
            CreatedAtDescending,
        });
        $crate::crossing_record!(agent_pools::AgentPoolPage { agent_pools, matching, total });
        $crate::crossing_cases!(agent_pools::AgentPoolError {
            NotFound,
            Invalid(issues),
            TooMany(most),
            Failed(failure),
        });

        $crate::crossings_of_tokens!();
        $crate::crossings_of_people!();
        $crate::crossings_of_installation!();
    };
}
