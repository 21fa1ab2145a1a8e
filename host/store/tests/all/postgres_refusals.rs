//! Databases that cannot be the store, each with the cure (SEC-O5, S12).

use std::sync::Arc;

use gatehouse_ports::SystemClock;
use gatehouse_store::{Namespace, PostgresBackend, PostgresError, PostgresSettings, PrivateStore};

use crate::postgres_databases::{Database, PASSWORD, settings, settings_with, shared_server};
use crate::subject::{put, value};
use gatehouse_postgres_server::PostgresServer;

async fn open(settings: &PostgresSettings) -> Result<PostgresBackend, PostgresError> {
    PostgresBackend::open(settings, Arc::new(SystemClock)).await
}

async fn refusal(settings: &PostgresSettings) -> PostgresError {
    without_password(open(settings).await.unwrap_err())
}

#[track_caller]
fn without_password(refused: PostgresError) -> PostgresError {
    for said in [refused.to_string(), format!("{refused:?}")] {
        assert!(!said.contains(PASSWORD), "{said}");
    }
    refused
}

/// The refusal of opening the database, and that of making its tables.
async fn refusals(settings: &PostgresSettings) -> [PostgresError; 2] {
    let of_opening = refusal(settings).await;
    [
        of_opening,
        without_password(PostgresBackend::migrate(settings).await.unwrap_err()),
    ]
}

#[track_caller]
fn assert_unreachable(refused: &PostgresError) {
    assert!(
        matches!(refused, PostgresError::Unreachable(_)),
        "{refused:?}"
    );
}

#[tokio::test]
async fn addresses_that_cannot_be_used_are_refused_before_anything_is_sent() {
    for (url, said) in [
        ("nonsense", "cannot be used"),
        ("mysql://a@localhost/b", "cannot be used"),
        ("postgresql://a:secret@localhost/b", "storage.password_file"),
        ("postgresql://a@/b", "no host"),
        ("postgresql://localhost/b", "no user"),
        ("postgresql://a@localhost", "no database"),
        (
            "postgresql://a@db.example.com/b?sslmode=disable",
            "sslmode=disable",
        ),
        (
            "postgresql://a@localhost,db.example.com/b?sslmode=disable",
            "sslmode=disable",
        ),
        (
            "postgresql://a@localhost/b?hostaddr=192.0.2.1&sslmode=disable",
            "sslmode=disable",
        ),
    ] {
        let text = refusal(&settings(url)).await.to_string();
        assert!(text.contains(said), "{url}: {text}");
        assert!(!text.contains("secret"), "{text}");
    }
}

#[tokio::test]
async fn a_server_that_is_not_there_or_refuses_the_user_is_named_as_that() {
    let refused = refusal(&settings("postgresql://a@127.0.0.1:1/b")).await;
    assert_unreachable(&refused);
    let server = shared_server().await;
    let refused = refusal(&settings(&server.url("missing"))).await;
    let text = refused.to_string();
    assert!(text.contains("does not exist"), "{text}");
    assert!(text.contains("correct its name in storage.url"), "{text}");
    let url = server.url("postgres").replace("owner@", "stranger@");
    let refused = refusal(&settings(&url)).await;
    let text = refused.to_string();
    assert!(text.contains("stranger"), "{text}");
    assert!(text.contains("correct the user in storage.url"), "{text}");
}

#[tokio::test]
async fn n4_a_server_without_tls_is_not_spoken_to_where_that_was_asked_for() {
    let server = shared_server().await;
    for mode in ["require", "verify-full"] {
        let url = format!("{}?sslmode={mode}", server.url("postgres"));
        let refused = refusal(&settings(&url)).await;
        assert_unreachable(&refused);
        let text = refused.to_string();
        assert!(text.contains("set ssl = on"), "{text}");
    }
}

#[tokio::test]
async fn n4_the_certificate_of_the_server_and_its_name_are_verified() {
    let own = || rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let (certified, other) = (own(), own());
    let settings = ["ssl=on", "ssl_cert_file=server.pem", "ssl_key_file=key.pem"];
    let files = [
        ("server.pem", certified.cert.pem()),
        ("key.pem", certified.signing_key.serialize_pem()),
    ];
    let files = files.each_ref().map(|(name, text)| (*name, text.as_str()));
    let server = PostgresServer::start_with_files(&settings, &files).await;
    let settings = |host: &str, trusted: &rcgen::Certificate| {
        let mut roots = rustls::RootCertStore::empty();
        roots.add(trusted.der().clone()).unwrap();
        let url = format!("{}?sslmode=verify-full", server.url("postgres"));
        settings_with(&url.replace("127.0.0.1", host), roots)
    };
    PostgresBackend::migrate(&settings("localhost", &certified.cert))
        .await
        .unwrap();
    let backend = open(&settings("localhost", &certified.cert)).await.unwrap();
    let store = PrivateStore::new(Arc::new(backend), Namespace::Access);
    store.commit(vec![], vec![put("a", "1")]).await.unwrap();
    assert_eq!(value(&store, "a").await.as_deref(), Some("1"));
    for (host, trusted, remedy) in [
        ("localhost", &other.cert, "storage.ca_file"),
        ("127.0.0.1", &certified.cert, "as its certificate does"),
    ] {
        let refused = refusal(&settings(host, trusted)).await;
        assert_unreachable(&refused);
        let text = refused.to_string();
        assert!(text.contains("certificate"), "{text}");
        assert!(text.contains(remedy), "{text}");
    }
}

#[tokio::test]
async fn a_database_without_tables_is_refused_until_they_are_made() {
    let database = Database::empty(shared_server().await).await;
    let refused = refusal(&database.settings).await;
    assert!(matches!(refused, PostgresError::NoSchema));
    assert!(
        refused
            .to_string()
            .contains("gatehouse operator database migrate")
    );
    let (one, other) = tokio::join!(
        PostgresBackend::migrate(&database.settings),
        PostgresBackend::migrate(&database.settings)
    );
    let mut from = [one.unwrap().from, other.unwrap().from];
    from.sort_unstable();
    assert_eq!(from, [0, 4], "one of the two made them");
    open(&database.settings).await.unwrap();
}

#[tokio::test]
async fn an_empty_schema_that_an_administrator_has_made_is_filled() {
    let database = Database::empty(shared_server().await).await;
    let client = database.connect().await;
    client
        .batch_execute("create schema gatehouse")
        .await
        .unwrap();
    PostgresBackend::migrate(&database.settings).await.unwrap();
    open(&database.settings).await.unwrap();
}

#[tokio::test]
async fn the_schema_of_another_program_is_refused_and_left_alone() {
    for table in [
        "create table gatehouse.store (a int)",
        "create table gatehouse.gates (a int)",
    ] {
        let database = Database::empty(shared_server().await).await;
        let client = database.connect().await;
        client
            .batch_execute("create schema gatehouse")
            .await
            .unwrap();
        client.batch_execute(table).await.unwrap();
        for refused in refusals(&database.settings).await {
            assert!(
                matches!(refused, PostgresError::ForeignSchema),
                "{refused:?}"
            );
        }
    }
}

#[tokio::test]
async fn s12_newer_and_older_tables_are_refused() {
    let database = Database::empty(shared_server().await).await;
    PostgresBackend::migrate(&database.settings).await.unwrap();
    let client = database.connect().await;
    let set = async |version: i64| {
        let text = format!("update gatehouse.store set number = {version} where name = 'schema'");
        client.batch_execute(&text).await.unwrap();
    };
    set(5).await;
    for refused in refusals(&database.settings).await {
        assert!(
            matches!(refused, PostgresError::NewerSchema { found: 5 }),
            "{refused:?}"
        );
    }
    set(0).await;
    let refused = refusal(&database.settings).await;
    assert!(
        matches!(refused, PostgresError::OlderSchema { found: 0 }),
        "{refused:?}"
    );
}

#[tokio::test]
async fn s12_tables_of_version_1_are_brought_up_to_date_and_keep_their_entries() {
    let database = Database::empty(shared_server().await).await;
    PostgresBackend::migrate(&database.settings).await.unwrap();
    let store = open(&database.settings).await.unwrap();
    let store = PrivateStore::new(Arc::new(store), Namespace::Access);
    store.commit(vec![], vec![put("a", "1")]).await.unwrap();
    let client = database.connect().await;
    let version_1 = "drop table gatehouse.node; drop table gatehouse.lease; drop function gatehouse.commit_under;
        update gatehouse.store set number = 1 where name = 'schema'";
    client.batch_execute(version_1).await.unwrap();
    let refused = refusal(&database.settings).await;
    assert!(matches!(refused, PostgresError::OlderSchema { found: 1 }));
    let migrated = PostgresBackend::migrate(&database.settings).await.unwrap();
    assert_eq!((migrated.from, migrated.to), (1, 4));
    let again = PostgresBackend::migrate(&database.settings).await.unwrap();
    assert_eq!((again.from, again.to), (4, 4));
    let store = open(&database.settings).await.unwrap();
    let store = PrivateStore::new(Arc::new(store), Namespace::Access);
    assert_eq!(value(&store, "a").await.as_deref(), Some("1"));
}

#[tokio::test]
async fn a_user_without_rights_is_told_which_is_missing() {
    let database = Database::empty(shared_server().await).await;
    let client = database.connect().await;
    client
        .batch_execute("create role unprivileged login")
        .await
        .unwrap();
    let url = database.settings.url.replace("owner@", "unprivileged@");
    let refused = PostgresBackend::migrate(&settings(&url)).await.unwrap_err();
    assert!(
        matches!(refused, PostgresError::NotPermitted(_)),
        "{refused:?}"
    );
}

async fn altered(setting: &str) -> Database {
    let database = Database::empty(shared_server().await).await;
    PostgresBackend::migrate(&database.settings).await.unwrap();
    let client = database.connect().await;
    let alter = format!("alter database {} set {setting}", database.name);
    client.batch_execute(&alter).await.unwrap();
    database
}

#[tokio::test]
async fn a_database_that_may_only_be_read_is_refused() {
    let database = altered("default_transaction_read_only = on").await;
    let refused = refusal(&database.settings).await;
    assert!(matches!(refused, PostgresError::ReadOnly), "{refused:?}");
}

#[tokio::test]
async fn s1_a_server_that_could_lose_what_it_acknowledged_is_refused() {
    let database = altered("synchronous_commit = off").await;
    let refused = refusal(&database.settings).await.to_string();
    assert!(refused.contains("set synchronous_commit = on"), "{refused}");
    let server = PostgresServer::start(&["fsync=off"]).await;
    let database = Database::empty(&server).await;
    let refused = refusal(&database.settings).await.to_string();
    assert!(refused.contains("set fsync = on"), "{refused}");
}

#[tokio::test]
async fn a_server_without_a_synchronous_standby_says_so() {
    let database = Database::with_tables().await;
    let backend = open(&database.settings).await.unwrap();
    assert!(!backend.server().has_synchronous_standby);
}

#[tokio::test]
async fn s7_engines_that_order_commits_otherwise_are_refused_and_nothing_is_changed() {
    // The function of the test's own hides that of the system.
    const HIDE: &str = "alter database NAME set search_path = public, pg_catalog";
    const IS_EMPTY: &str = "select to_regnamespace('gatehouse') is null";
    // One knows all that it is asked, the other one does not.
    let unknown = "create function public.current_setting(text) returns text language plpgsql
        as $unknown$ begin raise exception using errcode = '42704', message = 'unrecognized'; end $unknown$";
    for (version, also, engine) in [
        (
            "PostgreSQL 15.12-YB-2025.2.2.2-b0 on x86_64",
            "",
            "YugabyteDB",
        ),
        (
            "CockroachDB CCL v26.1.0 (x86_64-pc-linux-gnu)",
            unknown,
            "CockroachDB",
        ),
    ] {
        let database = Database::empty(shared_server().await).await;
        let client = database.connect().await;
        let function = format!(
            "create function public.version() returns text language sql as $$ select '{version}' $$"
        );
        for statement in [&*HIDE.replace("NAME", &database.name), &*function, also] {
            client.batch_execute(statement).await.unwrap();
        }
        for refused in refusals(&database.settings).await {
            let text = refused.to_string();
            assert!(matches!(refused, PostgresError::OtherEngine(_)), "{text}");
            assert!(text.contains(engine), "{text}");
            assert!(
                text.contains("name a database of a PostgreSQL server"),
                "{text}"
            );
        }
        let row = client.query_one(IS_EMPTY, &[]).await.unwrap();
        assert!(row.get::<_, bool>(0));
    }
}
