//! Servers that share a database: who has it, who runs, and who works for all.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use gatehouse_ports::{CommitError, SystemClock};
use gatehouse_store::{
    Backend as _, FORGOTTEN_AFTER, Guard, LIVE_FOR, Namespace, Node, PostgresBackend,
    PostgresError, PostgresRoster, PrivateStore, Roll, Roster,
};
use tokio::task::JoinSet;

use crate::postgres_databases::Database;
use crate::subject::{put, value};

const LEASE: Duration = Duration::from_secs(15);

async fn shared(database: &Database) -> Result<PostgresBackend, PostgresError> {
    PostgresBackend::open_shared(&database.settings, Arc::new(SystemClock)).await
}

async fn alone(database: &Database) -> Result<PostgresBackend, PostgresError> {
    PostgresBackend::open_alone(&database.settings, Arc::new(SystemClock)).await
}

fn node(id: &str) -> Node {
    Node {
        id: id.to_owned(),
        name: format!("{id}.example.com"),
        address: (id != "nowhere").then(|| format!("https://{id}.example.com:8200")),
        version: "0.1.0".to_owned(),
    }
}

fn now() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    u64::try_from(now.as_millis()).unwrap()
}

fn ids(roll: &Roll) -> Vec<&str> {
    roll.live.iter().map(|live| live.node.id.as_str()).collect()
}

/// A database, the list in it, and a way to let time pass for those on it.
struct Subject {
    database: Database,
    roster: PostgresRoster,
    backend: PostgresBackend,
}

impl Subject {
    async fn new() -> Self {
        let database = Database::with_tables().await;
        let backend = shared(&database).await.unwrap();
        Self {
            roster: backend.roster(),
            database,
            backend,
        }
    }

    async fn beat(&self, id: &str) -> Roll {
        self.roster.beat(&node(id), now()).await.unwrap()
    }

    async fn takes(&self, id: &str) -> bool {
        let taken = self.roster.take_lease("work", &node(id), LEASE).await;
        taken.unwrap()
    }

    /// Makes all that was noted so much older.
    async fn pass(&self, time: Duration) {
        let milliseconds = time.as_millis();
        let client = self.database.connect().await;
        let older = format!(
            "update gatehouse.node set seen_at = seen_at - interval '{milliseconds} ms', started_at = started_at - interval '{milliseconds} ms';
             update gatehouse.lease set ends_at = ends_at - interval '{milliseconds} ms'"
        );
        client.batch_execute(&older).await.unwrap();
    }

    async fn rows(&self) -> i64 {
        let client = self.database.connect().await;
        let counted = client.query_one("select count(*) from gatehouse.node", &[]);
        counted.await.unwrap().get(0)
    }
}

#[tokio::test]
async fn servers_learn_of_each_other_the_longest_running_first() {
    let subject = Subject::new().await;
    assert_eq!(ids(&subject.beat("b").await), ["b"]);
    subject.pass(Duration::from_secs(1)).await;
    assert_eq!(ids(&subject.beat("a").await), ["b", "a"]);
    let roll = subject.beat("nowhere").await;
    assert_eq!(ids(&roll), ["b", "a", "nowhere"]);
    let nodes: Vec<Node> = roll.live.iter().map(|live| live.node.clone()).collect();
    assert_eq!(nodes, ["b", "a", "nowhere"].map(node));
}

#[tokio::test]
async fn a_server_runs_for_15_seconds_after_it_was_seen() {
    let subject = Subject::new().await;
    subject.beat("silent").await;
    subject.pass(LIVE_FOR / 5).await;
    assert_eq!(ids(&subject.beat("a").await), ["silent", "a"]);
    subject.pass(LIVE_FOR).await;
    assert_eq!(ids(&subject.beat("a").await), ["a"]);
    // It is back at once when it says so.
    assert_eq!(ids(&subject.beat("silent").await), ["silent", "a"]);
}

#[tokio::test]
async fn servers_that_were_not_seen_for_long_are_forgotten_a_few_at_a_time() {
    let subject = Subject::new().await;
    for number in 0..20 {
        subject.beat(&format!("old-{number}")).await;
    }
    // Far from the moment in question, since a busy machine takes its time as well.
    const FAR: Duration = Duration::from_secs(120);
    subject.pass(FORGOTTEN_AFTER - FAR).await;
    subject.beat("a").await;
    assert_eq!(subject.rows().await, 21);
    subject.pass(FAR).await;
    subject.beat("a").await;
    assert_eq!(subject.rows().await, 5);
    subject.beat("a").await;
    assert_eq!(subject.rows().await, 1);
}

#[tokio::test]
async fn the_times_are_the_databases_and_the_clocks_the_servers_own() {
    let subject = Subject::new().await;
    let ahead = now() + 60_000;
    let first = subject.roster.beat(&node("a"), ahead).await.unwrap();
    let own = &first.live[0];
    assert_eq!(own.clock, ahead);
    let is_now = |time: u64| time.abs_diff(now()) < 10_000;
    assert!(is_now(first.now) && is_now(own.seen_at) && is_now(own.started_at));
    let later = subject.beat("a").await;
    assert_eq!(later.live[0].started_at, own.started_at);
    assert!(later.live[0].seen_at >= own.seen_at);
}

#[tokio::test]
async fn a_lease_is_one_servers_until_it_ends_or_the_server_leaves() {
    let subject = Subject::new().await;
    assert!(subject.takes("a").await);
    assert!(subject.takes("a").await, "it is kept");
    assert!(!subject.takes("b").await);
    subject.pass(LEASE / 2).await;
    assert!(subject.takes("a").await, "it is kept for longer");
    subject.pass(LEASE / 2).await;
    assert!(!subject.takes("b").await);
    subject.pass(LEASE / 2).await;
    assert!(subject.takes("b").await, "it has ended");
    assert!(!subject.takes("a").await);
    subject.beat("a").await;
    subject.beat("b").await;
    subject.roster.leave(&node("b")).await.unwrap();
    assert_eq!(ids(&subject.beat("a").await), ["a"]);
    assert!(subject.takes("a").await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_servers_that_take_a_lease_at_once_one_has_it() {
    let subject = Subject::new().await;
    for round in 0..20 {
        let mut asking = JoinSet::new();
        for number in 0..4 {
            let (roster, work) = (subject.backend.roster(), format!("work-{round}"));
            asking.spawn(async move {
                let node = node(&number.to_string());
                roster.take_lease(&work, &node, LEASE).await.unwrap()
            });
        }
        let taken = asking.join_all().await;
        assert_eq!(taken.into_iter().filter(|taken| *taken).count(), 1);
    }
}

#[tokio::test]
async fn a_lost_connection_is_made_anew_at_the_next_beat() {
    let subject = Subject::new().await;
    subject.beat("a").await;
    let client = subject.database.connect().await;
    let cut_off = "select pg_terminate_backend(pid, 5000) from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid()";
    client.batch_execute(cut_off).await.unwrap();
    // The one that finds the connection lost may fail.
    let _ = subject.roster.beat(&node("a"), now()).await;
    assert_eq!(ids(&subject.beat("a").await), ["a"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s7_what_one_server_commits_every_other_reads_next() {
    let database = Database::with_tables().await;
    let (first, second) = tokio::join!(shared(&database), shared(&database));
    let [first, second] = [first, second]
        .map(|backend| PrivateStore::new(Arc::new(backend.unwrap()), Namespace::Access));
    for round in 0..100 {
        let text = round.to_string();
        let commit = first.commit(vec![], vec![put("a", &text)]);
        commit.await.unwrap();
        assert_eq!(value(&second, "a").await, Some(text));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s13_a_command_for_stopped_servers_waits_for_all_of_them_and_they_for_it() {
    let database = Database::with_tables().await;
    let servers = [
        shared(&database).await.unwrap(),
        shared(&database).await.unwrap(),
    ];
    let refused = alone(&database).await.unwrap_err().to_string();
    assert!(refused.contains("stop all its servers first"), "{refused}");
    assert!(refused.contains("from 127.0.0.1"), "{refused}");
    let [first, second] = servers;
    drop(first);
    assert!(matches!(
        alone(&database).await,
        Err(PostgresError::InUse { .. })
    ));
    drop(second);
    let command = alone(&database).await.unwrap();
    let refused = shared(&database).await.unwrap_err();
    assert!(matches!(refused, PostgresError::HeldAlone { .. }));
    let text = refused.to_string();
    assert!(text.contains("a command for stopped servers"), "{text}");
    drop(command);
    shared(&database).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s13_a_server_that_was_cut_off_while_a_command_had_the_database_commits_nothing_more() {
    let database = Database::with_tables().await;
    let server = shared(&database).await.unwrap();
    let other = shared(&database).await.unwrap();
    let client = database.connect().await;
    let cut_off = "select pg_terminate_backend(pid, 5000) from pg_locks where locktype = 'advisory' and objid = 1
        and database = (select oid from pg_database where datname = current_database())";
    client.batch_execute(cut_off).await.unwrap();
    drop(other);
    // The server tries to get its hold back in the meantime, for which it takes no more than a moment.
    let command = loop {
        match alone(&database).await {
            Ok(command) => break command,
            Err(PostgresError::InUse { .. }) => {
                client.batch_execute(cut_off).await.unwrap();
            }
            Err(error) => panic!("{error}"),
        }
    };
    let roster = server.roster();
    let store = PrivateStore::new(Arc::new(server), Namespace::Access);
    let late = store.commit(vec![], vec![put("late", "")]).await;
    assert!(
        matches!(&late, Err(CommitError::Failed(error)) if error.to_string().contains("must be restarted")),
        "{late:?}"
    );
    assert!(roster.is_away(), "so that requests get 503");
    let command = PrivateStore::new(Arc::new(command), Namespace::Access);
    assert_eq!(value(&command, "late").await, None);
}

#[tokio::test]
async fn s1_a_commit_under_a_guard_is_applied_only_while_the_guard_holds() {
    let database = Database::with_tables().await;
    let backend = shared(&database).await.unwrap();
    assert!(backend.is_shared());
    let mark = || vec![put("mark", "owner")];
    let set = async || {
        let committed = backend.commit(Namespace::Keyring, vec![], mark()).await;
        committed.unwrap();
        let found = backend.get(Namespace::Keyring, &["mark"]).await.unwrap();
        let version = found[0].as_ref().unwrap().version;
        let key = "mark".to_owned();
        Guard { key, version }
    };
    let write = async |guard: &Guard, key: &str| {
        let changes = vec![put(key, "written")];
        let commit = backend.commit_under(guard.clone(), Namespace::Access, vec![], changes);
        commit.await
    };
    let former = set().await;
    assert_eq!(write(&former, "first").await, Ok(()));
    let own = set().await;
    assert_eq!(write(&former, "late").await, Err(Guard::lost()));
    assert_eq!(write(&own, "second").await, Ok(()));
    let keys = ["first", "late", "second"];
    let found = backend.get(Namespace::Access, &keys).await.unwrap();
    let there: Vec<bool> = found.iter().map(Option::is_some).collect();
    assert_eq!(there, [true, false, true]);
}
