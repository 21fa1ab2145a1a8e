//! Commits of every kind whose connection is cut before, in and after them (SEC-S9).

use std::sync::Arc;

use gatehouse_ports::doubles::ManualClock;
use gatehouse_ports::{Change, Check, CommitError, StoreError};
use gatehouse_store::{Backend as _, Guard, Namespace, PostgresBackend, PrivateStore};
use tokio_postgres::Client;

use crate::postgres_databases::Database;
use crate::postgres_proxy::{Fault, Proxy};
use crate::subject::{START, at_version, delete, keys, put, put_until, value, version};

/// In about so many places each kind of commit is cut, where it is long enough for that.
const PLACES: usize = 64;
/// The fewest bytes between two places.
const APART: usize = 7;
/// Keys of a commit that takes one lock for all of them.
const MANY: u32 = 65;
/// After the start of the clock, in milliseconds.
const LATER: u64 = 3_600_000;

/// What a commit is beside one that counts on `n`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// It checks the number.
    Checked,
    /// It checks nothing.
    Unchecked,
    /// It checks the number, and replaces the entry that has it in its key.
    Deleting,
    /// It has the number expire.
    Expiring,
    /// It writes more keys than a commit locks one by one.
    OfMany,
    /// It is made under a guard.
    Guarded,
    /// It is made to the keyring, where one is under way at a time.
    ToKeyring,
}

/// A commit, ready to be sent.
type Ready = (Option<Guard>, Vec<Check>, Vec<Change>);

/// A database that is reached through a proxy, with a number that commits count on.
struct Subject {
    kind: Kind,
    database: Database,
    proxy: Proxy,
    clock: Arc<ManualClock>,
    backend: Arc<PostgresBackend>,
    store: PrivateStore,
}

impl Subject {
    /// The number is 2, and the statement of the commits is prepared.
    async fn new(kind: Kind) -> Self {
        let database = Database::with_tables().await;
        let proxy = Proxy::start().await;
        let clock = Arc::new(ManualClock::at_seconds(START / 1000));
        let backend = Arc::new(proxy.backend(&database, clock.clone()).await);
        let guarding = PrivateStore::new(backend.clone(), Namespace::Keyring);
        let guard = guarding.commit(vec![], vec![put("guard", "")]).await;
        assert_eq!(guard, Ok(()));
        let subject = Self {
            kind,
            database,
            proxy,
            clock,
            store: PrivateStore::new(backend.clone(), namespace_of(kind)),
            backend,
        };
        let first = vec![put("n", "0"), put("at/0", "")];
        assert_eq!(subject.store.commit(vec![], first).await, Ok(()));
        for from in 0..2 {
            let ready = subject.after(from).await;
            assert_eq!(subject.send(ready).await, Ok(()), "{kind:?}");
        }
        subject
    }

    /// The commit that counts on from this number.
    async fn after(&self, number: u32) -> Ready {
        let next = number + 1;
        let text = next.to_string();
        let checks = match self.kind {
            Kind::Unchecked => vec![],
            _ => vec![at_version("n", version(&self.store, "n").await)],
        };
        let mut changes = vec![match self.kind {
            Kind::Expiring => put_until("n", &text, Some(START + LATER)),
            _ => put("n", &text),
        }];
        match self.kind {
            Kind::Deleting => {
                changes.push(delete(&format!("at/{number}")));
                changes.push(put(&format!("at/{next}"), ""));
            }
            Kind::OfMany => {
                let many = (0..MANY).map(|key| put(&format!("many/{key}"), &text));
                changes.extend(many);
            }
            _ => {}
        }
        let guard = match self.kind {
            Kind::Guarded => {
                let guarding = PrivateStore::new(self.backend.clone(), Namespace::Keyring);
                let version = version(&guarding, "guard").await;
                let key = "guard".to_owned();
                Some(Guard { key, version })
            }
            _ => None,
        };
        (guard, checks, changes)
    }

    async fn send(&self, (guard, checks, changes): Ready) -> Result<(), CommitError> {
        match guard {
            None => self.store.commit(checks, changes).await,
            Some(guard) => {
                let namespace = namespace_of(self.kind);
                let commit = self.backend.commit_under(guard, namespace, checks, changes);
                commit.await
            }
        }
    }

    async fn number(&self) -> u32 {
        value(&self.store, "n").await.unwrap().parse().unwrap()
    }

    /// All that the commit of this number wrote is there, and nothing else.
    async fn assert_at(&self, number: u32, fault: Fault) {
        assert_eq!(self.number().await, number, "{fault:?}");
        let kind = self.kind;
        if kind == Kind::Deleting {
            let expected = [format!("at/{number}")];
            assert_eq!(keys(&self.store, "at/", 10).await, expected, "{fault:?}");
        }
        if kind == Kind::OfMany {
            for key in ["many/0".to_owned(), format!("many/{}", MANY - 1)] {
                let found = value(&self.store, &key).await;
                assert_eq!(found, Some(number.to_string()), "{fault:?}: {key}");
            }
        }
    }
}

const fn namespace_of(kind: Kind) -> Namespace {
    match kind {
        Kind::ToKeyring => Namespace::Keyring,
        _ => Namespace::Access,
    }
}

/// How many commits the database has applied.
async fn applied(client: &Client) -> i64 {
    let count = "select count(*) from gatehouse.outcome where not abandoned";
    client.query_one(count, &[]).await.unwrap().get(0)
}

/// Cuts commits of this kind everywhere: each is applied once or never, as is said where anything is.
async fn cut_everywhere(kind: Kind) {
    let subject = Subject::new(kind).await;
    let proxy = &subject.proxy;
    let client = subject.database.connect().await;
    let applied_before = applied(&client).await;
    let mut length = usize::MAX;
    let (mut count, mut known) = (2, 0);
    // What is expired may be deleted at the same time.
    for _ in 0..3 {
        let ready = subject.after(count).await;
        let before = proxy.sent();
        subject.send(ready).await.unwrap();
        length = length.min(proxy.sent() - before);
        count += 1;
    }
    let places = (0..=length).step_by(APART.max(length / PLACES));
    let cuts = places.map(Fault::CutAfter);
    for fault in cuts
        .chain([Fault::CutAfter(length)])
        .chain([Fault::CutAnswer; 20])
    {
        // It reads, and the fault is for the commit.
        let ready = subject.after(count).await;
        proxy.arm(fault);
        match subject.send(ready).await {
            Ok(()) => {
                known += 1;
                count += 1;
            }
            // On a machine that is busy with other things the time may not do.
            Err(CommitError::Failed(StoreError::Unavailable(_))) => {
                proxy.disarm();
                let found = subject.number().await;
                assert!(found == count || found == count + 1, "{fault:?}");
                count = found;
            }
            Err(other) => panic!("{fault:?}: {other:?}"),
        }
        // Where all has gone to the server nothing need be sent after it.
        if fault != Fault::CutAfter(length) {
            assert!(!proxy.is_armed(), "{fault:?}");
        }
        proxy.disarm();
        subject.assert_at(count, fault).await;
    }
    assert!(known > 0);
    let applied = applied(&client).await - applied_before;
    assert_eq!(applied, i64::from(count - 2), "none was applied twice");
    subject.clock.set_milliseconds(START + 2 * LATER);
    let is_left = value(&subject.store, "n").await.is_some();
    assert_eq!(is_left, kind != Kind::Expiring);
}

#[tokio::test]
async fn s9_a_commit_with_checks_that_is_cut_anywhere_is_applied_once_and_said_to_be() {
    cut_everywhere(Kind::Checked).await;
}

#[tokio::test]
async fn s9_a_commit_without_checks_that_is_cut_anywhere_is_applied_once_and_said_to_be() {
    cut_everywhere(Kind::Unchecked).await;
}

#[tokio::test]
async fn s9_a_commit_that_deletes_and_is_cut_anywhere_is_applied_once_and_said_to_be() {
    cut_everywhere(Kind::Deleting).await;
}

#[tokio::test]
async fn s9_a_commit_of_what_expires_that_is_cut_anywhere_is_applied_once_and_said_to_be() {
    cut_everywhere(Kind::Expiring).await;
}

#[tokio::test]
async fn s9_a_commit_of_many_keys_that_is_cut_anywhere_is_applied_once_and_said_to_be() {
    cut_everywhere(Kind::OfMany).await;
}

#[tokio::test]
async fn s9_a_commit_under_a_guard_that_is_cut_anywhere_is_applied_once_and_said_to_be() {
    cut_everywhere(Kind::Guarded).await;
}

#[tokio::test]
async fn s9_a_commit_to_the_keyring_that_is_cut_anywhere_is_applied_once_and_said_to_be() {
    cut_everywhere(Kind::ToKeyring).await;
}
