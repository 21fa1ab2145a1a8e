//! How many statements a call of the store takes, and what the database does for each.

use std::sync::{Arc, Mutex};

use gatehouse_ports::{HeldKey, Store as _};
use gatehouse_spin_sqlite::Verdict;
use gatehouse_storage_adapter::sqlite::Value;

use super::{Instance, Setting};
use crate::setting::{at_version, delete, put, put_until};

/// An instance, and what it has executed since one looked last.
fn watched(setting: &Setting) -> (Instance, impl Fn() -> Vec<String>) {
    let client = setting.databases.another_client();
    let seen: Arc<Mutex<Vec<String>>> = Arc::default();
    let noted = seen.clone();
    client.intercept(move |statement| {
        noted.lock().unwrap().push(statement.to_owned());
        Verdict::Proceed
    });
    let take = move || std::mem::take(&mut *seen.lock().unwrap());
    (setting.instance_of(client), take)
}

#[test]
fn reads_and_commits_of_an_instance_that_is_open_are_one_statement_each() {
    let setting = Setting::new();
    let (instance, taken) = watched(&setting);
    instance
        .commit(vec![], vec![put("a", "1"), put("b", "2")])
        .unwrap();
    let version = instance.get(&["a"]).unwrap().remove(0).unwrap().version;
    taken();
    instance.get(&["a", "b", "c"]).unwrap();
    assert_eq!(taken().len(), 1);
    instance.scan("", None, 10).unwrap();
    assert_eq!(taken().len(), 1);
    let held = HeldKey {
        key: "a".into(),
        version: Some(version),
    };
    instance.get_changed(&[held]).unwrap();
    assert_eq!(taken().len(), 1);
    let checks = vec![at_version("a", version)];
    instance
        .commit(checks, vec![put("a", "3"), delete("b")])
        .unwrap();
    let mut statements = taken();
    statements.retain(|statement| !statement.starts_with("delete from"));
    assert_eq!(statements.len(), 1, "{statements:?}");
}

/// Spin drops an instance after a hundred requests, so each of them pays a part of this.
#[test]
fn an_instance_takes_four_statements_to_open_what_is_there_and_one_for_its_first_read() {
    let setting = Setting::new();
    setting
        .instance()
        .commit(vec![], vec![put("a", "1")])
        .unwrap();
    let (instance, taken) = watched(&setting);
    instance.get(&["a"]).unwrap();
    let statements = taken();
    assert_eq!(statements.len(), 5, "{statements:?}");
}

#[test]
fn each_key_is_looked_up_and_nothing_is_walked_over() {
    let setting = Setting::new();
    let (instance, taken) = watched(&setting);
    let changes = (0..500)
        .map(|number| put(&format!("k/{number:03}"), "v"))
        .collect();
    instance.commit(vec![], changes).unwrap();
    let version = instance.get(&["k/001"]).unwrap().remove(0).unwrap().version;
    taken();
    instance.get(&["k/001", "k/499"]).unwrap();
    let checks = vec![at_version("k/001", version)];
    instance
        .commit(checks, vec![put("k/001", "x"), put("new", "x")])
        .unwrap();
    instance.scan("k/1", None, 10).unwrap();
    let mut statements = taken();
    statements.retain(|statement| !statement.starts_with("delete from"));
    assert_eq!(statements.len(), 3);
    for statement in statements {
        let connection = setting.connection();
        let parameters = vec![Value::Null; statement.matches('?').count()];
        let plan = connection
            .execute(&format!("explain query plan {statement}"), &parameters)
            .unwrap();
        for row in plan.rows {
            let Some(Value::Text(step)) = row.last() else {
                panic!("{row:?}");
            };
            let walks = step.starts_with("SCAN gatehouse") || step.starts_with("SCAN e");
            assert!(!walks, "{step} in {statement}");
        }
    }
}

#[test]
fn the_file_is_written_ahead_and_a_commit_waits_for_the_disk() {
    let setting = Setting::new();
    let (instance, taken) = watched(&setting);
    instance.commit(vec![], vec![put("a", "1")]).unwrap();
    let mode = &setting.ask("pragma journal_mode")[0][0];
    assert_eq!(*mode, Value::Text("wal".to_owned()));
    let opening = taken();
    let begins = opening
        .iter()
        .position(|text| text == "pragma synchronous = full");
    let commits = opening
        .iter()
        .position(|text| text.contains("insert into gatehouse_entry"));
    assert!(begins.is_some() && begins < commits, "{opening:?}");
    let checkpoints = opening
        .iter()
        .position(|text| text == "pragma wal_autocheckpoint = 10000");
    assert!(
        checkpoints.is_some() && checkpoints < commits,
        "{opening:?}"
    );
}

/// A scan reads the rows of removals too, so their number must stay small.
#[test]
fn a_commit_that_removes_many_leaves_none_of_their_rows() {
    let setting = Setting::new();
    let instance = setting.instance();
    let keys: Vec<String> = (0..64).map(|number| format!("gone/{number}")).collect();
    let puts = keys.iter().map(|key| put(key, "v")).collect();
    instance.commit(vec![], puts).unwrap();
    let removals = keys.iter().map(|key| delete(key)).collect();
    instance.commit(vec![], removals).unwrap();
    assert_eq!(setting.count("select count(*) from gatehouse_entry"), 0);
}

#[test]
fn what_was_removed_or_has_expired_is_dropped_by_later_commits() {
    let setting = Setting::new();
    let instance = setting.instance();
    let until = super::START + 1;
    let changes = (0..300)
        .map(|number| put_until(&format!("old/{number}"), "v", until))
        .chain((0..300).map(|number| put(&format!("gone/{number}"), "v")))
        .collect();
    instance.commit(vec![], changes).unwrap();
    let removals = (0..300)
        .map(|number| delete(&format!("gone/{number}")))
        .collect();
    instance.commit(vec![], removals).unwrap();
    let rows = || setting.count("select count(*) from gatehouse_entry");
    setting.time.0.set_milliseconds(super::START + 120_000);
    // One of 64 such commits drops some, on average: that none of a thousand does has no chance worth naming.
    for number in 0..4000 {
        instance
            .commit(vec![], vec![put("busy", &number.to_string())])
            .unwrap();
        if rows() == 1 {
            return;
        }
    }
    panic!("{} rows are left", rows());
}
