//! The WIT package `gatehouse:orgs` in Rust: its functions as the trait [`Capability`], and one set of types for the rules, the component
//! that exports the package and the one that imports it.
//!
//! They are generated from the WIT files, whose documentation they carry, except for errors that have a text, what holds a secret, and
//! [`Attribute`], which stands for several types of the WIT: those are written here, and the compiler holds them to the WIT.

mod agent_pools;
mod audit_trail;
mod authority;
mod changes;
mod edition;
mod memberships;
pub mod name;
mod organization;
mod organizations;
mod retention;
mod service_error;
mod sharing;
mod site;
mod subscriptions;
mod teams;
mod tokens;
mod users;

pub use agent_pools::{AgentPoolError, AgentPools};
pub use audit_trail::{AuditTrail, MAXIMUM_EVENTS, MAXIMUM_EVENTS_COUNTED};
pub use authority::{Authority, Credential};
pub use bindings::gatehouse::orgs::agent_pools::{
    AgentPool, AgentPoolChanges, AgentPoolFilter, AgentPoolOrder, AgentPoolPage,
};
pub use bindings::gatehouse::orgs::audit_trail::{Event, EventPage, Operation, Resource};
pub use bindings::gatehouse::orgs::authority::{
    AccessDecision, AccessQuestion, Action, Authorization, Decision, DelegationScope, Description,
    Identification, ListedOrganization, MembershipSummaries, MembershipSummary, OrganizationTarget,
    OwningOrganization, RelatedAction,
};
pub use bindings::gatehouse::orgs::entitlements::{
    Entitlement, EntitlementValue, Feature, OrganizationPermission, Permission, PlanEntitlements,
};
pub use bindings::gatehouse::orgs::memberships::{
    Invitation, MembershipFilter, MembershipPage, OwnMembership, RelatedMembership,
};
pub use bindings::gatehouse::orgs::organizations::{
    Batch, FieldFault, Filter, Page, Reach, Viewer,
};
pub use bindings::gatehouse::orgs::people::{
    Membership, Related, Relations, Team, TeamPermissions, Visibility,
};
pub use bindings::gatehouse::orgs::retention::{
    RetentionDetailChange, RetentionKind, RetentionRequest,
};
pub use bindings::gatehouse::orgs::sharing::{
    ConsumerChanges, OrganizationReference, Partnership, Shared,
};
pub use bindings::gatehouse::orgs::site::{
    AdministrationChanges, ApiRate, Bounds, Census, GeneralSettings, GeneralSettingsChanges,
    Overview,
};
pub use bindings::gatehouse::orgs::subscriptions::{FeatureSet, SubscriptionTerms};
pub use bindings::gatehouse::orgs::teams::{
    MemberNames, MemberPage, RelatedTeam, RightChange, TeamChanges, TeamFilter, TeamPage,
};
pub use bindings::gatehouse::orgs::tokens::{
    AgentPoolReference, ApiToken, LifetimeChange, LifetimePolicy, OwnedToken, TeamToken,
    TokenCreator, TokenKind, TokenOwner, TokenRequest,
};
pub use bindings::gatehouse::orgs::types::{
    Administration, AttributeIssue, Caller, CollaboratorAuthPolicy, ExecutionMode, Fault, Field,
    Identity, MembershipStatus, Organization, OrganizationChanges, OrganizationRole, Plan,
    Principal, RetentionDetail, RetentionPolicy, RetentionRule, Right, Settings, Subject,
    Subscription, TeamReference, User,
};
pub use bindings::gatehouse::orgs::users::{Account, UserDescription};
pub use changes::{
    Attribute, ChangeError, FlagChange, NumberChange, RightsChange, TextChange, TextsChange,
};
pub use edition::Edition;
pub use memberships::{
    MAXIMUM_INVITATIONS, MAXIMUM_OWNERS_TOLD, MAXIMUM_TEAMS_TOLD, MembershipError, Memberships,
};
pub use name::folded_name;
pub use organization::{DEFAULT_SESSION_MINUTES, IndependentFlag};
pub use organizations::{
    Capability, CreateError, MAXIMUM_BATCH, MAXIMUM_PAGE_SIZE, Organizations, UpdateError,
};
pub use retention::Retention;
pub use service_error::ServiceError;
pub use sharing::{MAXIMUM_CONSUMERS, ShareError, Sharing};
pub use site::Site;
pub use subscriptions::{SubscriptionError, Subscriptions};
pub use teams::{MAXIMUM_MEMBERS_AT_ONCE, MAXIMUM_MEMBERS_TOLD, OWNERS, TeamError, Teams};
pub use tokens::{
    IssueError, IssuedToken, LifetimeError, MAXIMUM_DESCRIPTION, MAXIMUM_TOKENS,
    MAXIMUM_TOKENS_OF_ORGANIZATION, MAXIMUM_TOKENS_READ, Tokens,
};
pub use users::{CreateUserError, Users};

/// The generated code. Its functions below call the imports of the component they are linked into; outside of a component they abort.
#[doc(hidden)]
#[allow(missing_docs, unsafe_code, clippy::all, clippy::restriction)]
pub mod bindings {
    wit_bindgen::generate!({
        inline: "
            package gatehouse:orgs-api;
            world orgs {
                import gatehouse:orgs/types@0.1.0;
                import gatehouse:orgs/entitlements@0.1.0;
                import gatehouse:orgs/site@0.1.0;
                import gatehouse:orgs/authority@0.1.0;
                import gatehouse:orgs/organizations@0.1.0;
                import gatehouse:orgs/subscriptions@0.1.0;
                import gatehouse:orgs/retention@0.1.0;
                import gatehouse:orgs/sharing@0.1.0;
                import gatehouse:orgs/tokens@0.1.0;
                import gatehouse:orgs/audit-trail@0.1.0;
                import gatehouse:orgs/users@0.1.0;
                import gatehouse:orgs/agent-pools@0.1.0;
                import gatehouse:orgs/people@0.1.0;
                import gatehouse:orgs/teams@0.1.0;
                import gatehouse:orgs/memberships@0.1.0;
                export gatehouse:orgs/types@0.1.0;
                export gatehouse:orgs/entitlements@0.1.0;
                export gatehouse:orgs/site@0.1.0;
                export gatehouse:orgs/authority@0.1.0;
                export gatehouse:orgs/organizations@0.1.0;
                export gatehouse:orgs/subscriptions@0.1.0;
                export gatehouse:orgs/retention@0.1.0;
                export gatehouse:orgs/sharing@0.1.0;
                export gatehouse:orgs/tokens@0.1.0;
                export gatehouse:orgs/audit-trail@0.1.0;
                export gatehouse:orgs/users@0.1.0;
                export gatehouse:orgs/agent-pools@0.1.0;
                export gatehouse:orgs/people@0.1.0;
                export gatehouse:orgs/teams@0.1.0;
                export gatehouse:orgs/memberships@0.1.0;
            }
        ",
        path: ["../../wit/storage", "../../wit/orgs"],
        world: "gatehouse:orgs-api/orgs",
        with: {
            "gatehouse:orgs/types@0.1.0/service-error": crate::ServiceError,
            "gatehouse:orgs/types@0.1.0/text-change": crate::TextChange,
            "gatehouse:orgs/types@0.1.0/number-change": crate::NumberChange,
            "gatehouse:orgs/types@0.1.0/flag-change": crate::FlagChange,
            "gatehouse:orgs/types@0.1.0/change-error": crate::ChangeError,
            "gatehouse:orgs/organizations@0.1.0/create-error": crate::CreateError,
            "gatehouse:orgs/organizations@0.1.0/update-error": crate::UpdateError,
            "gatehouse:orgs/subscriptions@0.1.0/subscription-error": crate::SubscriptionError,
            "gatehouse:orgs/authority@0.1.0/credential": crate::Credential,
            "gatehouse:orgs/sharing@0.1.0/share-error": crate::ShareError,
            "gatehouse:orgs/tokens@0.1.0/issued-token": crate::IssuedToken,
            "gatehouse:orgs/tokens@0.1.0/issue-error": crate::IssueError,
            "gatehouse:orgs/tokens@0.1.0/lifetime-error": crate::LifetimeError,
            "gatehouse:orgs/users@0.1.0/create-user-error": crate::CreateUserError,
            "gatehouse:orgs/agent-pools@0.1.0/agent-pool-error": crate::AgentPoolError,
            "gatehouse:orgs/teams@0.1.0/rights-change": crate::RightsChange,
            "gatehouse:orgs/teams@0.1.0/team-error": crate::TeamError,
            "gatehouse:orgs/memberships@0.1.0/texts-change": crate::TextsChange,
            "gatehouse:orgs/memberships@0.1.0/membership-error": crate::MembershipError,
        },
        generate_all,
        merge_structurally_equal_types: true,
        additional_derives: [PartialEq, Eq],
        // A type that is kept in the store or shown as it is carries its form there.
        additional_type_attributes: {
            "gatehouse:orgs/types@0.1.0/plan": [#[derive(serde::Serialize, serde::Deserialize)] #[serde(rename_all = "kebab-case")]],
            "gatehouse:orgs/types@0.1.0/execution-mode": [#[derive(serde::Serialize, serde::Deserialize)] #[serde(rename_all = "kebab-case")]],
            "gatehouse:orgs/types@0.1.0/collaborator-auth-policy": [#[derive(serde::Serialize, serde::Deserialize)] #[serde(rename_all = "snake_case")]],
            "gatehouse:orgs/types@0.1.0/settings": [#[derive(serde::Serialize, serde::Deserialize)] #[serde(default)]],
            "gatehouse:orgs/types@0.1.0/organization-changes": [#[derive(Default)]],
            "gatehouse:orgs/types@0.1.0/administration": [#[derive(Default)] #[derive(serde::Serialize, serde::Deserialize)]],
            "gatehouse:orgs/types@0.1.0/retention-rule": [#[derive(Default)] #[derive(serde::Serialize, serde::Deserialize)] #[serde(rename_all = "kebab-case")]],
            "gatehouse:orgs/types@0.1.0/retention-detail": [#[derive(Default)] #[derive(serde::Serialize, serde::Deserialize)]],
            "gatehouse:orgs/types@0.1.0/retention-policy": [#[derive(serde::Serialize, serde::Deserialize)]],
            "gatehouse:orgs/types@0.1.0/right": [#[derive(Hash)] #[derive(serde::Serialize, serde::Deserialize)] #[serde(rename_all = "kebab-case")]],
            "gatehouse:orgs/types@0.1.0/subject": [#[derive(serde::Serialize, serde::Deserialize)] #[serde(rename_all = "kebab-case")]],
            "gatehouse:orgs/types@0.1.0/user": [#[derive(serde::Serialize, serde::Deserialize)]],
            "gatehouse:orgs/types@0.1.0/team-reference": [#[derive(serde::Serialize, serde::Deserialize)]],
            "gatehouse:orgs/entitlements@0.1.0/feature": [#[derive(strum::IntoStaticStr)] #[strum(serialize_all = "kebab-case")]],
            "gatehouse:orgs/entitlements@0.1.0/permission": [#[derive(strum::IntoStaticStr)] #[strum(serialize_all = "kebab-case")]],
            "gatehouse:orgs/authority@0.1.0/identification": [#[derive(Default)]],
            "gatehouse:orgs/authority@0.1.0/authorization": [#[derive(Default)]],
            "gatehouse:orgs/organizations@0.1.0/filter": [#[derive(Default)]],
            "gatehouse:orgs/organizations@0.1.0/viewer": [#[derive(Default)]],
            "gatehouse:orgs/organizations@0.1.0/reach": [#[derive(Default)]],
            "gatehouse:orgs/organizations@0.1.0/batch": [#[derive(Default)]],
            "gatehouse:orgs/organizations@0.1.0/page": [#[derive(Default)]],
            "gatehouse:orgs/subscriptions@0.1.0/subscription-terms": [#[derive(Default)]],
            "gatehouse:orgs/retention@0.1.0/retention-detail-change": [#[derive(Default)]],
            "gatehouse:orgs/sharing@0.1.0/consumer-changes": [#[derive(Default)]],
            "gatehouse:orgs/site@0.1.0/bounds": [#[derive(serde::Serialize, serde::Deserialize)] #[serde(default)]],
            "gatehouse:orgs/site@0.1.0/general-settings": [#[derive(serde::Serialize, serde::Deserialize)] #[serde(default)]],
            "gatehouse:orgs/site@0.1.0/general-settings-changes": [#[derive(Default)]],
            "gatehouse:orgs/site@0.1.0/administration-changes": [#[derive(Default)]],
            "gatehouse:orgs/tokens@0.1.0/token-owner": [#[derive(serde::Serialize, serde::Deserialize)] #[serde(rename_all = "kebab-case")]],
            "gatehouse:orgs/tokens@0.1.0/token-creator": [#[derive(serde::Serialize, serde::Deserialize)] #[serde(rename_all = "kebab-case")]],
            "gatehouse:orgs/tokens@0.1.0/token-kind": [#[derive(serde::Serialize, serde::Deserialize)] #[serde(rename_all = "kebab-case")]],
            "gatehouse:orgs/tokens@0.1.0/lifetime-policy": [#[derive(serde::Serialize, serde::Deserialize)]],
            "gatehouse:orgs/tokens@0.1.0/token-request": [#[derive(Default)]],
            "gatehouse:orgs/audit-trail@0.1.0/resource": [#[derive(serde::Serialize, serde::Deserialize)] #[serde(rename_all = "snake_case")]],
            "gatehouse:orgs/audit-trail@0.1.0/operation": [#[derive(serde::Serialize, serde::Deserialize)] #[serde(rename_all = "snake_case")]],
            "gatehouse:orgs/audit-trail@0.1.0/event-page": [#[derive(Default)]],
            "gatehouse:orgs/agent-pools@0.1.0/agent-pool-changes": [#[derive(Default)]],
            "gatehouse:orgs/agent-pools@0.1.0/agent-pool-filter": [#[derive(Default)]],
            "gatehouse:orgs/agent-pools@0.1.0/agent-pool-order": [#[derive(Default)]],
            "gatehouse:orgs/agent-pools@0.1.0/agent-pool-page": [#[derive(Default)]],
            "gatehouse:orgs/people@0.1.0/visibility": [#[derive(serde::Serialize, serde::Deserialize)] #[serde(rename_all = "kebab-case")]],
            "gatehouse:orgs/people@0.1.0/team-permissions": [#[derive(serde::Serialize)] #[serde(rename_all = "kebab-case")]],
            "gatehouse:orgs/people@0.1.0/relations": [#[derive(Default)]],
            "gatehouse:orgs/people@0.1.0/related": [#[derive(Default)]],
            "gatehouse:orgs/teams@0.1.0/member-page": [#[derive(Default)]],
            "gatehouse:orgs/teams@0.1.0/team-changes": [#[derive(Default)]],
            "gatehouse:orgs/teams@0.1.0/team-filter": [#[derive(Default)]],
            "gatehouse:orgs/teams@0.1.0/team-page": [#[derive(Default)]],
            "gatehouse:orgs/types@0.1.0/membership-status": [#[derive(serde::Serialize, serde::Deserialize)] #[serde(rename_all = "kebab-case")]],
            "gatehouse:orgs/memberships@0.1.0/invitation": [#[derive(Default)]],
            "gatehouse:orgs/memberships@0.1.0/membership-filter": [#[derive(Default)]],
            "gatehouse:orgs/memberships@0.1.0/membership-page": [#[derive(Default)]],
        },
        additional_member_attributes: {
            "gatehouse:orgs/types@0.1.0/administration.access-beta-tools": [#[serde(default)]],
            "gatehouse:orgs/types@0.1.0/administration.terraform-worker-sudo-enabled": [#[serde(default)]],
            "gatehouse:orgs/types@0.1.0/administration.apply-timeout": [#[serde(default)]],
            "gatehouse:orgs/types@0.1.0/administration.plan-timeout": [#[serde(default)]],
            "gatehouse:orgs/types@0.1.0/administration.workspace-limit": [#[serde(default)]],
            "gatehouse:orgs/types@0.1.0/retention-rule.dont-delete": [#[default]],
            "gatehouse:orgs/types@0.1.0/retention-detail.delete": [#[serde(default, skip_serializing_if = "Option::is_none")]],
            "gatehouse:orgs/types@0.1.0/retention-detail.delete-after-days": [#[serde(default, skip_serializing_if = "Option::is_none")]],
            "gatehouse:orgs/types@0.1.0/retention-detail.keep-latest": [#[serde(default, skip_serializing_if = "Option::is_none")]],
            "gatehouse:orgs/types@0.1.0/retention-policy.state-versions": [#[serde(default, skip_serializing_if = "RetentionDetail::says_nothing")]],
            "gatehouse:orgs/types@0.1.0/retention-policy.configuration-versions": [#[serde(default, skip_serializing_if = "RetentionDetail::says_nothing")]],
            "gatehouse:orgs/types@0.1.0/retention-policy.run-data-and-logs": [#[serde(default, skip_serializing_if = "RetentionDetail::says_nothing")]],
            "gatehouse:orgs/types@0.1.0/user.suspended": [#[serde(default)]],
            "gatehouse:orgs/organizations@0.1.0/viewer.nothing": [#[default]],
            "gatehouse:orgs/agent-pools@0.1.0/agent-pool-order.name": [#[default]],
        },
        pub_export_macro: true,
        export_macro_name: "export_orgs",
        default_bindings_module: "gatehouse_orgs_api::bindings",
    });
}
