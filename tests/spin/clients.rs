//! The clients that others wrote, unmodified.
//!
//! Left out: `bao_seal.py` and `hvac_seal.py`, since under Spin the root key is a variable and not in shares.

use gatehouse_tests::Host::{Spin3, Spin4};

use crate::script::{HOSTED, SELF_HOSTED, assert_content};

#[test]
fn hvac_calls_every_method_of_its_gcp_class() {
    assert_content(Spin4, "hvac_gcp.py", HOSTED);
}

#[test]
fn hvac_configures_logs_in_renews_and_revokes() {
    assert_content(Spin4, "hvac_login.py", HOSTED);
}

#[test]
fn hvac_calls_every_method_of_its_token_class() {
    assert_content(Spin4, "hvac_tokens.py", HOSTED);
}

#[test]
fn hvac_manages_mounts_policies_leases_and_wrapped_answers() {
    assert_content(Spin4, "hvac_sys.py", HOSTED);
}

#[test]
fn hvac_manages_entities_groups_and_their_aliases() {
    assert_content(Spin4, "hvac_identity.py", HOSTED);
}

#[test]
fn the_bao_command_line_manages_and_logs_in() {
    assert_content(Spin4, "bao_cli.py", HOSTED);
}

#[test]
fn terrasnek_manages_organizations_hosted() {
    assert_content(Spin4, "terrasnek_organizations.py", HOSTED);
}

#[test]
fn terrasnek_manages_organizations_self_hosted() {
    assert_content(Spin4, "terrasnek_organizations.py", SELF_HOSTED);
}

#[test]
fn terrasnek_manages_what_belongs_to_organizations() {
    assert_content(Spin4, "terrasnek_belongings.py", HOSTED);
}

#[test]
fn pytfe_manages_organizations_hosted() {
    assert_content(Spin4, "pytfe_organizations.py", HOSTED);
}

#[test]
fn pytfe_manages_what_belongs_to_organizations_self_hosted() {
    assert_content(Spin4, "pytfe_belongings.py", SELF_HOSTED);
}

#[test]
fn hvac_configures_logs_in_renews_and_revokes_on_spin_3() {
    assert_content(Spin3, "hvac_login.py", HOSTED);
}

#[test]
fn terrasnek_manages_organizations_on_spin_3() {
    assert_content(Spin3, "terrasnek_organizations.py", HOSTED);
}
