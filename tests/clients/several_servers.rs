//! The clients that others wrote, against three servers on one database that answer in turns, request by request: what one server was
//! told, the next one knows (SEC-S7).
//!
//! The scripts that unseal are not among them: each server is unsealed by itself, past any balancer.

use gatehouse_tests::{Balancer, Installation, Storage};

use crate::script::{HOSTED, SELF_HOSTED, run_at};

fn assert_content_with_servers_in_turns(script: &'static str, edition: &str) {
    let settings = format!("[organizations]\nedition = {edition:?}");
    let installation = Installation::start(Storage::Postgres, &settings).unwrap();
    let further = [(); 2].map(|()| installation.another_server().unwrap());
    let first = format!("http://{}", installation.address());
    let others = further.iter().map(|server| server.address().to_owned());
    let balancer = Balancer::start(std::iter::once(first).chain(others).collect()).unwrap();

    let run = run_at(&balancer.address(), &installation, script, edition);
    assert!(
        run.succeeded,
        "{script} against three {edition} servers:\n{}",
        run.output
    );
    assert!(
        balancer.requests() > further.len(),
        "they were asked past the balancer"
    );
}

#[test]
fn s7_hvac_calls_every_method_of_its_gcp_class_with_three_servers_in_turns() {
    assert_content_with_servers_in_turns("hvac_gcp.py", HOSTED);
}

#[test]
fn s7_hvac_configures_logs_in_renews_and_revokes_with_three_servers_in_turns() {
    assert_content_with_servers_in_turns("hvac_login.py", HOSTED);
}

#[test]
fn s7_hvac_calls_every_method_of_its_token_class_with_three_servers_in_turns() {
    assert_content_with_servers_in_turns("hvac_tokens.py", HOSTED);
}

#[test]
fn s7_hvac_manages_mounts_policies_leases_and_wrapped_answers_with_three_servers_in_turns() {
    assert_content_with_servers_in_turns("hvac_sys.py", HOSTED);
}

#[test]
fn s7_hvac_manages_entities_groups_and_their_aliases_with_three_servers_in_turns() {
    assert_content_with_servers_in_turns("hvac_identity.py", HOSTED);
}

#[test]
fn s7_the_bao_command_line_manages_and_logs_in_with_three_servers_in_turns() {
    assert_content_with_servers_in_turns("bao_cli.py", HOSTED);
}

#[test]
fn s7_the_bao_command_line_manages_tokens_roles_policies_mounts_and_leases_with_three_servers_in_turns()
 {
    assert_content_with_servers_in_turns("bao_access.py", HOSTED);
}

#[test]
fn s7_the_bao_agent_logs_in_and_renews_by_itself_with_three_servers_in_turns() {
    assert_content_with_servers_in_turns("bao_agent.py", HOSTED);
}

#[test]
fn s7_node_vault_manages_tokens_roles_policies_mounts_and_leases_with_three_servers_in_turns() {
    assert_content_with_servers_in_turns("node/node_vault.js", HOSTED);
}

#[test]
fn s7_terrasnek_manages_organizations_with_three_servers_in_turns() {
    assert_content_with_servers_in_turns("terrasnek_organizations.py", SELF_HOSTED);
}

#[test]
fn s7_pytfe_manages_what_belongs_to_organizations_with_three_servers_in_turns() {
    assert_content_with_servers_in_turns("pytfe_belongings.py", HOSTED);
}

#[test]
fn s7_terrasnek_manages_what_belongs_to_organizations_with_three_servers_in_turns() {
    assert_content_with_servers_in_turns("terrasnek_belongings.py", SELF_HOSTED);
}

#[test]
fn s7_pytfe_manages_organizations_with_three_servers_in_turns() {
    assert_content_with_servers_in_turns("pytfe_organizations.py", HOSTED);
}
