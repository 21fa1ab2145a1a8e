//! The clients that others wrote, unmodified: all those of the release server, and of Spin 3 one for each protocol.
//!
//! Left out: `bao_seal.py` and `hvac_seal.py`, since under Spin the root key is a variable and not in shares.

#[path = "../clients/everywhere.rs"]
mod everywhere;
#[path = "../clients/vaultrs.rs"]
mod vaultrs;

use gatehouse_tests::Host::Spin3;

use crate::script::{HOSTED, assert_content};

#[test]
fn hvac_configures_logs_in_renews_and_revokes_on_spin_3() {
    assert_content(Spin3, "hvac_login.py", HOSTED);
}

#[test]
fn terrasnek_manages_organizations_on_spin_3() {
    assert_content(Spin3, "terrasnek_organizations.py", HOSTED);
}
