//! Databases that cannot be used: each is refused with a text that says how to mend it, and left as it is.

use gatehouse_ports::{Store as _, StoreError};
use gatehouse_spin_postgres::{AdapterHost, Pools, Verdict};
use gatehouse_storage_adapter::postgres::KNOWN_SCHEMA;

use super::Setting;
use crate::setting::{SEAL_KEY, put, told, value};

fn begun() -> Setting {
    let setting = Setting::new();
    setting
        .instance()
        .commit(vec![], vec![put("a", "1")])
        .unwrap();
    setting
}

#[test]
fn without_an_address_or_a_database_there_the_store_says_which_variable_to_set() {
    let setting = begun();
    let nowhere = AdapterHost::new(Pools::default(), None, SEAL_KEY);
    let why = told(&setting.instance_at(nowhere));
    assert!(why.contains("set the variable postgres_url"), "{why}");
    let secret = "hunter2-canary";
    for address in [
        &format!("postgresql://owner:{secret}@127.0.0.1:1/x"),
        secret,
        &format!("{}x", setting.address),
    ] {
        let host = AdapterHost::new(Pools::default(), Some(address), SEAL_KEY);
        let why = told(&setting.instance_at(host));
        assert!(why.contains("cannot be reached"), "{why}");
        assert!(!why.contains(secret), "{why}");
    }
}

#[test]
fn k2_with_another_key_the_store_is_refused() {
    let setting = begun();
    let another = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHhA=";
    let host = AdapterHost::new(Pools::default(), Some(&setting.address), another);
    let why = told(&setting.instance_at(host));
    assert!(why.contains("seal_key is not the key"), "{why}");
    assert!(!why.contains(another) && !why.contains(SEAL_KEY), "{why}");
    assert_eq!(value(&setting.instance(), "a").as_deref(), Some("1"));
}

#[test]
fn s12_tables_of_a_newer_version_are_refused() {
    let setting = begun();
    let newer = KNOWN_SCHEMA + 1;
    setting.ask(&format!(
        "update gatehouse_spin.number set number = {newer}"
    ));
    let why = told(&setting.instance());
    assert!(why.contains("newer") && why.contains("update"), "{why}");
    setting.ask(&format!(
        "update gatehouse_spin.number set number = {KNOWN_SCHEMA}"
    ));
    assert_eq!(value(&setting.instance(), "a").as_deref(), Some("1"));
}

#[test]
fn records_without_their_keyring_are_refused_and_get_no_new_one() {
    let setting = begun();
    setting.ask("delete from gatehouse_spin.keyring");
    let why = told(&setting.instance());
    assert!(why.contains("no keyring"), "{why}");
    assert_eq!(
        setting.count("select count(*) from gatehouse_spin.keyring"),
        0
    );
}

#[test]
fn a_database_that_loses_what_it_acknowledged_or_sees_another_order_is_refused() {
    for (setting_of_database, cure) in [
        ("synchronous_commit = off", "synchronous_commit"),
        (
            "default_transaction_isolation = 'serializable'",
            "read committed",
        ),
        ("default_transaction_read_only = on", "takes no changes"),
    ] {
        let setting = begun();
        let name = setting.address.rsplit('/').next().unwrap();
        setting.ask(&format!("alter database {name} set {setting_of_database}"));
        let instance = setting.instance();
        let outcome = instance.commit(vec![], vec![put("a", "2")]);
        let why = format!("{outcome:?}");
        assert!(why.contains(cure), "{why}");
    }
}

#[test]
fn s7_engines_that_order_commits_otherwise_are_refused_and_nothing_is_made() {
    // YugabyteDB knows all settings that it is asked for; CockroachDB does not. A function of the test hides that of the system.
    let unknown = "create function public.current_setting(text) returns text language plpgsql
        as $$ begin raise exception using errcode = '42704', message = 'unrecognized'; end $$";
    for (version, also, engine) in [
        ("PostgreSQL 15.12-YB-2025.2.2.2-b0", "", "YugabyteDB"),
        ("CockroachDB CCL v26.1.0", unknown, "CockroachDB"),
    ] {
        let setting = Setting::new();
        let name = setting.address.rsplit('/').next().unwrap();
        setting.ask(&format!(
            "create function public.version() returns text language sql as $$ select '{version}' $$"
        ));
        if !also.is_empty() {
            setting.ask(also);
        }
        setting.ask(&format!(
            "alter database {name} set search_path = public, pg_catalog"
        ));
        let why = told(&setting.instance());
        assert!(why.contains(engine), "{why}");
        assert!(why.contains("a PostgreSQL server"), "{why}");
        let schemas = "select count(*) from pg_namespace where nspname = 'gatehouse_spin'";
        assert_eq!(setting.count(schemas), 0);
    }
}

#[test]
fn a_user_without_rights_is_told_what_it_needs() {
    let setting = Setting::new();
    let name = setting.address.rsplit('/').next().unwrap();
    let user = format!("user_{name}");
    setting.ask(&format!("create role {user} login"));
    let address = setting.address.replace("//owner@", &format!("//{user}@"));
    assert_ne!(address, setting.address);
    let host = AdapterHost::new(Pools::default(), Some(&address), SEAL_KEY);
    let why = told(&setting.instance_at(host));
    assert!(why.contains("the right to create a schema"), "{why}");
}

#[test]
fn an_answer_of_another_shape_is_no_record() {
    let setting = begun();
    setting.ask("drop function gatehouse_spin.find_entry");
    setting.ask(
        "create function gatehouse_spin.find_entry(text, text[], bigint[], bigint) returns table (n text, version text, value text) \
         language sql as $$ select 'a', 'b', 'c' $$",
    );
    let read = setting.instance().get(&["a"]);
    assert!(
        matches!(&read, Err(StoreError::Unavailable(why)) if why.contains("altered")),
        "{read:?}"
    );
    // An instance that is not used makes no tables in its database.
    let untouched = Setting::new();
    let pools = Pools::default();
    pools.intercept(|_| Verdict::Proceed);
    let _ = untouched.instance_of(pools);
    let schemas = "select count(*) from pg_namespace where nspname = 'gatehouse_spin'";
    assert_eq!(untouched.count(schemas), 0);
}
