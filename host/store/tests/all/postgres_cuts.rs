//! Commits of every kind whose connection is cut before, in and after them (SEC-S9).

use std::sync::Arc;
use std::time::{Duration, Instant};

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
/// The number of the first commit: all that follow have as many digits, so all commits are of one length.
const FIRST: u32 = 100;
/// A call that is answered sooner had enough time to find out the outcome. A slower one is on a machine that is busy with other things.
const AT_LEISURE: Duration = Duration::from_secs(1);
/// How often a commit is cut in one place, until the machine was not too busy.
const TIMES: u32 = 20;
/// The words of a server that could not find out.
const NOT_KNOWN: &str = "it is not known if a commit was applied";

/// The kind of a commit that counts on `n`.
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
    /// The number is two after the first, and the statement of the commits is prepared.
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
        let first = vec![
            put("n", &FIRST.to_string()),
            put(&format!("at/{FIRST}"), ""),
        ];
        assert_eq!(subject.store.commit(vec![], first).await, Ok(()));
        for from in FIRST..FIRST + 2 {
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

/// The outcome of one attempt of a commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    /// It was found out that it was not applied, and made sure that it never will be.
    GivenUp,
    Applied,
}

/// The outcomes of all attempts after that of a version, in the order of their versions, and the last version.
async fn outcomes_after(client: &Client, version: i64) -> (Vec<Outcome>, i64) {
    let after =
        "select version, abandoned from gatehouse.outcome where version > $1 order by version";
    let rows = client.query(after, &[&version]).await.unwrap();
    let outcome = |abandoned| match abandoned {
        true => Outcome::GivenUp,
        false => Outcome::Applied,
    };
    let outcomes = rows.iter().map(|row| outcome(row.get(1))).collect();
    let last = rows.last().map_or(version, |row| row.get(0));
    (outcomes, last)
}

/// Cuts the commit that counts on from `number`. Answers the number that is found then, and if the machine had the time to say all of it.
async fn cut(
    subject: &Subject,
    client: &Client,
    number: u32,
    (fault, expected): (Fault, &[Outcome]),
) -> (u32, bool) {
    let (_, before) = outcomes_after(client, 0).await;
    // Both read, which comes after what is done beside the last commit: the fault is for the next one.
    assert_eq!(subject.number().await, number, "{fault:?}");
    let ready = subject.after(number).await;
    subject.proxy.arm(fault);
    let began = Instant::now();
    let said = subject.send(ready).await;
    let took = began.elapsed();
    let was_cut = !subject.proxy.is_armed();
    subject.proxy.disarm();
    let found = subject.number().await;
    subject.assert_at(found, fault).await;
    let (outcomes, _) = outcomes_after(client, before).await;
    let applied = outcomes.iter().filter(|one| **one == Outcome::Applied);
    let applied = applied.count();
    match said {
        Ok(()) => assert_eq!((found, applied), (number + 1, 1), "{fault:?}"),
        Err(CommitError::Failed(StoreError::Unavailable(why))) => {
            assert!(took >= AT_LEISURE, "{fault:?}, {took:?}: {why}");
            let most = usize::from(why.contains(NOT_KNOWN));
            assert!(applied <= most, "{fault:?}: {why}");
            assert!((number..=number + 1).contains(&found), "{fault:?}");
        }
        Err(other) => panic!("{fault:?}: {other:?}"),
    }
    if took >= AT_LEISURE {
        return (found, false);
    }
    assert!(was_cut, "{fault:?}");
    assert_eq!(outcomes, expected, "{fault:?}");
    (found, true)
}

/// Where a commit is cut.
#[derive(Debug, Clone, Copy)]
enum Place {
    /// After so many bytes, which are not all.
    After(usize),
    /// When all of it has gone to the server.
    AtEnd,
    /// When the server answers.
    Answer,
}

impl Subject {
    /// Sends the commit that counts on from `number`, uncut. Answers how many bytes it has.
    async fn send_uncut(&self, number: u32) -> Result<usize, CommitError> {
        // Reads, which comes after what is done beside the last commit.
        assert_eq!(self.number().await, number);
        let ready = self.after(number).await;
        let before = self.proxy.sent();
        self.send(ready).await?;
        Ok(self.proxy.sent() - before)
    }

    /// Cuts a commit in this place, on a connection where its statement is prepared. Answers as [`cut`].
    async fn cut_in(&self, client: &Client, number: u32, place: Place) -> (u32, bool) {
        let mut length = 0;
        // Work that an earlier call may still have under way has an earlier version than these commits.
        for after in number..number + 2 {
            match self.send_uncut(after).await {
                Ok(sent) => length = sent,
                Err(_) => return (self.number().await, false),
            }
        }
        let applied_at_last = &[Outcome::GivenUp, Outcome::Applied][..];
        let fault = match place {
            Place::After(sent) => (Fault::CutAfter(sent), applied_at_last),
            Place::AtEnd => (Fault::CutAfter(length), &[Outcome::Applied][..]),
            Place::Answer => (Fault::CutAnswer, &[Outcome::Applied][..]),
        };
        cut(self, client, number + 2, fault).await
    }
}

/// Cuts commits of this kind everywhere. One that has not gone to the server as a whole is found not to be applied, and another attempt is
/// applied; one that has gone is found to be applied. So each is applied once, and said to be.
async fn cut_everywhere(kind: Kind) {
    let subject = Subject::new(kind).await;
    let client = subject.database.connect().await;
    // No later one is shorter: they differ in the name of the prepared statement.
    let mut number = FIRST + 2;
    let length = subject.send_uncut(number).await.unwrap();
    number += 1;
    let places = (0..length).step_by(APART.max(length / PLACES));
    let places = places.chain([length - 1]).map(Place::After);
    let whole = [Place::AtEnd; 10].into_iter().chain([Place::Answer; 20]);
    for place in places.chain(whole) {
        let mut is_known = false;
        for _ in 0..TIMES {
            (number, is_known) = subject.cut_in(&client, number, place).await;
            if is_known {
                break;
            }
        }
        assert!(is_known, "{place:?}: the machine is too busy");
    }
    assert!(number < 10 * FIRST, "the number has got longer");
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
