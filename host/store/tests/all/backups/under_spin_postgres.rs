//! Backups of stores under Spin whose records are in PostgreSQL, and such stores that are made from backups.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use gatehouse_ports::{OsRandom, Store, StoreError, SystemClock};
use gatehouse_postgres_server::{Client, connect};
use gatehouse_spin_postgres::{AdapterHost, Pools};
use gatehouse_storage_adapter::postgres::PostgresAdapter;
use gatehouse_store::{
    Namespace, RootKey, SpinDatabase, SpinDatabaseError, SpinError, SpinPlace, SpinStore,
};

use super::under_spin::{
    LABELS, assert_filled, assert_unverified_refused, begun, fill_one, installation, instance,
    made, other_key, restored, sqlite, written,
};
use super::{backup, fill, memory, open, private, restore, small_backup, verify};
use crate::postgres_databases::{settings, shared_server};
use crate::subject::{delete, put, root_key, value};

/// A database of one test, as Spin and the commands are told of it.
struct Setting {
    url: String,
    place: SpinPlace,
}

impl Setting {
    async fn new() -> Self {
        let server = shared_server().await;
        let url = server.url(&server.create_database().await);
        let place = place(&url).unwrap();
        Self { url, place }
    }

    /// One with an installation that was used.
    async fn filled(key: &RootKey) -> Self {
        let setting = Self::new().await;
        for label in LABELS {
            fill_one(&setting.instance(label, key), label);
        }
        setting
    }

    /// The store of `label` as Spin's instances have it.
    fn instance(&self, label: &str, key: &RootKey) -> impl Store + Send + 'static {
        let host = AdapterHost::new(Pools::default(), Some(&self.url), &key.to_text());
        PostgresAdapter::new(host, label, SystemClock, OsRandom)
    }

    /// A connection past all stores.
    async fn connect(&self) -> Client {
        connect(&self.url).await.unwrap()
    }

    async fn execute(&self, statement: &str) {
        self.connect().await.batch_execute(statement).await.unwrap();
    }

    async fn has_schema(&self) -> bool {
        let found = "select to_regnamespace('gatehouse_spin') is not null";
        self.connect()
            .await
            .query_one(found, &[])
            .await
            .unwrap()
            .get(0)
    }
}

fn place(url: &str) -> Result<SpinPlace, SpinError> {
    SpinDatabase::new(url, &settings(url).tls).map(SpinPlace::Database)
}

/// All entries of a store.
fn contents(store: &impl Store) -> BTreeMap<String, Vec<u8>> {
    let mut contents = BTreeMap::new();
    loop {
        let last = contents.keys().next_back().cloned();
        let page = store.scan("", last.as_deref(), 100).unwrap();
        let items = page.items.into_iter();
        contents.extend(items.map(|item| (item.key, item.entry.value)));
        if !page.more {
            return contents;
        }
    }
}

fn text(store: &impl Store, key: &str) -> Option<String> {
    let found = store.get(&[key]).unwrap().pop().unwrap();
    found.map(|entry| String::from_utf8(entry.value).unwrap())
}

/// Asserts that the database is not used, and why.
#[track_caller]
fn assert_refused<T>(outcome: Result<T, SpinError>, is: impl Fn(&SpinDatabaseError) -> bool) {
    match outcome.err() {
        Some(SpinError::Database(error)) if is(&error) => {}
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn s11_a_store_under_spin_in_postgresql_is_backed_up_and_restored_key_by_key() {
    let (key, other) = (root_key(), other_key());
    let before = Setting::filled(&key).await;
    let made = made(&before.place, &key).await.unwrap();
    let inventory = verify(&made, Some(&key)).unwrap();
    assert_eq!(inventory.manifest.installation.as_deref(), Some("an id"));
    assert_eq!(inventory.summary.records, [1, 303, 303, 303, 0]);
    assert_filled(&made).await;

    let after = Setting::new().await;
    assert_eq!(restored(&made, &after.place, &other).unwrap(), inventory);
    for label in LABELS {
        let found = contents(&after.instance(label, &other));
        assert_eq!(found.len(), 303);
        assert!(found == contents(&before.instance(label, &key)), "{label}");
    }
    // Ends are kept too.
    let ends = "select store, key, expires_at from gatehouse_spin.entry where expires_at > 1 order by store";
    let ends_of = async |setting: &Setting| -> Vec<(String, String, i64)> {
        let rows = setting.connect().await.query(ends, &[]).await.unwrap();
        let end = |row: &tokio_postgres::Row| (row.get(0), row.get(1), row.get(2));
        rows.iter().map(end).collect()
    };
    assert_eq!(ends_of(&after).await.len(), 3);
    assert_eq!(ends_of(&after).await, ends_of(&before).await);
}

#[tokio::test]
async fn s11_a_backup_of_a_server_becomes_tables_that_spin_opens_and_that_hold_nothing_of_the_server_itself()
 {
    let below = memory();
    let sealed = open(&below).await;
    fill(&sealed).await;
    let backup = backup(&sealed).await.unwrap();
    let (setting, key) = (Setting::new().await, other_key());
    restored(&backup, &setting.place, &key).unwrap();
    for label in LABELS {
        let instance = setting.instance(label, &key);
        assert_eq!(text(&instance, "a").as_deref(), Some(label));
        assert_eq!(contents(&instance).len(), 4);
    }
    let stores = "select count(distinct store) from gatehouse_spin.entry";
    let client = setting.connect().await;
    let stores: i64 = client.query_one(stores, &[]).await.unwrap().get(0);
    assert_eq!(stores, 3);
}

#[tokio::test]
async fn s11_an_installation_under_spin_moves_from_sqlite_to_postgresql_and_back() {
    let key = root_key();
    let before = installation(&key);
    let backup = made(&sqlite(before.path()), &key).await.unwrap();
    let database = Setting::new().await;
    restored(&backup, &database.place, &key).unwrap();
    let backup = made(&database.place, &key).await.unwrap();
    let after = tempfile::tempdir().unwrap();
    restored(&backup, &sqlite(after.path()), &key).unwrap();
    for label in LABELS {
        let expected = contents(&instance(before.path(), label, &key));
        assert_eq!(expected.len(), 303);
        assert!(contents(&database.instance(label, &key)) == expected);
        assert!(contents(&instance(after.path(), label, &key)) == expected);
    }
}

#[tokio::test]
async fn s11_a_backup_in_postgresql_is_of_one_moment_and_spin_goes_on() {
    let key = root_key();
    let setting = Setting::filled(&key).await;
    let opened = SpinStore::open_to_read(&setting.place, &key).unwrap();
    for label in LABELS {
        let store = setting.instance(label, &key);
        store.commit(vec![], vec![put("a", "changed")]).unwrap();
        store.commit(vec![], vec![delete("long")]).unwrap();
        assert_eq!(text(&store, "long"), None);
    }
    assert_filled(&written(opened).await).await;
}

#[tokio::test]
async fn s11_backups_that_are_made_while_commits_run_have_of_each_capability_what_there_was_at_one_moment()
 {
    let key = root_key();
    let setting = Setting::new().await;
    let is_over = Arc::new(AtomicBool::new(false));
    let writer = {
        let (first, second) = (
            setting.instance("orgs", &key),
            setting.instance("access", &key),
        );
        let is_over = Arc::clone(&is_over);
        thread::spawn(move || {
            let mut count: u32 = 0;
            while !is_over.load(Ordering::Relaxed) {
                count += 1;
                // The order in which a page of several capabilities would be read.
                for store in [&second as &dyn Store, &first] {
                    let number = count.to_string();
                    let both = vec![put("number/a", &number), put("number/z", &number)];
                    store.commit(vec![], both).unwrap();
                }
            }
            count
        })
    };
    let mut seen = Vec::new();
    while seen.len() < 3 {
        let Ok(made) = made(&setting.place, &key).await else {
            // Nothing is written yet.
            continue;
        };
        let below = memory();
        restore(&made, &below).await.unwrap();
        let sealed = open(&below).await;
        let mut numbers = [0, 0];
        for (number, namespace) in numbers.iter_mut().zip([Namespace::Access, Namespace::Orgs]) {
            let store = private(&sealed, namespace);
            let [a, z] = [
                value(&store, "number/a").await,
                value(&store, "number/z").await,
            ];
            assert_eq!(a, z);
            *number = a.map_or(0, |number| number.parse::<u32>().unwrap());
        }
        seen.push(numbers);
    }
    is_over.store(true, Ordering::Relaxed);
    let last = writer.join().unwrap();
    for [access, orgs] in seen {
        assert!(access == orgs || access == orgs + 1, "{access}, {orgs}");
        assert!(access <= last);
    }
}

#[tokio::test]
async fn s11_a_database_with_records_is_left_as_it_is() {
    let backup = small_backup().await;
    let key = other_key();
    let setting = Setting::filled(&key).await;
    let is_not_empty = |error: &_| matches!(error, SpinDatabaseError::NotEmpty);
    assert_refused(restored(&backup, &setting.place, &key), is_not_empty);
    assert_eq!(contents(&setting.instance("access", &key)).len(), 303);

    // One that Spin opened and has written nothing to.
    let opened = Setting::new().await;
    assert_eq!(text(&opened.instance("orgs", &key), "a"), None);
    assert_refused(restored(&backup, &opened.place, &key), is_not_empty);

    // One whose keyring is lost.
    opened
        .instance("orgs", &key)
        .commit(vec![], vec![put("a", "b")])
        .unwrap();
    opened.execute("delete from gatehouse_spin.keyring").await;
    assert_refused(restored(&backup, &opened.place, &key), is_not_empty);

    // Empty tables are as good as none.
    opened.execute("delete from gatehouse_spin.entry").await;
    restored(&backup, &opened.place, &key).unwrap();
    assert_eq!(
        text(&opened.instance("access", &key), "k").as_deref(),
        Some("v")
    );
}

#[tokio::test]
async fn s11_a_backup_that_does_not_verify_makes_no_table_for_spin() {
    let setting = Setting::new().await;
    assert_unverified_refused(&setting.place).await;
    assert!(!setting.has_schema().await);
}

#[tokio::test]
async fn s11_a_restore_into_postgresql_that_is_cut_off_leaves_nothing_and_the_next_one_begins_anew()
{
    let backup = small_backup().await;
    let (setting, key) = (Setting::new().await, root_key());
    let cut_off = begun(&backup, &setting.place).unwrap();
    assert!(!setting.has_schema().await, "nothing shows before the end");
    drop(cut_off);
    assert!(!setting.has_schema().await);

    let cut_off = begun(&backup, &setting.place).unwrap();
    let end = "select pg_terminate_backend(pid, 5000) from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid()";
    setting.execute(end).await;
    cut_off.finish().unwrap_err();
    assert!(!setting.has_schema().await);

    restored(&backup, &setting.place, &key).unwrap();
    assert_eq!(
        text(&setting.instance("access", &key), "k").as_deref(),
        Some("v")
    );
    assert_eq!(
        text(&setting.instance("orgs", &key), "m").as_deref(),
        Some("x")
    );
    assert_eq!(contents(&setting.instance("auth-method", &key)).len(), 0);
}

#[tokio::test]
async fn s11_what_spin_asks_for_during_a_restore_waits_for_its_end_and_gets_what_was_restored() {
    let backup = small_backup().await;
    let (setting, key) = (Setting::new().await, root_key());
    let restoration = begun(&backup, &setting.place).unwrap();
    let instance = setting.instance("access", &key);
    let asking = thread::spawn(move || text(&instance, "k"));
    let client = setting.connect().await;
    let waiting = "select count(*) from pg_locks where not granted
        and database = (select oid from pg_database where datname = current_database())";
    while client
        .query_one(waiting, &[])
        .await
        .unwrap()
        .get::<_, i64>(0)
        == 0
    {
        assert!(!asking.is_finished(), "it does not wait");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    restoration.finish().unwrap();
    assert_eq!(asking.join().unwrap().as_deref(), Some("v"));
}

#[tokio::test]
async fn s11_the_locks_of_a_restore_are_few_however_many_commits_it_takes() {
    let backup = small_backup().await;
    let setting = Setting::new().await;
    let restoration = begun(&backup, &setting.place).unwrap();
    let access = restoration.part(Namespace::Access).unwrap();
    for number in 0..100 {
        let key = format!("token/{number}");
        access.commit(vec![], vec![put(&key, "ended")]).unwrap();
    }
    let held = "select count(*) from pg_locks where locktype = 'advisory'
        and database = (select oid from pg_database where datname = current_database())";
    let client = setting.connect().await;
    let held: i64 = client.query_one(held, &[]).await.unwrap().get(0);
    assert_eq!(held, 2, "that of the tables, and the gate");
    restoration.finish().unwrap();
    let all = contents(&setting.instance("access", &root_key()));
    assert_eq!(all.len(), 102);
}

#[tokio::test]
async fn s11_another_key_opens_no_tables_and_changes_nothing() {
    let setting = Setting::filled(&root_key()).await;
    let refused = made(&setting.place, &other_key()).await.unwrap_err();
    assert!(
        matches!(refused, SpinError::Store(StoreError::Unavailable(_))),
        "{refused}"
    );
    let says = "seal_key is not the key that the store";
    assert!(refused.to_string().contains(says), "{refused}");
    let refused = SpinStore::open_to_write(&setting.place, &other_key());
    assert!(refused.err().unwrap().to_string().contains(says));
    assert_filled(&made(&setting.place, &root_key()).await.unwrap()).await;
}

#[tokio::test]
async fn s11_a_database_without_an_installation_is_told_from_one_that_was_altered() {
    let key = root_key();
    let setting = Setting::new().await;
    let is_missing = |error: &_| matches!(error, SpinDatabaseError::NoInstallation);
    assert_refused(made(&setting.place, &key).await, is_missing);
    assert!(!setting.has_schema().await, "a look makes nothing");
    assert_eq!(text(&setting.instance("orgs", &key), "a"), None);
    assert_refused(made(&setting.place, &key).await, is_missing);

    // Of a capability that was never called there is nothing.
    fill_one(&setting.instance("access", &key), "access");
    let made_of = made(&setting.place, &key).await.unwrap();
    let inventory = verify(&made_of, Some(&key)).unwrap();
    assert_eq!(inventory.summary.records, [1, 0, 303, 0, 0]);

    let lose = "delete from gatehouse_spin.keyring where store = 'access'";
    setting.execute(lose).await;
    let has_no_keyring =
        |error: &_| matches!(error, SpinDatabaseError::NoKeyring { label: "access" });
    assert_refused(made(&setting.place, &key).await, has_no_keyring);

    let other = Setting::new().await;
    let foreign = "create schema gatehouse_spin; create table gatehouse_spin.entry (a int); create table gatehouse_spin.keyring (a int)";
    other.execute(foreign).await;
    let refused = made(&other.place, &key).await.unwrap_err().to_string();
    assert!(refused.contains("not of this software"), "{refused}");
}

#[tokio::test]
async fn a_change_is_made_beside_spin_which_sees_it_at_once() {
    let key = root_key();
    let setting = Setting::filled(&key).await;
    let instance = setting.instance("access", &key);
    let store = SpinStore::open_to_write(&setting.place, &key).unwrap();
    let new = vec![put("token/root", "new")];
    store.access().commit(vec![], new).unwrap();
    assert_eq!(text(&instance, "token/root").as_deref(), Some("new"));
}

#[tokio::test]
async fn an_address_that_leads_nowhere_is_refused_with_what_mends_it_and_without_its_password() {
    let secret = "hunter2-canary";
    let port = shared_server().await.port();
    let key = root_key();
    for (url, cure) in [
        (
            format!("postgresql://owner:{secret}@127.0.0.1:1/x"),
            "correct host and port in the address",
        ),
        (
            format!("postgresql://owner:{secret}@127.0.0.1:{port}/none"),
            "correct its name in the address",
        ),
        (
            format!("postgresql://none:{secret}@127.0.0.1:{port}/postgres"),
            "correct the user in the address",
        ),
        (
            format!("postgresql://owner:{secret}@no-such-host.invalid/x"),
            "correct the host in the address",
        ),
        (
            format!("postgresql://owner:{secret}@db.example.com/x?sslmode=disable"),
            "sslmode=disable; remove that",
        ),
        (
            format!("postgresql://owner:a@{secret}@127.0.0.1/x"),
            "correct the host in the address",
        ),
        (
            format!("host=127.0.0.1 user=owner password=a {secret} dbname=x"),
            "postgresql://USER:PASSWORD@HOST",
        ),
        (
            format!("postgresql://owner:{secret}@127.0.0.1"),
            "no user or no database",
        ),
        (secret.to_owned(), "postgresql://USER:PASSWORD@HOST"),
        (String::new(), "names no host"),
    ] {
        let opened = match place(&url) {
            Ok(place) => SpinStore::open_to_read(&place, &key).map(drop),
            Err(error) => Err(error),
        };
        let refused = opened.unwrap_err();
        let told = format!("{refused} {refused:?}");
        assert!(told.contains(cure), "{cure}: {told}");
        assert!(!refused.to_string().contains("storage."), "{refused}");
        assert!(!told.contains(secret), "{told}");
    }
}
