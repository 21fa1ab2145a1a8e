//! Each capability keeps its records in the store of its own label: in the components as they were built, a label that was mixed up would
//! show nowhere else.

use gatehouse_tests::{Host, Installation, Storage};
use gatehouse_wasi_key_value::KeyValue;
use serde_json::json;

const LABELS: [&str; 3] = ["access", "auth-method", "orgs"];

fn assert_each_label_has_records_of_its_own_alone(host: Host) {
    let mut installation =
        Installation::start_program(host.program(), Storage::Durable, "").unwrap();
    installation.set_up_login().unwrap();
    let organization = json!({"data": {
        "type": "organizations",
        "attributes": {"name": "acme", "email": "it@acme.example"},
    }});
    let created = installation.as_root("POST", "/api/v2/organizations", Some(&organization));
    assert_eq!(created.status, 201, "{created:?}");
    installation.server().kill();

    let file = installation.folder().join("data/key-value");
    let stores = KeyValue::in_file(&file, &LABELS).unwrap();
    for label in LABELS {
        let mut keys = stores.stored_keys(label);
        let head = format!("gatehouse.{label}.records.head");
        assert!(keys.contains(&head), "{label}: {keys:?}");
        keys.retain(|key| !key.starts_with(&format!("gatehouse.{label}.")));
        assert_eq!(keys, [""; 0], "{label}");
    }
}

#[test]
fn each_label_has_records_of_its_own_and_of_nobody_else() {
    assert_each_label_has_records_of_its_own_alone(Host::Spin4);
}

#[test]
fn each_label_has_records_of_its_own_and_of_nobody_else_on_spin_3() {
    assert_each_label_has_records_of_its_own_alone(Host::Spin3);
}
