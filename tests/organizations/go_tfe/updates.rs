//! `TestOrganizationsUpdate` (contract 6.2).

use serde_json::{Value, json};

use crate::documents;
use crate::fixtures::{Organization, team_token, unique, unique_email};
use crate::session::Session;

scenarios! {
    hosted:
        test_organizations_update_with_hcp_terraform_only_options,
        test_organizations_update_with_new_aggregated_commit_status_enabled_option,
        test_organizations_update_with_new_speculative_plan_management_enabled_option;
    both:
        test_organizations_update_with_new_user_tokens_enabled_option,
        test_organizations_update_with_valid_options,
        test_organizations_update_with_agent_pool_provided_but_remote_execution_mode,
        test_organizations_update_when_only_updating_a_subset_of_fields,
        test_organizations_update_with_different_default_execution_modes;
}

const USER_TOKENS: &str = "/data/attributes/user-tokens-enabled";
const MODE: &str = "/data/attributes/default-execution-mode";
const POOL: &str = "/data/relationships/default-agent-pool/data";

/// Asserts that a new organization echoes what an attribute is set to.
fn assert_echoed(session: &Session<'_>, attribute: &str, values: &[bool]) {
    for value in values {
        let organization = Organization::new(session);
        organization
            .update(json!({attribute: value}))
            .expect(200)
            .shows(&format!("/data/attributes/{attribute}"), *value);
    }
}

fn test_organizations_update_with_hcp_terraform_only_options(session: &Session<'_>) {
    let attribute = "send-passing-statuses-for-untriggered-speculative-plans";
    assert_echoed(session, attribute, &[false]);
}

fn test_organizations_update_with_new_aggregated_commit_status_enabled_option(
    session: &Session<'_>,
) {
    assert_echoed(session, "aggregated-commit-status-enabled", &[true, false]);
}

fn test_organizations_update_with_new_speculative_plan_management_enabled_option(
    session: &Session<'_>,
) {
    assert_echoed(
        session,
        "speculative-plan-management-enabled",
        &[true, false],
    );
}

/// Who switches user tokens off needs a token of the owners to switch them on again.
fn test_organizations_update_with_new_user_tokens_enabled_option(session: &Session<'_>) {
    let organization = Organization::new(session);
    assert_eq!(
        organization.created["attributes"]["user-tokens-enabled"],
        true
    );
    let owners = organization.owners();
    let token = team_token(session, &owners).expect(201);
    let owner = session
        .server()
        .bearer(&token.text("/data/attributes/token"));
    let path = format!("organizations/{}", organization.name);
    let switch = |enabled: bool| documents::organization(json!({"user-tokens-enabled": enabled}));

    owner
        .patch(&path, &switch(false))
        .expect(200)
        .shows(USER_TOKENS, false);
    organization.show().expect_unauthorized();
    owner
        .get(&path)
        .expect(200)
        .shows("/data/id", organization.name.as_str())
        .shows(USER_TOKENS, false);

    owner
        .patch(&path, &switch(true))
        .expect(200)
        .shows(USER_TOKENS, true);
    organization
        .show()
        .expect(200)
        .shows("/data/id", organization.name.as_str())
        .shows(USER_TOKENS, true);
    session
        .delete(&format!("teams/{owners}/authentication-token"))
        .expect(204);
}

fn test_organizations_update_with_valid_options(session: &Session<'_>) {
    let mut organization = Organization::new(session);
    let old_path = format!("organizations/{}", organization.name);
    let options = json!({
        "name": unique(),
        "email": unique_email(),
        "session-timeout": 3600,
        "session-remember": 3600,
        "default-execution-mode": "local",
    });
    let updated = organization.update(options.clone()).expect(200);
    organization.name = updated.id();
    assert_eq!(organization.name, options["name"]);
    let refreshed = organization.show().expect(200);
    for reply in [updated, refreshed] {
        reply.shows_attributes(options.clone());
    }
    session.get(&old_path).expect_not_found();
    organization.delete().expect(204);
}

fn test_organizations_update_with_agent_pool_provided_but_remote_execution_mode(
    session: &Session<'_>,
) {
    let organization = Organization::new(session);
    let pool = organization.agent_pool();
    let changes = documents::organization_with_pool(json!({}), &pool);
    organization.patch(&changes).expect_invalid(
        "/data/relationships/default-agent-pool",
        "Default agent pool must not be specified unless using 'agent' execution mode",
    );
    organization
        .show()
        .expect(200)
        .shows("/data", organization.created.clone());
    session.delete(&format!("agent-pools/{pool}")).expect(204);
}

/// No attributes at all are no change.
fn test_organizations_update_when_only_updating_a_subset_of_fields(session: &Session<'_>) {
    let organization = Organization::new(session);
    organization
        .patch(&json!({"data": {"type": "organizations"}}))
        .expect(200)
        .shows("/data", organization.created.clone());
}

/// A pool is default as long as the mode is that of agents.
fn test_organizations_update_with_different_default_execution_modes(session: &Session<'_>) {
    let (organization, _) = Organization::with_default_pool(session);
    for mode in ["remote", "local"] {
        organization
            .update(json!({"default-execution-mode": mode}))
            .expect(200)
            .shows(MODE, mode)
            .shows(POOL, Value::Null);
    }
}
