//! The scripts whose clients every host has to content.

use crate::HOST;
use crate::script::{HOSTED, SELF_HOSTED, assert_content};

fn assert_client_is_content(script: &'static str, edition: &str) {
    assert_content(HOST, script, edition);
}

#[test]
fn hvac_calls_every_method_of_its_gcp_class() {
    assert_client_is_content("hvac_gcp.py", HOSTED);
}

#[test]
fn hvac_configures_logs_in_renews_and_revokes() {
    assert_client_is_content("hvac_login.py", HOSTED);
}

#[test]
fn hvac_calls_every_method_of_its_token_class() {
    assert_client_is_content("hvac_tokens.py", HOSTED);
}

#[test]
fn hvac_manages_mounts_policies_leases_and_wrapped_answers() {
    assert_client_is_content("hvac_sys.py", HOSTED);
}

#[test]
fn hvac_manages_entities_groups_and_their_aliases() {
    assert_client_is_content("hvac_identity.py", HOSTED);
}

#[test]
fn the_bao_command_line_manages_tokens_roles_policies_mounts_and_leases() {
    assert_client_is_content("bao_access.py", HOSTED);
}

#[test]
fn node_vault_manages_tokens_roles_policies_mounts_and_leases() {
    assert_client_is_content("node/node_vault.js", HOSTED);
}

#[test]
fn the_bao_command_line_manages_and_logs_in() {
    assert_client_is_content("bao_cli.py", HOSTED);
}

#[test]
fn the_bao_agent_logs_in_and_renews_by_itself() {
    assert_client_is_content("bao_agent.py", HOSTED);
}

#[test]
fn terrasnek_manages_organizations_hosted() {
    assert_client_is_content("terrasnek_organizations.py", HOSTED);
}

#[test]
fn terrasnek_manages_organizations_self_hosted() {
    assert_client_is_content("terrasnek_organizations.py", SELF_HOSTED);
}

#[test]
fn terrasnek_manages_what_belongs_to_organizations_hosted() {
    assert_client_is_content("terrasnek_belongings.py", HOSTED);
}

#[test]
fn terrasnek_manages_what_belongs_to_organizations_self_hosted() {
    assert_client_is_content("terrasnek_belongings.py", SELF_HOSTED);
}

#[test]
fn pytfe_manages_what_belongs_to_organizations_hosted() {
    assert_client_is_content("pytfe_belongings.py", HOSTED);
}

#[test]
fn pytfe_manages_what_belongs_to_organizations_self_hosted() {
    assert_client_is_content("pytfe_belongings.py", SELF_HOSTED);
}

#[test]
fn pytfe_manages_organizations_hosted() {
    assert_client_is_content("pytfe_organizations.py", HOSTED);
}

#[test]
fn pytfe_manages_organizations_self_hosted() {
    assert_client_is_content("pytfe_organizations.py", SELF_HOSTED);
}
