//! Beats that the database does not answer as it should, or that are not sent at all, and the reads after them (SEC-S7).

use std::sync::Arc;

use gatehouse_ports::{StoreError, SystemClock};
use gatehouse_postgres_server::{Client, connect};
use gatehouse_store::{Namespace, Node, PostgresRoster, PrivateStore, Roster as _};

use crate::postgres_databases::{Database, shared_server};
use crate::subject::{put, value};

/// Has the database refuse beats as one whose session has lost what was prepared in it.
const REFUSE: &str = "
    create function public.refuse() returns trigger language plpgsql
        as $refuse$ begin raise exception using errcode = '26000', message = 'injected'; end $refuse$;
    create trigger refuse before insert on gatehouse.node for each row execute function public.refuse()";
/// Has the database let beats wait for longer than they may.
const HOLD_UP: &str = "begin; lock table gatehouse.node";

/// A server, and a connection past it.
struct Subject {
    database: Database,
    client: Client,
    /// The same to another database of the server.
    beside: Client,
    store: PrivateStore,
    roster: PostgresRoster,
}

impl Subject {
    /// One that has sent no beat yet, and has a connection for reads.
    async fn new() -> Self {
        let server = shared_server().await;
        let database = Database::with_tables_of(server).await;
        let backend = database.open(Arc::new(SystemClock)).await.unwrap();
        let roster = backend.roster();
        let store = PrivateStore::new(Arc::new(backend), Namespace::Access);
        store.commit(vec![], vec![put("a", "1")]).await.unwrap();
        Self {
            client: database.connect().await,
            beside: connect(&server.url("postgres")).await.unwrap(),
            database,
            store,
            roster,
        }
    }

    async fn beat(&self) -> Result<(), StoreError> {
        let node = Node {
            id: "node".to_owned(),
            name: "node".to_owned(),
            address: None,
            version: "0.1.0".to_owned(),
        };
        self.roster.beat(&node, 0).await.map(|_| ())
    }

    async fn execute(&self, statement: &str) {
        self.client.batch_execute(statement).await.unwrap();
    }

    /// A beat for which the database confirms no write, though it is asked to.
    async fn beat_unanswered(&self) {
        self.execute(HOLD_UP).await;
        assert!(self.beat().await.is_err());
        self.execute("rollback").await;
    }

    /// From now on the database takes new connections, or none.
    async fn allow_connections(&self, allows: bool) {
        let name = &self.database.name;
        let allow = format!("alter database {name} allow_connections {allows}");
        self.beside.batch_execute(&allow).await.unwrap();
    }

    /// Ends all connections of the server.
    async fn cut_off(&self) {
        let cut_off = "select pg_terminate_backend(pid, 5000) from pg_stat_activity
            where datname = current_database() and pid <> pg_backend_pid()";
        self.execute(cut_off).await;
    }
}

#[tokio::test]
async fn s7_a_sound_database_that_had_no_connection_for_a_beat_is_read_without_another_beat() {
    let subject = Subject::new().await;
    subject.beat_unanswered().await;
    subject.allow_connections(false).await;
    subject.cut_off().await;
    for _ in 0..2 {
        let not_sent = subject.beat().await.unwrap_err().to_string();
        assert!(not_sent.contains("not currently accepting"), "{not_sent}");
    }
    subject.allow_connections(true).await;
    match subject.store.get(&["a"]).await {
        Ok(found) => assert!(found[0].is_some()),
        // On a machine that is so busy that all this has taken as long as reads may go on without a confirmed write.
        Err(late) => assert!(late.to_string().contains("for 10 seconds"), "{late}"),
    }
    subject.beat().await.unwrap();
    assert_eq!(value(&subject.store, "a").await.as_deref(), Some("1"));
}

#[tokio::test]
async fn s7_a_beat_that_was_refused_counts_where_the_write_that_was_to_confirm_was_not_sent() {
    let subject = Subject::new().await;
    subject.execute(REFUSE).await;
    subject.allow_connections(false).await;
    // It goes over the connection of the reads, which is closed after this refusal, and no other one comes about.
    let refused = subject.beat().await.unwrap_err().to_string();
    for said in ["injected (26000)", "; then ", "not currently accepting"] {
        assert!(refused.contains(said), "{refused}");
    }
    subject.allow_connections(true).await;
    subject.beat_unanswered().await;
    let refused = subject.store.get(&["a"]).await.unwrap_err().to_string();
    assert!(refused.contains("confirms no writes"), "{refused}");
    assert!(!refused.contains("may have been replaced"), "{refused}");

    subject
        .execute("drop trigger refuse on gatehouse.node")
        .await;
    subject.beat().await.unwrap();
    assert_eq!(value(&subject.store, "a").await.as_deref(), Some("1"));
}
