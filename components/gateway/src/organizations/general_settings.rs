//! The settings of the whole installation (contract 4.14).

use gatehouse_access_api::Access;
use gatehouse_orgs_api::{Capability, GeneralSettings, GeneralSettingsChanges};
use serde_json::{Value, json};

use super::api::Api;
use super::api_error::ApiError;
use super::attribute_table::{ShownAttributes, attribute_table};
use super::document::Document;
use super::document_type::{DocumentType, boolean, integer, text};
use super::input::{Input, Kinds};
use super::route::Data::One;
use super::routes::routes;
use super::transport::json_api;
use crate::http::Response;

const RESOURCE_TYPE: &str = "general-settings";

/// The id of the only resource of this type.
const ID: &str = "general";

attribute_table! { ROWS: GeneralSettings, GeneralSettingsChanges;
    boolean("limit-user-organization-creation", "True if only site administrators can make organizations.").defaulting_to("false")
        [limit_user_organization_creation boolean] => |it| it.limit_user_organization_creation;
    boolean("api-rate-limiting-enabled", "True if the number of requests is limited.").defaulting_to("true")
        [api_rate_limiting_enabled boolean] => |it| it.api_rate_limiting_enabled;
    integer("api-rate-limit", "Requests per second of each caller.").defaulting_to("30")
        [api_rate_limit integer] => |it| it.api_rate_limit;
    integer("teams-per-organization", "The number of teams that an organization can have.")
        [teams_per_organization integer] => |it| it.bounds.teams_per_organization;
    integer("memberships-per-organization", "The number of memberships that an organization can have.")
        [memberships_per_organization integer] => |it| it.bounds.memberships_per_organization;
    integer("teams-per-membership", "The number of teams that a member can belong to.")
        [teams_per_membership integer] => |it| it.bounds.teams_per_membership;
    integer("agent-pools-per-organization", "The number of agent pools that an organization can have.")
        [agent_pools_per_organization integer] => |it| it.bounds.agent_pools_per_organization;
    boolean("send-passing-statuses-for-untriggered-speculative-plans", "Stored, without effect.")
        [send_passing_statuses_for_untriggered_speculative_plans boolean] => |it| it.send_passing_statuses_for_untriggered_speculative_plans;
    boolean("allow-speculative-plans-on-pull-requests-from-forks", "Stored, without effect.")
        [allow_speculative_plans_on_pull_requests_from_forks boolean] => |it| it.allow_speculative_plans_on_pull_requests_from_forks;
    boolean("require-two-factor-for-admins", "Stored, without effect.")
        [require_two_factor_for_admins boolean] => |it| it.require_two_factor_for_admins;
    boolean("fair-run-queuing-enabled", "Stored, without effect.")
        [fair_run_queuing_enabled boolean] => |it| it.fair_run_queuing_enabled;
    boolean("limit-organizations-per-user", "Stored, without effect.")
        [limit_organizations_per_user boolean] => |it| it.limit_organizations_per_user;
    boolean("limit-workspaces-per-organization", "Stored, without effect.")
        [limit_workspaces_per_organization boolean] => |it| it.limit_workspaces_per_organization;
    boolean("default-remote-state-access", "Stored, without effect.")
        [default_remote_state_access boolean] => |it| it.default_remote_state_access;
    integer("default-organizations-per-user-ceiling", "Stored, without effect.").nullable()
        [default_organizations_per_user_ceiling integer] => |it| it.default_organizations_per_user_ceiling;
    integer("default-workspaces-per-organization-ceiling", "Stored, without effect.").nullable()
        [default_workspaces_per_organization_ceiling integer] => |it| it.default_workspaces_per_organization_ceiling;
    text("apply-timeout", "Stored, without effect.").nullable()
        [apply_timeout timeout] => |it| it.apply_timeout.as_deref();
    text("terraform-build-worker-apply-timeout", "The older name of apply-timeout.").nullable()
        => |it| it.apply_timeout.as_deref();
    text("plan-timeout", "Stored, without effect.").nullable()
        [plan_timeout timeout] => |it| it.plan_timeout.as_deref();
    text("terraform-build-worker-plan-timeout", "The older name of plan-timeout.").nullable()
        => |it| it.plan_timeout.as_deref();
}

const SETTINGS: DocumentType = DocumentType::tabled(
    "GeneralSettings",
    RESOURCE_TYPE,
    "The settings of the whole installation.",
    || ROWS.iter().map(|row| &row.property).collect(),
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

fn resource_of(settings: &GeneralSettings) -> Value {
    json!({
        "id": ID,
        "type": RESOURCE_TYPE,
        "attributes": ShownAttributes { rows: ROWS, resource: settings },
    })
}
