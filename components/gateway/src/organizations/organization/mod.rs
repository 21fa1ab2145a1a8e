//! An organization on the wire: its attributes, one row each (contract 2.2, 2.3), and the changes that a request's document asks for (contract 1.10).

#[cfg(test)]
mod tests;

use gatehouse_orgs_api::{
    CreateError, Edition, Field, FieldFault, Organization, OrganizationChanges,
    OrganizationPermission, Plan, RetentionRule, Subscription, UpdateError,
};

use super::api_error::ApiError;
use super::attribute_error::AttributeError;
use super::attribute_table::{AttributeRow, AttributeValue};
use super::document_type::{
    DocumentType, Relationship, Target, boolean, choice, flags, integer, related, text, time,
};
use super::fields;
use super::input::{Input, Kinds, Resource};
use super::timestamp;
use crate::json_writer::{ObjectWriter, WriteMembers, Written};

/// The type of organizations, and their collection.
pub(super) const ORGANIZATIONS: &str = "organizations";

/// The permissions come last, since they depend on the caller.
const PERMISSIONS: &str = "permissions";

/// Writes the table. A row has the kind, the name and the meaning, then further properties; in brackets, for attributes that owners may set, the
/// field for faults, the member of the changes and the function that reads it; and last the value that is shown. Attributes are shown in this order.
/// Some relationships exist in one edition only, such as those of retention and sharing.
macro_rules! organization {
    (
        attributes { $(
            $kind:ident($name:literal, $($about:expr),*) $(.$column:ident($($value:expr)?))*
            $([$field:ident $change:ident $reader:ident])?
            $(=> |$organization:ident| $shown:expr)?;
        )* }
        relationships { $(
            $related_name:literal [$related_field:ident $related_change:ident] $target:expr;
        )* }
        shown_relationships { $( $shown_name:literal $shown_target:expr; )* }
    ) => {
        const ROWS: &[AttributeRow<Organization>] = &[$(
            AttributeRow {
                property: $kind($name, $($about),*)
                    $(.$column($($value)?))*,
                shown: organization!(@shown $(|$organization| $shown)?),
            },
        )*];

        const RELATIONSHIPS: &[Relationship] = &[
            $(related($related_name, $target).writable(),)*
            $(related($shown_name, $shown_target),)*
        ];

        /// The name of a field on the wire.
        const fn name(field: Field) -> &'static str {
            match field {
                $($(Field::$field => $name,)?)*
                $(Field::$related_field => $related_name,)*
            }
        }

        /// True if a field is a relationship. All other fields are attributes.
        const fn is_relationship(field: Field) -> bool {
            matches!(field, $(Field::$related_field)|*)
        }

        fn changes(organization: &Resource<'_>) -> OrganizationChanges {
            let attributes = &organization.attributes;
            let relationships = &organization.relationships;
            OrganizationChanges {
                $($($change: attributes.$reader($name),)?)*
                $($related_change: relationships.to_one($related_name),)*
            }
        }
    };
    (@shown |$organization:ident| $shown:expr) => {
        Some(|$organization| AttributeValue::from($shown))
    };
    (@shown) => {
        None
    };
}

organization! {
    attributes {
    text("name", "Letters, digits, - and _. Unique in the installation, in any case.")
        [Name name text] => |it| it.name.as_str();
    text("external-id", "The id that never changes.").read_only() => |it| it.external_id.as_str();
    time("created-at", "The time of its making.").read_only()
        => |it| timestamp::formatted(it.created_at);
    text("email", "An address for notifications.") [Email email text] => |it| it.settings.email.as_str();
    integer("session-timeout", "Minutes without requests after which a session ends. Null for the default of 20160.")
        .nullable().defaulting_to("null")
        [SessionTimeout session_timeout integer] => |it| it.settings.session_timeout;
    integer("session-remember", "Minutes for which a session lasts. Null for the default of 20160.")
        .nullable().defaulting_to("null")
        [SessionRemember session_remember integer] => |it| it.settings.session_remember;
    integer("effective-session-timeout", "The effective minutes.").read_only()
        => |it| it.settings.effective_session_timeout();
    integer("effective-session-remember", "The effective minutes.").read_only()
        => |it| it.settings.effective_session_remember();
    choice("collaborator-auth-policy", &["password", "two_factor_mandatory"], "The authentication that members need.")
        .defaulting_to(r#""password""#)
        [CollaboratorAuthPolicy collaborator_auth_policy text]
        => |it| it.settings.collaborator_auth_policy.as_str();
    boolean("plan-expired", "True if the subscription has ended.").read_only()
        => |it| subscription_of(it).is_some_and(|subscription| !subscription.active);
    time("plan-expires-at", "The end of the subscription.").nullable().read_only()
        => |it| subscription_of(it).and_then(|found| found.end_at).map(timestamp::formatted);
    boolean("plan-is-trial", "Always false.").read_only() => |_it| false;
    boolean("plan-is-enterprise", "True if the plan is that of the self-hosted edition.").read_only()
        => |it| it.plan == Plan::Enterprise;
    text("plan-identifier", "The plan.").read_only() => |it| it.plan.as_str();
    time("trial-expires-at", "Always null.").nullable().read_only() => |_it| AttributeValue::Null;
    boolean("cost-estimation-enabled", "True if costs are estimated.").defaulting_to("false")
        [CostEstimationEnabled cost_estimation_enabled boolean]
        => |it| it.settings.cost_estimation_enabled;
    boolean("send-passing-statuses-for-untriggered-speculative-plans",
        "True if plans that are not triggered pass. Ignored by the self-hosted edition.")
        .defaulting_to("false")
        [SendPassingStatusesForUntriggeredSpeculativePlans
            send_passing_statuses_for_untriggered_speculative_plans boolean]
        => |it| it.settings.send_passing_statuses_for_untriggered_speculative_plans;
    boolean("aggregated-commit-status-enabled", "True if commits have one status for all workspaces.")
        .defaulting_to("true")
        [AggregatedCommitStatusEnabled aggregated_commit_status_enabled boolean]
        => |it| it.settings.aggregated_commit_status_enabled;
    boolean("speculative-plan-management-enabled", "True if outdated speculative plans are cancelled.")
        .defaulting_to("true")
        [SpeculativePlanManagementEnabled speculative_plan_management_enabled boolean]
        => |it| it.settings.speculative_plan_management_enabled;
    boolean("allow-force-delete-workspaces", "True if workspaces with resources can be deleted.")
        .defaulting_to("false")
        [AllowForceDeleteWorkspaces allow_force_delete_workspaces boolean]
        => |it| it.settings.allow_force_delete_workspaces;
    boolean("fair-run-queuing-enabled", "Always true.").read_only() => |_it| true;
    boolean("saml-enabled", "Always false.").read_only() => |_it| false;
    text("owners-team-saml-role-id", "The SAML role of the owners.").nullable().defaulting_to("null")
        [OwnersTeamSamlRoleId owners_team_saml_role_id text]
        => |it| it.settings.owners_team_saml_role_id.as_deref();
    boolean("user-tokens-enabled", "True if tokens of users can access the organization.").defaulting_to("true")
        [UserTokensEnabled user_tokens_enabled boolean] => |it| it.settings.user_tokens_enabled;
    boolean("max-ttl-enabled", "True if tokens have a maximum lifetime.").defaulting_to("false")
        [MaxTtlEnabled max_ttl_enabled boolean] => |it| it.settings.max_ttl_enabled;
    boolean("enforce-hyok", "True if data is encrypted with the organization's own keys. Ignored by the self-hosted edition.")
        .defaulting_to("false") [EnforceHyok enforce_hyok boolean] => |it| it.settings.enforce_hyok;
    boolean("stacks-enabled", "True if there are stacks.").defaulting_to("false")
        [StacksEnabled stacks_enabled boolean] => |it| it.settings.stacks_enabled;
    boolean("recoverable-items-enabled", "True if deleted items can be recovered.").defaulting_to("false")
        [RecoverableItemsEnabled recoverable_items_enabled boolean]
        => |it| it.settings.recoverable_items_enabled;
    boolean("registry-monorepo-support-enabled", "Stored and not shown.").defaulting_to("false").write_only()
        [RegistryMonorepoSupportEnabled registry_monorepo_support_enabled boolean];
    choice("default-execution-mode", &["remote", "local", "agent"], "Where runs of workspaces happen.")
        .defaulting_to(r#""remote""#)
        [DefaultExecutionMode default_execution_mode text]
        => |it| it.settings.default_execution_mode.as_str();
    text("default-agent-pool-id", "The same as the relationship default-agent-pool.").nullable().write_only()
        [DefaultAgentPoolId default_agent_pool_id text];
    choice("stacks-default-execution-mode", &["remote", "agent"], "Where runs of stacks happen.")
        .defaulting_to(r#""remote""#)
        [StacksDefaultExecutionMode stacks_default_execution_mode text]
        => |it| it.settings.stacks_default_execution_mode.as_str();
    integer("remaining-testable-count", "Always 5.").read_only() => |_it| 5_u64;
    boolean("is-in-degraded-mode", "Always false.").read_only() => |_it| false;
    boolean("over-stacks-resource-limit", "Always false.").read_only() => |_it| false;
    boolean("test-generation-enabled", "Always false.").read_only() => |_it| false;
    boolean("two-factor-conformant", "Always false.").read_only().only_in(Edition::Hosted) => |_it| false;
    boolean("assessments-enforced", "True if workspaces are assessed.").defaulting_to("false")
        .only_in(Edition::Hosted)
        [AssessmentsEnforced assessments_enforced boolean] => |it| it.settings.assessments_enforced;
    boolean("is-unified", "Always false.").read_only().only_in(Edition::Hosted) => |_it| false;
    text("hcp-id", "Always null.").nullable().read_only().only_in(Edition::Hosted) => |_it| AttributeValue::Null;
    boolean("global-module-sharing", "True if modules are shared with all organizations.")
        .defaulting_to("false").read_only().only_in(Edition::SelfHosted) => |it| it.global_module_sharing;
    boolean("global-provider-sharing", "True if providers are shared with all organizations.")
        .defaulting_to("false").read_only().only_in(Edition::SelfHosted) => |it| it.global_provider_sharing;
    integer("module-consuming-organizations-count", "The number of consumers of its modules.")
        .read_only().only_in(Edition::SelfHosted) => |it| it.module_consumers;
    integer("provider-consuming-organizations-count", "The number of consumers of its providers.")
        .read_only().only_in(Edition::SelfHosted) => |it| it.provider_consumers;
    text("parent-data-retention-policy-info", "The installation's retention policy, in words.")
        .read_only().only_in(Edition::SelfHosted) => |it| retention_in_words(it.default_retention);
    flags("permissions", "The rights of the caller.").read_only();
    }
    relationships {
    "default-agent-pool" [DefaultAgentPool default_agent_pool] Target::One("agent-pools");
    "stacks-default-agent-pool" [StacksDefaultAgentPool stacks_default_agent_pool] Target::One("agent-pools");
    }
    shown_relationships {
    "default-project" Target::One("projects");
    "oauth-tokens" Target::Link;
    "authentication-token" Target::Link;
    "entitlement-set" Target::One("entitlement-sets");
    "subscription" Target::One("subscriptions");
    "audit-trails-authentication-token" Target::Link;
    "primary-hyok-configuration" Target::One("hyok-configurations");
    "module-producers" Target::Link;
    "provider-producers" Target::Link;
    "data-retention-policy" Target::One("data-retention-policies");
    }
}

/// The document type of organizations.
pub(super) const ORGANIZATION: DocumentType =
    DocumentType::tabled("Organization", ORGANIZATIONS, "An organization.", || {
        ROWS.iter().map(|row| &row.property).collect()
    })
    .relating(RELATIONSHIPS)
    .type_checked();

/// Reads the document that creates or updates an organization.
///
/// A field of a wrong type is not a fault here: the capability reports it together with all other faults.
///
/// # Errors
///
/// When the body is not JSON, or the document is not valid JSON:API.
pub(super) fn changes_in(body: &[u8]) -> Result<OrganizationChanges, ApiError> {
    let input = Input::read(body)?;
    let organization = input.resource(Kinds::Only(&[ORGANIZATIONS]))?;
    Ok(changes(&organization))
}

/// The attributes of an organization, for a caller with these permissions. The attributes of the other edition are left out.
pub(super) struct OrganizationAttributes<'a> {
    organization: &'a Organization,
    permissions: &'a Written,
}

impl<'a> OrganizationAttributes<'a> {
    pub(super) const fn new(organization: &'a Organization, permissions: &'a Written) -> Self {
        Self {
            organization,
            permissions,
        }
    }
}

impl WriteMembers for OrganizationAttributes<'_> {
    fn write_members(&self, object: &mut ObjectWriter<'_>) {
        let edition = self.organization.plan.edition();
        for row in ROWS {
            let is_here = row.property.edition.is_none_or(|only| only == edition);
            if let Some(shown) = row.shown.filter(|_| is_here) {
                object.member(row.property.name, &shown(self.organization));
            }
        }
        object.member(PERMISSIONS, self.permissions);
    }
}

/// The attribute of the caller's permissions. It is written once for all organizations of a list in which the caller has the same.
pub(super) fn shown_permissions(permissions: &[OrganizationPermission]) -> Written {
    Written::object(|object| {
        for found in permissions {
            object.member(found.permission.into(), &found.granted);
        }
    })
}

/// The subscription of an organization, in the edition in which subscriptions have an effect.
pub(super) fn subscription_of(organization: &Organization) -> Option<&Subscription> {
    match organization.plan.edition() {
        Edition::Hosted => Some(&organization.subscription),
        Edition::SelfHosted => None,
    }
}

/// The text about the installation's retention rule.
fn retention_in_words(rule: RetentionRule) -> String {
    match rule {
        RetentionRule::DontDelete => "Do not auto-delete".to_owned(),
        RetentionRule::DeleteOlder(1) => "Auto-delete data older than 1 day".to_owned(),
        RetentionRule::DeleteOlder(days) => format!("Auto-delete data older than {days} days"),
    }
}

/// The pointer and the text of a fault.
fn attribute_error(found: &FieldFault) -> AttributeError {
    let name = name(found.field);
    let predicate = fields::predicate(found.fault);
    if is_relationship(found.field) {
        AttributeError::relationship(name, &predicate)
    } else {
        AttributeError::attribute(name, &predicate)
    }
}

impl From<CreateError> for ApiError {
    fn from(error: CreateError) -> Self {
        match error {
            CreateError::Invalid(faults) => {
                Self::Invalid(faults.iter().map(attribute_error).collect())
            }
            CreateError::Failed(failure) => failure.into(),
        }
    }
}

impl From<UpdateError> for ApiError {
    fn from(error: UpdateError) -> Self {
        match error {
            UpdateError::NotFound => Self::NotFound,
            UpdateError::Invalid(faults) => {
                Self::Invalid(faults.iter().map(attribute_error).collect())
            }
            UpdateError::Failed(failure) => failure.into(),
        }
    }
}
