//! The capability as a component: it only turns types into one another.

use gatehouse_ports::{OsRandom, SystemClock};
use gatehouse_storage::wasm::ImportedStore;

use crate::{
    Attribute, Batch, CollaboratorAuthPolicy, CreateError, Edition, Entitlement, EntitlementValue,
    ExecutionMode, Failure, Fault, Field, FieldFault, Filter, Organization, OrganizationChanges,
    Organizations, Orgs, Page, Permission, Plan, Settings, Standing, UpdateError,
};

#[allow(missing_docs, unsafe_code, clippy::all)]
mod bindings {
    wit_bindgen::generate!({
        path: ["../../wit/storage", "../../wit/orgs"],
        world: "gatehouse:orgs/orgs",
        with: {
            "gatehouse:storage/key-value@0.1.0": gatehouse_storage::wasm::bindings::gatehouse::storage::key_value,
        },
        generate_all,
    });

    use super::Component;
    export!(Component);
}

use bindings::exports::gatehouse::orgs::types as types_wit;
use bindings::exports::gatehouse::orgs::{
    entitlements as entitlements_wit, organizations as organizations_wit,
};

struct Component;

const ORGANIZATIONS: Orgs<ImportedStore, SystemClock, OsRandom> =
    Orgs::new(ImportedStore, SystemClock, OsRandom);

impl organizations_wit::Guest for Component {
    fn create(
        edition: types_wit::Edition,
        changes: organizations_wit::OrganizationChanges,
    ) -> Result<types_wit::Organization, organizations_wit::CreateError> {
        let created = ORGANIZATIONS.create(edition.into(), &changes.into());
        Ok(created?.into())
    }

    fn read(
        edition: types_wit::Edition,
        name: String,
    ) -> Result<Option<types_wit::Organization>, types_wit::Failure> {
        Ok(ORGANIZATIONS.read(edition.into(), &name)?.map(Into::into))
    }

    fn find(
        edition: types_wit::Edition,
        external_id: String,
    ) -> Result<Option<types_wit::Organization>, types_wit::Failure> {
        let found = ORGANIZATIONS.find(edition.into(), &external_id)?;
        Ok(found.map(Into::into))
    }

    fn list(
        edition: types_wit::Edition,
        filter: organizations_wit::Filter,
        after: Option<String>,
        limit: u32,
    ) -> Result<organizations_wit::Batch, types_wit::Failure> {
        let after = after.as_deref();
        let batch = ORGANIZATIONS.list(edition.into(), &filter.into(), after, limit)?;
        Ok(batch.into())
    }

    fn page_at(
        edition: types_wit::Edition,
        filter: organizations_wit::Filter,
        number: u32,
        size: u32,
    ) -> Result<organizations_wit::Page, types_wit::Failure> {
        let page = ORGANIZATIONS.page_at(edition.into(), &filter.into(), number, size)?;
        Ok(page.into())
    }

    fn update(
        edition: types_wit::Edition,
        name: String,
        changes: organizations_wit::OrganizationChanges,
    ) -> Result<types_wit::Organization, organizations_wit::UpdateError> {
        let updated = ORGANIZATIONS.update(edition.into(), &name, &changes.into());
        Ok(updated?.into())
    }

    fn delete(name: String) -> Result<bool, types_wit::Failure> {
        Ok(ORGANIZATIONS.delete(&name)?)
    }
}

impl entitlements_wit::Guest for Component {
    fn entitlements(plan: types_wit::Plan) -> Vec<entitlements_wit::Entitlement> {
        let entitlements = ORGANIZATIONS.entitlements(plan.into());
        entitlements.into_iter().map(Into::into).collect()
    }

    fn permissions(
        plan: types_wit::Plan,
        standing: entitlements_wit::Standing,
    ) -> Vec<entitlements_wit::Permission> {
        let permissions = ORGANIZATIONS.permissions(plan.into(), standing.into());
        permissions.into_iter().map(Into::into).collect()
    }
}

/// Both directions between two enumerations with the same cases.
macro_rules! same_cases {
    ($wit:ty, $plain:ty, $($case:ident),+ $(,)?) => {
        impl From<$wit> for $plain {
            fn from(from: $wit) -> Self {
                match from {
                    $(<$wit>::$case => Self::$case),+
                }
            }
        }

        impl From<$plain> for $wit {
            fn from(from: $plain) -> Self {
                match from {
                    $(<$plain>::$case => Self::$case),+
                }
            }
        }
    };
}

same_cases!(types_wit::Edition, Edition, Hosted, SelfHosted);
same_cases!(
    types_wit::Plan,
    Plan,
    Free,
    Standard,
    Business,
    Premium,
    Enterprise
);
same_cases!(
    types_wit::ExecutionMode,
    ExecutionMode,
    Remote,
    Local,
    Agent
);
same_cases!(
    types_wit::CollaboratorAuthPolicy,
    CollaboratorAuthPolicy,
    Password,
    TwoFactorMandatory,
);
same_cases!(
    entitlements_wit::Standing,
    Standing,
    SiteAdministrator,
    Owner,
    Member
);
same_cases!(
    organizations_wit::Field,
    Field,
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
);

/// From what a request says about a field in WIT.
macro_rules! change {
    ($wit:ident, $case:ident, $plain:ty) => {
        impl From<organizations_wit::$wit> for Attribute<$plain> {
            fn from(from: organizations_wit::$wit) -> Self {
                match from {
                    organizations_wit::$wit::Absent => Self::Absent,
                    organizations_wit::$wit::Null => Self::Null,
                    organizations_wit::$wit::WrongType => Self::WrongType,
                    organizations_wit::$wit::$case(value) => Self::Value(value),
                }
            }
        }
    };
}

change!(TextChange, Text, String);
change!(NumberChange, Number, i64);
change!(FlagChange, Flag, bool);

/// A record whose fields have the same names on both sides.
macro_rules! same_fields {
    ($from:ty => $to:ident { $($field:ident),+ $(,)? }) => {
        |from: $from| $to { $($field: from.$field.into()),+ }
    };
}

impl From<organizations_wit::OrganizationChanges> for OrganizationChanges {
    fn from(from: organizations_wit::OrganizationChanges) -> Self {
        same_fields!(organizations_wit::OrganizationChanges => OrganizationChanges {
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
        })(from)
    }
}

impl From<Settings> for types_wit::Settings {
    fn from(from: Settings) -> Self {
        use types_wit::Settings as SettingsWit;
        same_fields!(Settings => SettingsWit {
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
        })(from)
    }
}

impl From<Organization> for types_wit::Organization {
    fn from(from: Organization) -> Self {
        Self {
            name: from.name,
            external_id: from.external_id,
            created_at: from.created_at,
            default_project_id: from.default_project_id,
            plan: from.plan.into(),
            settings: from.settings.into(),
            global_module_sharing: from.global_module_sharing,
            global_provider_sharing: from.global_provider_sharing,
        }
    }
}

impl From<organizations_wit::Filter> for Filter {
    fn from(from: organizations_wit::Filter) -> Self {
        Self {
            name_or_email: from.name_or_email,
            name: from.name,
            email: from.email,
        }
    }
}

impl From<Batch> for organizations_wit::Batch {
    fn from(from: Batch) -> Self {
        Self {
            organizations: from.organizations.into_iter().map(Into::into).collect(),
            next: from.next,
        }
    }
}

impl From<Page> for organizations_wit::Page {
    fn from(from: Page) -> Self {
        Self {
            organizations: from.organizations.into_iter().map(Into::into).collect(),
            total: from.total,
        }
    }
}

impl From<Entitlement> for entitlements_wit::Entitlement {
    fn from(from: Entitlement) -> Self {
        Self {
            key: from.key.into_owned(),
            value: match from.value {
                EntitlementValue::Included(included) => {
                    entitlements_wit::EntitlementValue::Included(included)
                }
                EntitlementValue::Limit(limit) => entitlements_wit::EntitlementValue::Limit(limit),
            },
        }
    }
}

impl From<Permission> for entitlements_wit::Permission {
    fn from(from: Permission) -> Self {
        Self {
            key: from.key.into_owned(),
            granted: from.granted,
        }
    }
}

impl From<Fault> for organizations_wit::Fault {
    fn from(from: Fault) -> Self {
        match from {
            Fault::Blank => Self::Blank,
            Fault::ForbiddenCharacter => Self::ForbiddenCharacter,
            Fault::TooLong { maximum } => Self::TooLong(maximum),
            Fault::Taken => Self::Taken,
            Fault::NotAnAddress => Self::NotAnAddress,
            Fault::NotIncluded => Self::NotIncluded,
            Fault::NotText => Self::NotText,
            Fault::NotInteger => Self::NotInteger,
            Fault::NotBoolean => Self::NotBoolean,
            Fault::NotPositive => Self::NotPositive,
            Fault::UnknownPool => Self::UnknownPool,
            Fault::PoolRequired => Self::PoolRequired,
            Fault::PoolWithoutAgentMode => Self::PoolWithoutAgentMode,
            Fault::PoolsDiffer => Self::PoolsDiffer,
            Fault::ExcludedByPassingStatuses => Self::ExcludedByPassingStatuses,
            Fault::KeyRequired => Self::KeyRequired,
        }
    }
}

fn faults(from: Vec<FieldFault>) -> Vec<organizations_wit::FieldFault> {
    from.into_iter()
        .map(|from| organizations_wit::FieldFault {
            field: from.field.into(),
            fault: from.fault.into(),
        })
        .collect()
}

impl From<Failure> for types_wit::Failure {
    fn from(from: Failure) -> Self {
        match from {
            Failure::Sealed => Self::Sealed,
            Failure::Unavailable(why) => Self::Unavailable(why),
            Failure::Contended => Self::Contended,
            Failure::Damaged(why) => Self::Damaged(why),
            Failure::NoRandomness => Self::NoRandomness,
        }
    }
}

impl From<CreateError> for organizations_wit::CreateError {
    fn from(from: CreateError) -> Self {
        match from {
            CreateError::Invalid(invalid) => Self::Invalid(faults(invalid)),
            CreateError::Failed(failure) => Self::Failed(failure.into()),
        }
    }
}

impl From<UpdateError> for organizations_wit::UpdateError {
    fn from(from: UpdateError) -> Self {
        match from {
            UpdateError::NotFound => Self::NotFound,
            UpdateError::Invalid(invalid) => Self::Invalid(faults(invalid)),
            UpdateError::Failed(failure) => Self::Failed(failure.into()),
        }
    }
}
