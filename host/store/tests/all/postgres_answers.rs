//! The outcome of a commit where the database answers with an error: an error that is worth a retry gets a bounded number of attempts, and
//! nothing of a commit that failed is there (SEC-S4 to S6, S8).

use std::sync::Arc;
use std::time::{Duration, Instant};

use gatehouse_ports::{CommitError, StoreError, SystemClock};
use gatehouse_postgres_server::PostgresServer;
use gatehouse_store::{Namespace, PostgresBackend, PostgresError, PrivateStore};
use tokio_postgres::Client;

use crate::postgres_databases::{Database, shared_server};
use crate::subject::{keys, put, value};

/// The most attempts that a call makes.
const ATTEMPTS: i64 = 24;
/// The bound of SEC-S8, and the time that a busy machine needs to see that it is over.
const BOUND: Duration = Duration::from_secs(6);
/// How often a setting is asked for that sessions take over at their next statement.
const TIMES: u32 = 400;

/// Raises an error after the first key of a commit was written. A sequence does not go back with its transaction, so it counts attempts.
const RAISE: &str = "
    create sequence attempts;
    create function raise() returns trigger language plpgsql as $raise$
    begin
        if nextval('attempts') <= TIMES then
            raise exception using errcode = 'CODE', message = 'injected';
        end if;
        return new;
    end $raise$;
    create trigger raise before insert on gatehouse.entry
    for each row when (new.key = 'second') execute function raise()";
const RAISE_NO_MORE: &str = "drop trigger raise on gatehouse.entry";
/// The sessions in which commits were sent.
const COMMITTING: &str = "
    select count(*) from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid() and query like '%gatehouse.commit(%'";
const ATTEMPTS_MADE: &str = "select case when is_called then last_value else 0 end from attempts";

/// A store in a database that raises an error.
struct Raising {
    // Keeps the name of the database.
    _database: Database,
    client: Client,
    store: PrivateStore,
}

impl Raising {
    /// The error of this code is raised so many times.
    async fn start(code: &str, times: u32) -> Self {
        let database = Database::with_tables_of(shared_server().await).await;
        let client = database.connect().await;
        let raise = RAISE.replace("CODE", code);
        let raise = raise.replace("TIMES", &times.to_string());
        client.batch_execute(&raise).await.unwrap();
        let store = open(&database).await;
        Self {
            _database: database,
            client,
            store,
        }
    }

    async fn commit(&self) -> Result<(), CommitError> {
        let changes = ["first", "second", "third"].map(|key| put(key, "1"));
        self.store.commit(vec![], changes.into()).await
    }

    async fn attempts(&self) -> i64 {
        let row = self.client.query_one(ATTEMPTS_MADE, &[]).await;
        row.unwrap().get(0)
    }

    /// Nothing of a commit is there, and the next one is applied whole when no error is raised any more.
    async fn assert_whole(&self) {
        assert_eq!(keys(&self.store, "", 10).await, Vec::<String>::new());
        self.client.batch_execute(RAISE_NO_MORE).await.unwrap();
        assert_eq!(self.commit().await, Ok(()));
        let all = ["first", "second", "third"];
        assert_eq!(keys(&self.store, "", 10).await, all);
    }
}

async fn open(database: &Database) -> PrivateStore {
    let backend = database.open(Arc::new(SystemClock)).await.unwrap();
    PrivateStore::new(Arc::new(backend), Namespace::Access)
}

/// The text of a store that is not available.
#[track_caller]
fn unavailable<T: std::fmt::Debug>(outcome: Result<T, impl Into<CommitError>>) -> String {
    match outcome.map_err(Into::into) {
        Err(CommitError::Failed(StoreError::Unavailable(text))) => text,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn s6_a_commit_that_others_got_in_the_way_of_is_tried_again_and_applied_once() {
    for code in ["40001", "40P01"] {
        let raising = Raising::start(code, 3).await;
        assert_eq!(raising.commit().await, Ok(()), "{code}");
        assert_eq!(raising.attempts().await, 4, "{code}");
        let all = ["first", "second", "third"];
        assert_eq!(keys(&raising.store, "", 10).await, all, "{code}");
        let outcomes = "select count(*) from gatehouse.outcome where not abandoned";
        let outcomes = raising.client.query_one(outcomes, &[]).await.unwrap();
        assert_eq!(outcomes.get::<_, i64>(0), 1, "{code}");
    }
}

#[tokio::test]
async fn s6_s8_attempts_are_bounded_in_number_and_time_and_leave_nothing() {
    for code in ["40001", "40P01"] {
        let raising = Raising::start(code, u32::MAX).await;
        let began = Instant::now();
        let text = unavailable(raising.commit().await);
        assert!(began.elapsed() < BOUND, "{code}");
        assert!(text.contains("others kept changing"), "{code}: {text}");
        assert!(text.contains(code), "{text}");
        let attempts = raising.attempts().await;
        assert!((2..=ATTEMPTS).contains(&attempts), "{code}: {attempts}");
        raising.assert_whole().await;
    }
}

#[tokio::test]
async fn s4_s5_what_would_fail_again_is_not_tried_again_says_what_mends_it_and_leaves_nothing() {
    for (code, said) in [
        ("53100", "make room on the disk"),
        ("53300", "raise max_connections"),
        ("25006", "set default_transaction_read_only = off"),
        ("57014", "injected (57014)"),
        ("XX000", "injected (XX000)"),
    ] {
        let raising = Raising::start(code, u32::MAX).await;
        let text = unavailable(raising.commit().await);
        assert!(text.contains(said), "{code}: {text}");
        assert!(!text.contains("second"), "{text}");
        assert_eq!(raising.attempts().await, 1, "{code}");
        raising.assert_whole().await;
    }
}

#[tokio::test]
async fn s4_a_session_that_lost_its_prepared_statements_is_closed_and_one_that_refused_is_not() {
    for (code, is_closed) in [("26000", true), ("42P05", true), ("XX000", false)] {
        let raising = Raising::start(code, 1).await;
        let committing = async || -> i64 {
            let row = raising.client.query_one(COMMITTING, &[]).await;
            row.unwrap().get(0)
        };
        let text = unavailable(raising.commit().await);
        assert!(text.contains(code), "{text}");
        assert_eq!(raising.attempts().await, 1, "{code}");
        for _ in 0..TIMES {
            // The server needs a moment to end it.
            if !is_closed || committing().await == 0 {
                break;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        assert_eq!(committing().await, i64::from(!is_closed), "{code}");
        assert_eq!(raising.commit().await, Ok(()), "{code}");
    }
}

#[tokio::test]
async fn s8_a_statement_that_waits_for_longer_than_it_may_is_given_up_and_leaves_nothing() {
    let database = Database::with_tables_of(shared_server().await).await;
    let store = open(&database).await;
    store.commit(vec![], vec![put("a", "1")]).await.unwrap();
    let client = database.connect().await;
    let lock = "begin; lock table gatehouse.entry";
    client.batch_execute(lock).await.unwrap();
    let began = Instant::now();
    let changes = vec![put("a", "2"), put("b", "2")];
    let of_commit = unavailable(store.commit(vec![], changes.clone()).await);
    let of_read = unavailable(store.get(&["a"]).await);
    let of_scan = unavailable(store.scan("", None, 10).await);
    assert!(began.elapsed() < 3 * BOUND, "{:?}", began.elapsed());
    for text in [of_commit, of_read, of_scan] {
        // Where the machine is so busy that the server's word comes late, it is not waited for.
        let is_told = text.contains("57014") || text.contains("no answer in time");
        assert!(is_told, "{text}");
    }
    client.batch_execute("rollback").await.unwrap();
    assert_eq!(keys(&store, "", 10).await, ["a"]);
    assert_eq!(value(&store, "a").await.as_deref(), Some("1"));
    assert_eq!(store.commit(vec![], changes).await, Ok(()));
    assert_eq!(value(&store, "b").await.as_deref(), Some("2"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s5_a_database_that_becomes_read_only_refuses_whole_commits_is_read_and_is_written_again() {
    let server = PostgresServer::start(&[]).await;
    let database = Database::with_tables_of(&server).await;
    let store = open(&database).await;
    let client = database.connect().await;
    let set = async |value: &str| {
        let set = format!("alter system set default_transaction_read_only = {value}");
        for statement in [&*set, "select pg_reload_conf()"] {
            client.batch_execute(statement).await.unwrap();
        }
    };
    // Two keys each, of which both must be there or none.
    let commit = async |number: u32| {
        let text = number.to_string();
        let changes = vec![put("a", &text), put("b", &text)];
        store.commit(vec![], changes).await
    };
    assert_eq!(commit(1).await, Ok(()));
    set("on").await;
    let mut applied = 1;
    let refused = loop {
        match commit(applied + 1).await {
            Ok(()) => applied += 1,
            refused => break unavailable(refused),
        }
        assert!(applied < TIMES, "it does not become read-only");
    };
    assert!(refused.contains("25006"), "{refused}");
    assert!(refused.contains("name the primary"), "{refused}");
    for key in ["a", "b"] {
        assert_eq!(value(&store, key).await, Some(applied.to_string()));
    }
    let not_opened = database.open(Arc::new(SystemClock)).await.unwrap_err();
    assert!(
        matches!(not_opened, PostgresError::ReadOnly),
        "{not_opened:?}"
    );
    let not_migrated = PostgresBackend::migrate(&database.settings).await;
    assert!(matches!(not_migrated, Err(PostgresError::ReadOnly)));
    // One that has to connect anew is told the same.
    let cut_off = "select pg_terminate_backend(pid, 5000) from pg_stat_activity where application_name = 'gatehouse'";
    client.batch_execute(cut_off).await.unwrap();
    let refused = unavailable(commit(TIMES).await);
    assert!(refused.contains("name the primary"), "{refused}");

    set("off").await;
    let mut outcome = commit(TIMES).await;
    for _ in 0..TIMES {
        if outcome.is_ok() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
        outcome = commit(TIMES).await;
    }
    assert_eq!(outcome, Ok(()));
    for key in ["a", "b"] {
        assert_eq!(value(&store, key).await, Some(TIMES.to_string()));
    }
}
