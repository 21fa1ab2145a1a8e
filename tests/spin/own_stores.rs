//! Each capability keeps its records in the store or database of its own label: in the components as they were built, a label that was mixed
//! up would show nowhere else.

use gatehouse_spin_sqlite::Databases;
use gatehouse_storage_adapter::sqlite::Value;
use gatehouse_tests::{Host, Installation, Storage};
use gatehouse_wasi_key_value::KeyValue;
use serde_json::json;

const LABELS: [&str; 3] = ["access", "auth-method", "orgs"];
/// Parts of keys that each of them alone has.
const OWN_KEYS: [&str; 3] = ["mount-table", "/role-name/", "directory/"];

/// A server that has records of each capability, stopped.
fn used(host: Host) -> Installation {
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
    installation
}

#[test]
fn each_label_has_records_of_its_own_and_of_nobody_else() {
    let installation = used(Host::Spin4);
    let databases = Databases::in_folder(&installation.folder().join("data"), &LABELS);
    let keys: Vec<Vec<String>> = LABELS.iter().map(|label| keys(&databases, label)).collect();
    for (place, label) in LABELS.iter().enumerate() {
        for (other, own) in OWN_KEYS.iter().enumerate() {
            let is_there = keys[place].iter().any(|key| key.contains(own));
            assert_eq!(
                is_there,
                place == other,
                "{own} in {label}: {:?}",
                keys[place]
            );
        }
    }
}

/// The keys of all entries of a database, which are not sealed.
fn keys(databases: &Databases, label: &str) -> Vec<String> {
    let connection = databases.open(label).unwrap();
    let answer = connection.execute("select key from gatehouse_entry", &[]);
    let key = |row: Vec<Value>| match row.into_iter().next() {
        Some(Value::Text(key)) => key,
        other => panic!("{other:?}"),
    };
    answer.unwrap().rows.into_iter().map(key).collect()
}

#[test]
fn each_label_has_records_of_its_own_and_of_nobody_else_on_spin_3() {
    let installation = used(Host::Spin3);
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
