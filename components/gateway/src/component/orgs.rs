//! [`Organizations`] over the component's imports.

use std::borrow::Cow;

use gatehouse_orgs::{
    Attribute, Batch, CollaboratorAuthPolicy, CreateError, Edition, Entitlement, EntitlementValue,
    ExecutionMode, Failure, Fault, Field, FieldFault, Filter, Organization, OrganizationChanges,
    Organizations, Page, Permission, Plan, Settings, Standing, UpdateError,
};

use super::bindings::gatehouse::orgs::{
    entitlements as entitlements_wit, organizations as wit, types,
};

/// The capability that the host has bound to this component.
#[derive(Debug, Clone, Copy)]
pub(super) struct ImportedOrganizations;

impl Organizations for ImportedOrganizations {
    fn create(
        &self,
        edition: Edition,
        changes: &OrganizationChanges,
    ) -> Result<Organization, CreateError> {
        Ok(wit::create(edition.into(), &changes.into())?.into())
    }

    fn read(&self, edition: Edition, name: &str) -> Result<Option<Organization>, Failure> {
        Ok(wit::read(edition.into(), name)?.map(Into::into))
    }

    fn find(&self, edition: Edition, external_id: &str) -> Result<Option<Organization>, Failure> {
        Ok(wit::find(edition.into(), external_id)?.map(Into::into))
    }

    fn list(
        &self,
        edition: Edition,
        filter: &Filter,
        after: Option<&str>,
        limit: u32,
    ) -> Result<Batch, Failure> {
        let batch = wit::list(edition.into(), &filter.into(), after, limit)?;
        Ok(Batch {
            organizations: batch.organizations.into_iter().map(Into::into).collect(),
            next: batch.next,
        })
    }

    fn page_at(
        &self,
        edition: Edition,
        filter: &Filter,
        number: u32,
        size: u32,
    ) -> Result<Page, Failure> {
        let page = wit::page_at(edition.into(), &filter.into(), number, size)?;
        Ok(Page {
            organizations: page.organizations.into_iter().map(Into::into).collect(),
            total: page.total,
        })
    }

    fn update(
        &self,
        edition: Edition,
        name: &str,
        changes: &OrganizationChanges,
    ) -> Result<Organization, UpdateError> {
        Ok(wit::update(edition.into(), name, &changes.into())?.into())
    }

    fn delete(&self, name: &str) -> Result<bool, Failure> {
        Ok(wit::delete(name)?)
    }

    fn entitlements(&self, plan: Plan) -> Vec<Entitlement> {
        let entitlements = entitlements_wit::entitlements(plan.into());
        let entitlement = |from: entitlements_wit::Entitlement| Entitlement {
            key: Cow::Owned(from.key),
            value: match from.value {
                entitlements_wit::EntitlementValue::Included(included) => {
                    EntitlementValue::Included(included)
                }
                entitlements_wit::EntitlementValue::Limit(limit) => EntitlementValue::Limit(limit),
            },
        };
        entitlements.into_iter().map(entitlement).collect()
    }

    fn permissions(&self, plan: Plan, standing: Standing) -> Vec<Permission> {
        let permissions = entitlements_wit::permissions(plan.into(), standing.into());
        let permission = |from: entitlements_wit::Permission| Permission {
            key: Cow::Owned(from.key),
            granted: from.granted,
        };
        permissions.into_iter().map(permission).collect()
    }
}

same_cases!(types::Edition, Edition, Hosted, SelfHosted);
same_cases!(
    types::Plan,
    Plan,
    Free,
    Standard,
    Business,
    Premium,
    Enterprise
);
same_cases!(types::ExecutionMode, ExecutionMode, Remote, Local, Agent);
same_cases!(
    types::CollaboratorAuthPolicy,
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
    wit::Field,
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

/// What a request says about a field, in WIT.
macro_rules! change {
    ($plain:ty, $wit:ident, $case:ident) => {
        impl From<&Attribute<$plain>> for wit::$wit {
            fn from(from: &Attribute<$plain>) -> Self {
                match from {
                    Attribute::Absent => Self::Absent,
                    Attribute::Null => Self::Null,
                    Attribute::WrongType => Self::WrongType,
                    Attribute::Value(value) => Self::$case(value.clone()),
                }
            }
        }
    };
}

change!(String, TextChange, Text);
change!(i64, NumberChange, Number);
change!(bool, FlagChange, Flag);

impl From<&OrganizationChanges> for wit::OrganizationChanges {
    fn from(from: &OrganizationChanges) -> Self {
        macro_rules! fields {
            ($($field:ident),+ $(,)?) => {
                Self { $($field: (&from.$field).into()),+ }
            };
        }
        fields!(
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
        )
    }
}

same_fields!(types::Settings => Settings {
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

same_fields!(types::Organization => Organization {
    name,
    external_id,
    created_at,
    default_project_id,
    plan,
    settings,
    global_module_sharing,
    global_provider_sharing,
});

impl From<&Filter> for wit::Filter {
    fn from(from: &Filter) -> Self {
        Self {
            name_or_email: from.name_or_email.clone(),
            name: from.name.clone(),
            email: from.email.clone(),
        }
    }
}

impl From<wit::Fault> for Fault {
    fn from(from: wit::Fault) -> Self {
        match from {
            wit::Fault::Blank => Self::Blank,
            wit::Fault::ForbiddenCharacter => Self::ForbiddenCharacter,
            wit::Fault::TooLong(maximum) => Self::TooLong { maximum },
            wit::Fault::Taken => Self::Taken,
            wit::Fault::NotAnAddress => Self::NotAnAddress,
            wit::Fault::NotIncluded => Self::NotIncluded,
            wit::Fault::NotText => Self::NotText,
            wit::Fault::NotInteger => Self::NotInteger,
            wit::Fault::NotBoolean => Self::NotBoolean,
            wit::Fault::NotPositive => Self::NotPositive,
            wit::Fault::UnknownPool => Self::UnknownPool,
            wit::Fault::PoolRequired => Self::PoolRequired,
            wit::Fault::PoolWithoutAgentMode => Self::PoolWithoutAgentMode,
            wit::Fault::PoolsDiffer => Self::PoolsDiffer,
            wit::Fault::ExcludedByPassingStatuses => Self::ExcludedByPassingStatuses,
            wit::Fault::KeyRequired => Self::KeyRequired,
        }
    }
}

fn faults(from: Vec<wit::FieldFault>) -> Vec<FieldFault> {
    let fault = |from: wit::FieldFault| FieldFault {
        field: from.field.into(),
        fault: from.fault.into(),
    };
    from.into_iter().map(fault).collect()
}

impl From<types::Failure> for Failure {
    fn from(from: types::Failure) -> Self {
        match from {
            types::Failure::Sealed => Self::Sealed,
            types::Failure::Unavailable(why) => Self::Unavailable(why),
            types::Failure::Contended => Self::Contended,
            types::Failure::Damaged(why) => Self::Damaged(why),
            types::Failure::NoRandomness => Self::NoRandomness,
        }
    }
}

impl From<wit::CreateError> for CreateError {
    fn from(from: wit::CreateError) -> Self {
        match from {
            wit::CreateError::Invalid(invalid) => Self::Invalid(faults(invalid)),
            wit::CreateError::Failed(failure) => Self::Failed(failure.into()),
        }
    }
}

impl From<wit::UpdateError> for UpdateError {
    fn from(from: wit::UpdateError) -> Self {
        match from {
            wit::UpdateError::NotFound => Self::NotFound,
            wit::UpdateError::Invalid(invalid) => Self::Invalid(faults(invalid)),
            wit::UpdateError::Failed(failure) => Self::Failed(failure.into()),
        }
    }
}
