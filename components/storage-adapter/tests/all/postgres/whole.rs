//! Transactions that copy a database as a whole.

use gatehouse_ports::Store as _;
use gatehouse_spin_postgres::{AdapterHost, Pools};
use gatehouse_storage_adapter::postgres::whole::{self, Holding};
use gatehouse_storage_adapter::postgres::{Database as _, DatabaseError, Host as _};

use super::Setting;
use crate::setting::{LABEL, SEAL_KEY, put};

#[test]
fn what_failed_before_it_was_to_count_is_not_said_to_count() {
    let setting = Setting::new();
    let host = AdapterHost::new(Pools::default(), Some(&setting.address), SEAL_KEY);
    let connection = host.connect().unwrap();
    whole::begin_to_fill(&connection).unwrap();
    let failed = connection.query("select 1 / 0", &[]).unwrap_err();
    assert!(!failed.leaves_outcome_open(), "{failed}");
    let refused = whole::commit(&connection).unwrap_err();
    let is_aborted = matches!(&refused, DatabaseError::Refused { code, .. } if code == "25P02");
    assert!(is_aborted, "{refused}");
    drop(connection);
    let there = whole::holdings(&host.connect().unwrap(), &[LABEL]).unwrap();
    assert_eq!(there, [Holding::default()]);
}

#[test]
fn each_store_is_told_from_the_others() {
    let setting = Setting::new();
    setting
        .instance()
        .commit(vec![], vec![put("a", "1")])
        .unwrap();
    let host = AdapterHost::new(Pools::default(), Some(&setting.address), SEAL_KEY);
    let connection = host.connect().unwrap();
    let all = Holding {
        has_keyring: true,
        has_entries: true,
    };
    let labels = ["another", LABEL, "a third"];
    let none = Holding::default();
    assert_eq!(
        whole::holdings(&connection, &labels).unwrap(),
        [none, all, none]
    );
    setting.ask("delete from gatehouse_spin.keyring");
    let without_keyring = Holding {
        has_keyring: false,
        ..all
    };
    let found = whole::holdings(&connection, &[LABEL]).unwrap();
    assert_eq!(found, [without_keyring]);
}
