//! The forms that stand in stores stay as they are: the types that records are made of read the forms of before, and write the same bytes.

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::record::OrganizationRecord;
use crate::team::{MembershipRecord, TeamRecord};
use crate::tokens::LifetimesRecord;
use crate::tokens::record::TokenRecord;
use crate::{
    Administration, Bounds, CollaboratorAuthPolicy, ExecutionMode, GeneralSettings,
    MembershipStatus, Operation, Plan, Resource, RetentionPolicy, RetentionRule, Right, Settings,
    Subject, TokenCreator, TokenKind, TokenOwner, User, Visibility,
};

/// Each of `texts` is a stored form, and comes back to the letter.
fn keep<T: Serialize + DeserializeOwned>(texts: &[&str]) {
    for text in texts {
        becomes::<T>(text, text);
    }
}

/// `old` is read, and written as `new`.
fn becomes<T: Serialize + DeserializeOwned>(old: &str, new: &str) {
    let read: T = serde_json::from_str(old).unwrap();
    assert_eq!(serde_json::to_string(&read).unwrap(), new);
}

const SETTINGS: &str = r#"{"email":"ops@acme.test","session_timeout":20,"session_remember":null,"collaborator_auth_policy":"two_factor_mandatory","cost_estimation_enabled":true,"send_passing_statuses_for_untriggered_speculative_plans":true,"aggregated_commit_status_enabled":false,"speculative_plan_management_enabled":true,"owners_team_saml_role_id":"owners","assessments_enforced":true,"allow_force_delete_workspaces":true,"default_execution_mode":"agent","default_agent_pool_id":"apool-1","stacks_enabled":true,"stacks_default_execution_mode":"remote","stacks_default_agent_pool_id":null,"user_tokens_enabled":false,"max_ttl_enabled":true,"enforce_hyok":false,"registry_monorepo_support_enabled":true,"recoverable_items_enabled":true}"#;

const ADMINISTRATION: &str = r#"{"access_beta_tools":true,"terraform_worker_sudo_enabled":false,"apply_timeout":"24h","plan_timeout":null,"workspace_limit":7}"#;

#[test]
fn settings_that_an_older_release_did_not_know_have_the_values_of_a_new_organization() {
    let older = SETTINGS
        .replace(r#","user_tokens_enabled":false"#, "")
        .replace(r#","recoverable_items_enabled":true"#, "");
    let settings: Settings = serde_json::from_str(&older).unwrap();
    assert!(settings.user_tokens_enabled);
    assert!(!settings.recoverable_items_enabled);
    assert_eq!(settings.email, "ops@acme.test");
}

#[test]
fn the_cases_of_what_is_chosen_keep_their_names() {
    keep::<Plan>(&[
        r#""free""#,
        r#""standard""#,
        r#""plus""#,
        r#""business""#,
        r#""premium""#,
        r#""enterprise""#,
    ]);
    keep::<ExecutionMode>(&[r#""remote""#, r#""local""#, r#""agent""#]);
    keep::<CollaboratorAuthPolicy>(&[r#""password""#, r#""two_factor_mandatory""#]);
    keep::<Visibility>(&[r#""secret""#, r#""organization""#]);
    keep::<MembershipStatus>(&[r#""active""#, r#""invited""#]);
    keep::<Right>(&[
        r#""manage-policies""#,
        r#""manage-policy-overrides""#,
        r#""delegate-policy-overrides""#,
        r#""manage-workspaces""#,
        r#""manage-vcs-settings""#,
        r#""manage-providers""#,
        r#""manage-modules""#,
        r#""manage-run-tasks""#,
        r#""manage-projects""#,
        r#""read-workspaces""#,
        r#""read-projects""#,
        r#""manage-membership""#,
        r#""manage-teams""#,
        r#""manage-organization-access""#,
        r#""access-secret-teams""#,
        r#""manage-agent-pools""#,
    ]);
    keep::<TokenKind>(&[
        r#""organization""#,
        r#""team""#,
        r#""user""#,
        r#""audit-trail""#,
        r#""metrics""#,
    ]);
    keep::<Resource>(&[
        r#""organization""#,
        r#""authentication_token""#,
        r#""organization_user""#,
        r#""team""#,
        r#""agent_pool""#,
        r#""data_retention_policy""#,
        r#""token_lifetimes""#,
        r#""subscription""#,
        r#""user""#,
        r#""general_settings""#,
    ]);
    keep::<Operation>(&[r#""create""#, r#""update""#, r#""destroy""#, r#""show""#]);
}

#[test]
fn an_organization_keeps_its_form() {
    keep::<Settings>(&[SETTINGS]);
    keep::<Administration>(&[ADMINISTRATION]);
    becomes::<Administration>(
        "{}",
        r#"{"access_beta_tools":false,"terraform_worker_sudo_enabled":false,"apply_timeout":null,"plan_timeout":null,"workspace_limit":null}"#,
    );
    let before = format!(
        r#"{{"name":"Acme","external_id":"org-1","created_at":1,"default_project_id":"prj-1","owners_team_id":"team-1","subscription":{{"id":"sub-1"}},"settings":{SETTINGS}"#
    );
    becomes::<OrganizationRecord>(
        &format!("{before}}}"),
        &format!(
            r#"{before},"disabled":false,"global_module_sharing":false,"global_provider_sharing":false}}"#
        ),
    );
    keep::<OrganizationRecord>(&[&format!(
        r#"{before},"disabled":true,"global_module_sharing":true,"global_provider_sharing":false,"module_consumers":2,"retention":{{"id":"drp-1","rule":"dont-delete"}},"administration":{ADMINISTRATION}}}"#
    )]);
}

#[test]
fn a_retention_policy_keeps_its_form() {
    keep::<RetentionRule>(&[r#"{"delete-older":9}"#, r#""dont-delete""#]);
    keep::<RetentionPolicy>(&[
        r#"{"id":"drp-1","rule":{"delete-older":30}}"#,
        r#"{"id":"drp-1","rule":"dont-delete","state_versions":{"delete":true,"delete_after_days":-3,"keep_latest":5},"run_data_and_logs":{"keep_latest":1}}"#,
    ]);
}

#[test]
fn settings_of_the_installation_keep_their_form() {
    const DEFAULTS: &str = r#"{"limit_user_organization_creation":false,"api_rate_limiting_enabled":true,"api_rate_limit":30,"send_passing_statuses_for_untriggered_speculative_plans":false,"allow_speculative_plans_on_pull_requests_from_forks":false,"require_two_factor_for_admins":false,"fair_run_queuing_enabled":true,"limit_organizations_per_user":false,"default_organizations_per_user_ceiling":null,"limit_workspaces_per_organization":false,"default_workspaces_per_organization_ceiling":null,"apply_timeout":"24h","plan_timeout":"2h","default_remote_state_access":true,"bounds":{"teams_per_organization":1000,"memberships_per_organization":5000,"teams_per_membership":100,"agent_pools_per_organization":1000}}"#;
    becomes::<GeneralSettings>("{}", DEFAULTS);
    keep::<GeneralSettings>(&[DEFAULTS]);
    becomes::<Bounds>(
        r#"{"teams_per_membership":7}"#,
        r#"{"teams_per_organization":1000,"memberships_per_organization":5000,"teams_per_membership":7,"agent_pools_per_organization":1000}"#,
    );
}

#[test]
fn users_teams_and_memberships_keep_their_form() {
    keep::<Subject>(&[r#"{"entity":"e-1"}"#, r#""installation""#]);
    let user = r#"{"id":"user-1","username":"ada","email":"ada@acme.test","site_administrator":true,"suspended":false,"subject":null,"created_at":5}"#;
    keep::<User>(&[user]);
    becomes::<User>(&user.replace(r#""suspended":false,"#, ""), user);
    keep::<TeamRecord>(&[
        r#"{"id":"team-1","name":"ops","created_at":2,"visibility":"organization","rights":["manage-workspaces","read-projects"],"sso_team_id":null,"allow_member_token_management":true}"#,
    ]);
    keep::<MembershipRecord>(&[
        r#"{"id":"ou-1","user":null,"email":"ada@acme.test","status":"invited","teams":["team-1"],"created_at":3}"#,
    ]);
}

#[test]
fn tokens_and_their_lifetimes_keep_their_form() {
    keep::<TokenOwner>(&[
        r#"{"user":"user-1"}"#,
        r#"{"team":{"id":"team-1","organization":"org-1"}}"#,
        r#"{"team-named":{"id":"team-1","organization":"org-1"}}"#,
        r#"{"organization":"org-1"}"#,
        r#"{"audit-trail":"org-1"}"#,
        r#"{"agent-pool":{"id":"apool-1","organization":"org-1"}}"#,
    ]);
    keep::<TokenCreator>(&[
        r#"{"user":"user-1"}"#,
        r#"{"team":"team-1"}"#,
        r#"{"organization":"org-1"}"#,
        r#""workload""#,
    ]);
    keep::<TokenRecord>(&[
        r#"{"id":"at-1","owner":{"user":"user-1"},"created_at":1,"expires_at":null,"description":"of ci","created_by":"workload"}"#,
    ]);
    keep::<LifetimesRecord>(&[
        r#"{"policies":[{"id":"ttl-1","kind":"audit-trail","maximum":9,"created_at":1,"updated_at":2}]}"#,
    ]);
}
