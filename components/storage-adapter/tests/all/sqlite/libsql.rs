//! A database that a server of libSQL keeps: it makes the settings itself, and ends connections.

use std::sync::{Arc, Mutex};

use gatehouse_ports::{Store as _, StoreError};
use gatehouse_spin_sqlite::{Nature, Verdict};

use super::{Instance, Setting};
use crate::setting::{absent, at_version, put, told, value};

fn instance(setting: &Setting, nature: Nature) -> Instance {
    setting.instance_of(setting.databases.another_client().with(nature))
}

#[test]
fn records_are_kept_where_settings_are_not_for_clients_to_make() {
    let setting = Setting::new();
    let first = instance(&setting, Nature::LIBSQL);
    first
        .commit(vec![absent("a")], vec![put("a", "1")])
        .unwrap();
    assert_eq!(value(&first, "a").as_deref(), Some("1"));
    let second = instance(&setting, Nature::LIBSQL);
    assert_eq!(value(&second, "a").as_deref(), Some("1"));
    assert_eq!(second.scan("", None, 10).unwrap().items.len(), 1);
}

#[test]
fn a_server_that_acknowledges_before_its_disk_has_it_is_refused_and_nothing_is_made() {
    let setting = Setting::new();
    for synchronous in [0, 1] {
        let nature = Nature::LibSql {
            synchronous,
            statements: 32,
        };
        let why = told(&instance(&setting, nature));
        assert!(why.contains("durability_mode strong"), "{why}");
    }
    assert_eq!(setting.count("select count(*) from sqlite_schema"), 0);
    let nature = Nature::LibSql {
        synchronous: 3,
        statements: 32,
    };
    assert_eq!(value(&instance(&setting, nature), "a"), None);
}

#[test]
fn a_connection_that_the_server_has_ended_is_opened_again_and_nothing_is_done_twice() {
    let setting = Setting::new();
    let client = setting.databases.another_client().with(Nature::LIBSQL);
    let opened = Arc::new(Mutex::new(0));
    let counted = opened.clone();
    client.intercept(move |statement| {
        if statement == "pragma synchronous" {
            *counted.lock().unwrap() += 1;
        }
        Verdict::Proceed
    });
    let counter = setting.instance_of(client);
    counter
        .commit(vec![absent("n")], vec![put("n", "0")])
        .unwrap();
    for number in 1..=200 {
        let held = counter.get(&["n"]).unwrap().remove(0).unwrap();
        let check = at_version("n", held.version);
        let change = put("n", &number.to_string());
        counter.commit(vec![check], vec![change]).unwrap();
    }
    assert_eq!(value(&setting.instance(), "n").as_deref(), Some("200"));
    let opened = *opened.lock().unwrap();
    assert!(opened > 10, "{opened} connections");
}

#[test]
fn a_server_whose_connections_last_for_no_statement_is_told_and_not_asked_for_ever() {
    let setting = Setting::new();
    let nature = Nature::LibSql {
        synchronous: 2,
        statements: 0,
    };
    let refused = instance(&setting, nature).get(&["a"]);
    assert!(matches!(refused, Err(StoreError::Unavailable(_))));
}
