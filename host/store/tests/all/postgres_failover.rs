//! A database with a synchronous standby, which is promoted while the old primary still runs and can be reached (SEC-S1, S7, S9).

use std::net::TcpListener;
use std::sync::Arc;
use std::time::Duration;

use gatehouse_ports::{StoreError, SystemClock};
use gatehouse_postgres_server::{PostgresServer, connect};
use gatehouse_store::{
    Backend as _, Namespace, Node, PostgresBackend, PostgresError, PostgresRoster,
    PostgresSettings, PrivateStore, Roster as _,
};

use crate::postgres_databases::{PASSWORD, settings};
use crate::subject::{delete, put, value};

/// A server of ours.
struct Server {
    backend: Arc<PostgresBackend>,
    store: PrivateStore,
    roster: PostgresRoster,
    node: Node,
}

impl Server {
    /// Connects to the first of these that is a primary.
    async fn open(name: &str, database: &str, hosts: [&PostgresServer; 2]) -> Self {
        let [first, second] = hosts.map(PostgresServer::port);
        let settings = of_ports([first, second], database);
        Self::at(&settings.url).await.named(name)
    }

    fn named(mut self, name: &str) -> Self {
        self.node.id = name.to_owned();
        self.node.name = name.to_owned();
        self
    }

    async fn at(url: &str) -> Self {
        let backend = PostgresBackend::open_shared(&settings(url), Arc::new(SystemClock)).await;
        let backend = Arc::new(backend.unwrap());
        Self {
            roster: backend.roster(),
            store: PrivateStore::new(backend.clone(), Namespace::Access),
            backend,
            node: Node {
                id: "node".to_owned(),
                name: "node".to_owned(),
                address: None,
                version: "0.1.0".to_owned(),
            },
        }
    }

    async fn beat(&self) -> Result<(), StoreError> {
        self.roster.beat(&self.node, 0).await.map(|_| ())
    }
}

/// A primary, its synchronous standby, and the name of a database with tables.
async fn primary_with_standby() -> (PostgresServer, PostgresServer, String) {
    let primary = PostgresServer::start(&[]).await;
    let database = primary.create_database().await;
    PostgresBackend::migrate(&settings(&primary.url(&database)))
        .await
        .unwrap();
    let standby = primary.start_standby().await;
    (primary, standby, database)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s7_s9_an_old_primary_takes_no_write_and_is_read_no_longer_than_two_beats() {
    let (old, new, database) = primary_with_standby().await;

    let left_behind = Server::open("left-behind", &database, [&old, &new]).await;
    for key in ["token", "other-token"] {
        let made = left_behind.store.commit(vec![], vec![put(key, "made")]);
        made.await.unwrap();
    }
    left_behind.beat().await.unwrap();
    new.promote().await;

    // All that was acknowledged is at the new primary.
    let moved = Server::open("moved", &database, [&new, &old]).await;
    assert_eq!(value(&moved.store, "token").await.as_deref(), Some("made"));
    let revoked = moved.store.commit(vec![], vec![delete("token")]).await;
    assert_eq!(revoked, Ok(()));
    moved.beat().await.unwrap();

    // The old one acknowledges nothing any more, but still answers reads, for ten seconds after its last confirmed beat.
    let change = vec![put("other-token", "changed")];
    let not_acknowledged = left_behind.store.commit(vec![], change).await;
    assert!(not_acknowledged.is_err(), "{not_acknowledged:?}");
    match left_behind.store.get(&["token"]).await {
        Ok(found) => assert_eq!(found[0].as_ref().unwrap().value, b"made"),
        Err(late) => assert!(late.to_string().contains("for 10 seconds"), "{late}"),
    }

    for _ in 0..2 {
        assert!(left_behind.beat().await.is_err());
    }
    let refused = left_behind.store.get(&["token"]).await;
    let refused = refused.unwrap_err().to_string();
    assert!(refused.contains("confirms no writes"), "{refused}");
    assert!(left_behind.roster.is_away(), "so that requests get 503");
    assert!(
        left_behind.backend.snapshot().await.is_err(),
        "nor backed up"
    );
    let refused = left_behind.store.commit(vec![], vec![put("third", "")]);
    assert!(refused.await.is_err());

    // Once the old primary has ended, the server finds the new one by itself.
    old.stop();
    left_behind.beat().await.unwrap();
    assert_eq!(value(&left_behind.store, "token").await, None);
    let other = value(&left_behind.store, "other-token").await;
    assert_eq!(other.as_deref(), Some("made"));
    let change = vec![put("other-token", "changed")];
    left_behind.store.commit(vec![], change).await.unwrap();
    let other = value(&moved.store, "other-token").await;
    assert_eq!(other.as_deref(), Some("changed"));
    old.start_again();
}

/// The connection over which one server has sent its beats; of other servers none may have been sent yet.
async fn connection_of_beats(primary: &PostgresServer, database: &str) -> i32 {
    let client = connect(&primary.url("postgres")).await.unwrap();
    let of_beats = format!(
        "select pid from pg_stat_activity where datname = '{database}' and query like '%gatehouse.node%'"
    );
    client.query_one(&of_beats, &[]).await.unwrap().get(0)
}

/// Has a primary take no new connection to the database, and ends this one; all others go on.
async fn refuse_new_connections(primary: &PostgresServer, database: &str, ended: i32) {
    let client = connect(&primary.url("postgres")).await.unwrap();
    for statement in [
        "set synchronous_commit = local".to_owned(),
        format!("alter database {database} allow_connections false"),
        format!("select pg_terminate_backend({ended}, 5000)"),
    ] {
        client.batch_execute(&statement).await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s7_s9_an_old_primary_that_takes_no_new_connection_is_read_no_longer_over_those_it_has() {
    let (old, new, database) = primary_with_standby().await;
    // One that finds the new primary, and one that was told of the old one alone.
    let finding = Server::open("finding", &database, [&old, &new]).await;
    let left_behind = Server::open("left-behind", &database, [&old, &old]).await;
    let made = finding.store.commit(vec![], vec![put("token", "made")]);
    made.await.unwrap();
    finding.beat().await.unwrap();
    let of_beats = connection_of_beats(&old, &database).await;
    left_behind.beat().await.unwrap();
    for server in [&finding, &left_behind] {
        assert_eq!(value(&server.store, "token").await.as_deref(), Some("made"));
    }
    new.promote().await;
    let moved = Server::open("moved", &database, [&new, &new]).await;
    let revoked = moved.store.commit(vec![], vec![delete("token")]).await;
    assert_eq!(revoked, Ok(()));
    refuse_new_connections(&old, &database, of_beats).await;

    // Its beats reach the new primary, and reads follow them.
    finding.beat().await.unwrap();
    assert_eq!(value(&finding.store, "token").await, None);
    assert!(!finding.roster.is_away());

    // Its beats have no answer: the first one over the connection of its own, which is given up then, the next one over one that reads use.
    for _ in 0..2 {
        assert!(left_behind.beat().await.is_err());
    }
    let refused = left_behind.store.get(&["token"]).await.unwrap_err();
    assert!(
        refused.to_string().contains("confirms no writes"),
        "{refused}"
    );
    assert!(left_behind.roster.is_away());
}

/// Has a database refuse beats for want of room.
const NO_ROOM: [&str; 2] = [
    "create function public.refuse() returns trigger language plpgsql
        as $refuse$ begin raise exception using errcode = '53100', message = 'no room'; end $refuse$",
    "create trigger refuse before insert on gatehouse.node for each row execute function public.refuse()",
];
/// Has a server refuse all writes, as in place of a fence.
const READ_ONLY: [&str; 2] = [
    "alter system set default_transaction_read_only = on",
    "select pg_reload_conf()",
];
/// No commit waits for a standby any more.
const NO_STANDBY: &str = "alter system set synchronous_standby_names = ''";

async fn execute(primary: &PostgresServer, database: &str, statements: &[&str]) {
    let client = connect(&primary.url(database)).await.unwrap();
    for statement in statements {
        client.batch_execute(statement).await.unwrap();
    }
}

impl Server {
    /// Beats until the database refuses it with these words, and the server is as asked for after that: sessions take over a setting when they
    /// next have nothing to do, and on a busy machine a beat may be given up.
    async fn is_refused(&self, said: &str, after: impl AsyncFn() -> bool) {
        for _ in 0..400 {
            let refused = self.beat().await;
            if refused.is_err_and(|refused| refused.to_string().contains(said)) && after().await {
                return;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("it does not come to that: {said}");
    }

    async fn reads(&self, key: &str, text: &str) -> bool {
        let found = self.store.get(&[key]).await;
        let found = found.ok().and_then(|mut found| found.remove(0));
        found.is_some_and(|entry| entry.value == text.as_bytes())
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s7_a_primary_that_refuses_beats_is_read_while_it_confirms_another_write_and_no_longer() {
    for (statements, said) in [
        (NO_ROOM, "make room on the disk"),
        (READ_ONLY, "default_transaction_read_only"),
    ] {
        let (old, new, database) = primary_with_standby().await;
        let server = Server::open("left-behind", &database, [&old, &old]).await;
        let made = server.store.commit(vec![], vec![put("token", "made")]);
        made.await.unwrap();
        server.beat().await.unwrap();
        // Has a connection from after the first beat, for a database that may only be read is not connected to.
        assert_eq!(value(&server.store, "token").await.as_deref(), Some("made"));
        execute(&old, &database, &statements).await;
        for _ in 0..3 {
            // A call that was given up before is remembered for a while; a refusal adds none to it.
            let is_read = async || !server.roster.is_away() && server.reads("token", "made").await;
            server.is_refused(said, is_read).await;
        }

        new.promote().await;
        let moved = Server::open("moved", &database, [&new, &new]).await;
        let revoked = moved.store.commit(vec![], vec![delete("token")]).await;
        assert_eq!(revoked, Ok(()));
        for _ in 0..2 {
            server.is_refused(said, async || true).await;
        }
        let refused = server.store.get(&["token"]).await.unwrap_err().to_string();
        for said in ["confirms no writes", said] {
            assert!(refused.contains(said), "{refused}");
        }
        assert!(server.roster.is_away(), "so that requests get 503");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s7_a_primary_that_was_made_read_only_is_left_for_the_new_one_also_without_a_standby() {
    let (old, new, database) = primary_with_standby().await;
    let server = Server::open("finding", &database, [&old, &new]).await;
    let made = server.store.commit(vec![], vec![put("token", "made")]);
    made.await.unwrap();
    server.beat().await.unwrap();
    new.promote().await;
    let moved = Server::open("moved", &database, [&new, &new]).await;
    let revoked = moved.store.commit(vec![], vec![delete("token")]).await;
    assert_eq!(revoked, Ok(()));
    execute(&old, &database, &[NO_STANDBY]).await;
    execute(&old, &database, &READ_ONLY).await;

    server
        .is_refused("default_transaction_read_only", async || true)
        .await;
    server.beat().await.unwrap();
    assert_eq!(value(&server.store, "token").await, None);
    let made = server.store.commit(vec![], vec![put("token", "again")]);
    made.await.unwrap();
    let found = value(&moved.store, "token").await;
    assert_eq!(found.as_deref(), Some("again"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn o5_calls_without_a_primary_say_how_many_hosts_there_are_and_what_is_missing() {
    let (primary, standby, database) = primary_with_standby().await;
    for hosts in [[&primary, &standby], [&standby, &primary]] {
        let server = Server::open("node", &database, hosts).await;
        primary.stop();
        let change = vec![put("token", "")];
        let of_commit = server.store.commit(vec![], change).await.unwrap_err();
        let of_read = server.store.get(&["token"]).await.unwrap_err();
        let of_beat = server.beat().await.unwrap_err();
        for text in [
            of_commit.to_string(),
            of_read.to_string(),
            of_beat.to_string(),
        ] {
            for said in ["none of the 2 hosts", "start the database server"] {
                assert!(text.contains(said), "{text}");
            }
            assert!(!text.contains(PASSWORD), "{text}");
        }
        primary.start_again();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s7_a_database_that_was_started_again_confirms_a_write_before_it_is_read_and_needs_no_beat_for_that()
 {
    let database = PostgresServer::start(&[]).await;
    let name = database.create_database().await;
    let url = database.url(&name);
    PostgresBackend::migrate(&settings(&url)).await.unwrap();
    let server = Server::at(&url).await;
    server.beat().await.unwrap();
    let made = server.store.commit(vec![], vec![put("token", "made")]);
    made.await.unwrap();
    database.stop();
    database.start_again();
    assert_eq!(value(&server.store, "token").await.as_deref(), Some("made"));
    let changed = server.store.commit(vec![], vec![put("token", "changed")]);
    changed.await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s7_a_host_that_accepts_connections_and_stays_silent_does_not_keep_a_server_from_the_next()
{
    let database = PostgresServer::start(&[]).await;
    let name = database.create_database().await;
    PostgresBackend::migrate(&settings(&database.url(&name)))
        .await
        .unwrap();
    // The kernel accepts connections for it; no answer ever comes.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let silent = silent.local_addr().unwrap().port();
    let others = [
        format!("127.0.0.1:{silent}"),
        format!("127.0.0.1:{silent},127.0.0.1:{silent}"),
    ];
    for others in others {
        let port = database.port();
        let url = format!("postgresql://owner@{others},127.0.0.1:{port}/{name}");
        let server = Server::at(&url).await;
        let made = server.store.commit(vec![], vec![put("token", "made")]);
        made.await.unwrap();
        server.beat().await.unwrap();
        assert_eq!(value(&server.store, "token").await.as_deref(), Some("made"));
    }
}

async fn open(settings: &PostgresSettings) -> Result<PostgresBackend, PostgresError> {
    PostgresBackend::open(settings, Arc::new(SystemClock)).await
}

fn of_ports([one, other]: [u16; 2], database: &str) -> PostgresSettings {
    settings(&format!(
        "postgresql://owner@127.0.0.1:{one},127.0.0.1:{other}/{database}"
    ))
}

async fn has_standby(settings: &PostgresSettings) -> bool {
    let backend = open(settings).await.unwrap();
    backend.server().has_synchronous_standby
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s1_a_standby_is_refused_until_it_is_promoted_and_its_primary_is_known_to_have_one() {
    let primary = PostgresServer::start(&[]).await;
    let database = primary.create_database().await;
    let of_primary = settings(&primary.url(&database));
    PostgresBackend::migrate(&of_primary).await.unwrap();
    assert!(!has_standby(&of_primary).await);
    let standby = primary.start_standby().await;
    assert!(has_standby(&of_primary).await);

    let of_standby = settings(&standby.url(&database));
    let shared = PostgresBackend::open_shared(&of_standby, Arc::new(SystemClock));
    let alone = PostgresBackend::open_alone(&of_standby, Arc::new(SystemClock));
    for refused in [
        open(&of_standby).await.unwrap_err(),
        shared.await.unwrap_err(),
        alone.await.unwrap_err(),
        PostgresBackend::migrate(&of_standby).await.unwrap_err(),
    ] {
        assert!(matches!(refused, PostgresError::ReadOnly), "{refused:?}");
        let text = refused.to_string();
        assert!(text.contains("name the primary"), "{text}");
    }

    // Of several hosts the one that does not run is what is missing, and not that a standby takes no writes.
    let (nothing_listens, port) = (1, standby.port());
    for ports in [[nothing_listens, port], [port, nothing_listens]] {
        let text = open(&of_ports(ports, &database)).await.unwrap_err();
        let text = text.to_string();
        for said in ["none of the 2 hosts", "start the database server"] {
            assert!(text.contains(said), "{text}");
        }
    }
    // The kernel accepts connections for it; no answer ever comes.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let silent = silent.local_addr().unwrap().port();
    for ports in [[silent, port], [port, port]] {
        let refused = open(&of_ports(ports, &database)).await.unwrap_err();
        let is_told = matches!(refused, PostgresError::NoPrimary { hosts: 2 });
        assert!(is_told, "{refused:?}");
    }

    // A commit that is acknowledged by the primary alone is on one machine.
    let client = connect(&of_primary.url).await;
    let local = format!("alter database {database} set synchronous_commit = local");
    client.unwrap().batch_execute(&local).await.unwrap();
    assert!(!has_standby(&of_primary).await);

    standby.promote().await;
    open(&of_standby).await.unwrap();
}
