//! The front for Spin 4 with its records in key-value stores, as `spin-key-value.toml` has it: one client of each protocol, kills, and that
//! nothing of the SQLite databases is used.

use gatehouse_tests::Host::SpinKeyValue;
use gatehouse_tests::{Installation, Storage};

use crate::killed_server::assert_kills_lose_nothing;
use crate::script::{HOSTED, assert_content};

/// Half of those of the databases: a commit takes three writes here.
const KILLS: usize = 10;

#[test]
fn hvac_configures_logs_in_renews_and_revokes_on_key_value_stores() {
    assert_content(SpinKeyValue, "hvac_login.py", HOSTED);
}

#[test]
fn terrasnek_manages_organizations_on_key_value_stores() {
    assert_content(SpinKeyValue, "terrasnek_organizations.py", HOSTED);
}

#[test]
fn s2_every_acknowledged_token_is_there_after_ten_kills_on_key_value_stores() {
    assert_kills_lose_nothing(SpinKeyValue, KILLS);
}

#[test]
fn records_are_in_the_key_value_stores_alone() {
    let installation =
        Installation::start_program(SpinKeyValue.program(), Storage::Durable, "").unwrap();
    let kept = installation.folder().join("data").read_dir().unwrap();
    let mut names: Vec<_> = kept.map(|entry| entry.unwrap().file_name()).collect();
    names.retain(|name| name.to_string_lossy().ends_with(".sqlite"));
    assert_eq!(names, [""; 0]);
}
