//! The settings of the whole installation (contract 4.14).

use gatehouse_access_api::Access;
use gatehouse_orgs_api::{Attribute, Capability, GeneralSettings, GeneralSettingsChanges};
use serde_json::{Value, json};

use super::Api;
use super::api_error::ApiError;
use super::document::Document;
use super::document_type::{DocumentType, boolean, integer, text};
use super::input::{Input, Kinds, Members};
use super::route::Data::One;
use super::route::routes;
use super::transport::json_api;
use crate::http::Response;

const RESOURCE_TYPE: &str = "general-settings";

/// There is one resource of the type.
const ID: &str = "general";

const SETTINGS: DocumentType = DocumentType::new(
    "GeneralSettings",
    RESOURCE_TYPE,
    "The settings of the whole installation.",
    &[
        boolean(
            "limit-user-organization-creation",
            "Whether site administrators alone make organizations.",
        )
        .defaulting_to("false"),
        boolean(
            "api-rate-limiting-enabled",
            "Whether the number of requests is limited.",
        )
        .defaulting_to("true"),
        integer("api-rate-limit", "Requests per second of each caller.").defaulting_to("30"),
        integer(
            "teams-per-organization",
            "The number of teams that an organization can have.",
        ),
        integer(
            "memberships-per-organization",
            "The number of memberships that an organization can have.",
        ),
        integer(
            "teams-per-membership",
            "The number of teams that a member can belong to.",
        ),
        integer(
            "agent-pools-per-organization",
            "The number of agent pools that an organization can have.",
        ),
        boolean(
            "send-passing-statuses-for-untriggered-speculative-plans",
            "Stored, without effect.",
        ),
        boolean(
            "allow-speculative-plans-on-pull-requests-from-forks",
            "Stored, without effect.",
        ),
        boolean("require-two-factor-for-admins", "Stored, without effect."),
        boolean("fair-run-queuing-enabled", "Stored, without effect."),
        boolean("limit-organizations-per-user", "Stored, without effect."),
        integer(
            "default-organizations-per-user-ceiling",
            "Stored, without effect.",
        )
        .nullable(),
        boolean(
            "limit-workspaces-per-organization",
            "Stored, without effect.",
        ),
        integer(
            "default-workspaces-per-organization-ceiling",
            "Stored, without effect.",
        )
        .nullable(),
        text("apply-timeout", "Stored, without effect.").nullable(),
        text("plan-timeout", "Stored, without effect.").nullable(),
        text(
            "terraform-build-worker-apply-timeout",
            "The older name of apply-timeout.",
        )
        .nullable(),
        text(
            "terraform-build-worker-plan-timeout",
            "The older name of plan-timeout.",
        )
        .nullable(),
        boolean("default-remote-state-access", "Stored, without effect."),
    ],
);

routes! { GENERAL_SETTINGS:
    Get "admin/general-settings", Administrators, "show-general-settings", "Shows the settings of the installation.",
        answering(One(&SETTINGS))
        => |api, _| api.show_general_settings();
    Patch "admin/general-settings", Administrators, "update-general-settings", "Changes the settings of the installation.",
        taking(One(&SETTINGS)), answering(One(&SETTINGS))
        => |api, _| api.change_general_settings();
}

impl<C: Access, O: Capability> Api<'_, C, O> {
    fn show_general_settings(&self) -> Result<Response, ApiError> {
        self.administer()?;
        let settings = self.organizations.read_general_settings()?;
        Ok(json_api(200, &Document::new(resource_of(&settings))))
    }

    fn change_general_settings(&self) -> Result<Response, ApiError> {
        let caller = self.administer()?;
        let input = Input::read(&self.request.body)?;
        let changes = changes(&input.resource(Kinds::Any)?.attributes);
        let by = self.recorded_as(&caller);
        let settings = self.organizations.change_general_settings(&changes, &by)?;
        Ok(json_api(200, &Document::new(resource_of(&settings))))
    }
}

fn changes(attributes: &Members<'_>) -> GeneralSettingsChanges {
    let flag = |name| attributes.boolean(name);
    GeneralSettingsChanges {
        limit_user_organization_creation: flag("limit-user-organization-creation"),
        api_rate_limiting_enabled: flag("api-rate-limiting-enabled"),
        api_rate_limit: attributes.integer("api-rate-limit"),
        send_passing_statuses_for_untriggered_speculative_plans: flag(
            "send-passing-statuses-for-untriggered-speculative-plans",
        ),
        allow_speculative_plans_on_pull_requests_from_forks: flag(
            "allow-speculative-plans-on-pull-requests-from-forks",
        ),
        require_two_factor_for_admins: flag("require-two-factor-for-admins"),
        fair_run_queuing_enabled: flag("fair-run-queuing-enabled"),
        limit_organizations_per_user: flag("limit-organizations-per-user"),
        default_organizations_per_user_ceiling: attributes
            .integer("default-organizations-per-user-ceiling"),
        limit_workspaces_per_organization: flag("limit-workspaces-per-organization"),
        default_workspaces_per_organization_ceiling: attributes
            .integer("default-workspaces-per-organization-ceiling"),
        apply_timeout: timeout(attributes, "apply-timeout"),
        plan_timeout: timeout(attributes, "plan-timeout"),
        default_remote_state_access: flag("default-remote-state-access"),
        teams_per_organization: attributes.integer("teams-per-organization"),
        memberships_per_organization: attributes.integer("memberships-per-organization"),
        teams_per_membership: attributes.integer("teams-per-membership"),
        agent_pools_per_organization: attributes.integer("agent-pools-per-organization"),
    }
}

/// A timeout under its name, or under the older one that stands for the same.
pub(super) fn timeout(attributes: &Members<'_>, name: &str) -> Attribute<String> {
    match attributes.text(name) {
        Attribute::Absent => attributes.text(&format!("terraform-build-worker-{name}")),
        given => given,
    }
}

fn resource_of(settings: &GeneralSettings) -> Value {
    json!({
        "id": ID,
        "type": RESOURCE_TYPE,
        "attributes": {
            "limit-user-organization-creation": settings.limit_user_organization_creation,
            "api-rate-limiting-enabled": settings.api_rate_limiting_enabled,
            "api-rate-limit": settings.api_rate_limit,
            "send-passing-statuses-for-untriggered-speculative-plans":
                settings.send_passing_statuses_for_untriggered_speculative_plans,
            "allow-speculative-plans-on-pull-requests-from-forks":
                settings.allow_speculative_plans_on_pull_requests_from_forks,
            "require-two-factor-for-admins": settings.require_two_factor_for_admins,
            "fair-run-queuing-enabled": settings.fair_run_queuing_enabled,
            "limit-organizations-per-user": settings.limit_organizations_per_user,
            "default-organizations-per-user-ceiling": settings.default_organizations_per_user_ceiling,
            "limit-workspaces-per-organization": settings.limit_workspaces_per_organization,
            "default-workspaces-per-organization-ceiling":
                settings.default_workspaces_per_organization_ceiling,
            "apply-timeout": settings.apply_timeout,
            "plan-timeout": settings.plan_timeout,
            "terraform-build-worker-apply-timeout": settings.apply_timeout,
            "terraform-build-worker-plan-timeout": settings.plan_timeout,
            "default-remote-state-access": settings.default_remote_state_access,
            "teams-per-organization": settings.bounds.teams_per_organization,
            "memberships-per-organization": settings.bounds.memberships_per_organization,
            "teams-per-membership": settings.bounds.teams_per_membership,
            "agent-pools-per-organization": settings.bounds.agent_pools_per_organization,
        },
    })
}
