//! SEC-S4: the disk of the database has no room left, as the database itself sees it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use gatehouse_histories::all_at_once;
use gatehouse_postgres_server::PostgresServer;
use gatehouse_tests::{Answer, Installation, Program};
use serde_json::{Value, json};

use crate::cluster::{answer_of, await_that};

const WRITERS: usize = 4;
/// Refusals of each kind of write.
const REFUSALS: usize = 6;
/// The number of writes of each writer while the database ends.
const WRITES_OF_A_WRITER: usize = 15;
/// More writes than fit into the space that the tables have when the disk is filled.
const MOST_WRITES: usize = 6_000;
const ROWS: &[&str] = &["base"];
const ALL: &[&str] = &["base", "pg_wal"];

/// The kinds of writes, which take turns: one row, two rows that belong together, and three or more rows of which one is the name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Policy,
    Token,
    Organization,
}

const KINDS: [Kind; 3] = [Kind::Policy, Kind::Token, Kind::Organization];

/// A server on a database whose disk can be filled, and the writes that clients have asked of it.
struct Subject {
    installation: Installation,
    /// Tokens that were there before.
    accessors: BTreeSet<String>,
    next: AtomicUsize,
    /// By the number of the write: the accessor and the token of a token.
    kept: Mutex<BTreeMap<usize, (String, String)>>,
    refused: Mutex<BTreeSet<usize>>,
}

impl Subject {
    fn start() -> Self {
        let database = PostgresServer::start_on_a_small_disk(&[]);
        let program = Program::gatehouse().logging();
        let installation = Installation::start_over(program, database, "").unwrap();
        Self {
            accessors: accessors(&installation),
            installation,
            next: AtomicUsize::default(),
            kept: Mutex::default(),
            refused: Mutex::default(),
        }
    }

    fn kind(number: usize) -> Kind {
        KINDS[number % KINDS.len()]
    }

    fn policy(number: usize) -> String {
        let padding = "# as long as a policy often is\n".repeat(64);
        format!("{padding}path \"demo-{number}/*\" {{ capabilities = [\"read\"] }}\n")
    }

    fn path(number: usize) -> String {
        match Self::kind(number) {
            Kind::Policy => format!("/v1/sys/policies/acl/written-{number}"),
            Kind::Token => "/v1/auth/token/create".to_owned(),
            Kind::Organization => format!("/api/v2/organizations/written-{number}"),
        }
    }

    fn write(&self, number: usize) -> Answer {
        let (method, path, body) = match Self::kind(number) {
            Kind::Policy => {
                let body = json!({"policy": Self::policy(number)});
                ("PUT", Self::path(number), body)
            }
            Kind::Token => ("POST", Self::path(number), json!({"policies": ["default"]})),
            Kind::Organization => {
                let name = format!("written-{number}");
                let email = format!("{name}@example.com");
                let attributes = json!({"name": name, "email": email});
                let body = json!({"data": {"type": "organizations", "attributes": attributes}});
                ("POST", "/api/v2/organizations".to_owned(), body)
            }
        };
        self.installation.as_root(method, &path, Some(&body))
    }

    /// Makes the next write, and records whether it succeeded.
    fn write_next(&self) -> (usize, Answer) {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let answer = self.write(number);
        if answer.status < 300 {
            self.keep(number, &answer);
        } else {
            lock(&self.refused).insert(number);
        }
        (number, answer)
    }

    fn keep(&self, number: usize, answer: &Answer) {
        let text = |name: &str| {
            let value = &answer.json()["auth"][name];
            value.as_str().unwrap_or_default().to_owned()
        };
        let token = (text("accessor"), text("client_token"));
        lock(&self.kept).insert(number, token);
    }

    /// Has clients write until enough writes of each kind are refused, each with the right answer.
    fn write_until_refused(&self) {
        all_at_once(WRITERS, |_| {
            while !self.has_refused_enough() {
                let (number, answer) = self.write_next();
                assert!(number < MOST_WRITES, "the disk does not fill");
                if answer.status >= 300 {
                    assert_refusal(Self::kind(number), &answer);
                }
            }
        });
    }

    fn has_refused_enough(&self) -> bool {
        let refused = lock(&self.refused);
        KINDS.iter().all(|kind| {
            let of_kind = refused
                .iter()
                .filter(|number| Self::kind(**number) == *kind);
            of_kind.count() >= REFUSALS
        })
    }

    /// The answer to a read, which is sent again while the database starts.
    fn read(&self, path: &str, token: &str) -> Answer {
        answer_of(|| self.installation.send("GET", path, Some(token), None))
    }

    /// True if the write is stored as requested, false if nothing of it is.
    fn is_there(&self, number: usize) -> bool {
        let answer = self.read(&Self::path(number), self.installation.root_token());
        let found = answer.json();
        match (answer.status, Self::kind(number)) {
            (404, _) => return false,
            (200, Kind::Policy) => {
                assert_eq!(found["data"]["policy"], Self::policy(number));
            }
            (200, Kind::Organization) => {
                let email = format!("written-{number}@example.com");
                assert_eq!(found["data"]["attributes"]["email"], email);
            }
            _ => panic!("{number}: {answer:?}"),
        }
        true
    }

    /// Asserts that every acknowledged write is stored, and no refused one; a write with an unknown outcome is stored whole, or not at all.
    fn assert_whole(&self) {
        let kept = lock(&self.kept).clone();
        for (number, (accessor, token)) in &kept {
            if Self::kind(*number) != Kind::Token {
                assert!(self.is_there(*number), "{number} was acknowledged");
                continue;
            }
            let found = self.read("/v1/auth/token/lookup-self", token);
            assert_eq!(found.status, 200, "{number} was acknowledged: {found:?}");
            assert_eq!(found.json()["data"]["accessor"], accessor.as_str());
        }
        let refused = lock(&self.refused).clone();
        let others = refused
            .iter()
            .filter(|number| Self::kind(**number) != Kind::Token);
        let applied = others.filter(|number| self.is_there(**number)).count();
        let acknowledged = kept
            .values()
            .map(|(accessor, _)| accessor.clone())
            .filter(|accessor| !accessor.is_empty());
        let expected: BTreeSet<String> = acknowledged.chain(self.accessors.clone()).collect();
        let found = accessors(&self.installation);
        assert!(found.is_superset(&expected));
        // The log reports each unknown outcome once.
        let doubts = self.log().matches("it is not known").count();
        let applied = applied + found.difference(&expected).count();
        assert!(
            applied <= doubts,
            "{applied} writes were refused and applied, {doubts} outcomes were not known"
        );
        for accessor in found.difference(&expected) {
            let body = json!({ "accessor": accessor });
            let path = "/v1/auth/token/lookup-accessor";
            let whole = answer_of(|| self.installation.as_root("POST", path, Some(&body)));
            assert_eq!(whole.status, 200, "{whole:?}");
        }
    }

    /// Asserts that the refused writes succeed now.
    fn assert_writes_again(&self) {
        // Cloned before the loop, which would otherwise hold the lock.
        let refused = lock(&self.refused).clone();
        for number in refused {
            if Self::kind(number) == Kind::Organization && self.is_there(number) {
                continue;
            }
            let answer = answer_of(|| self.write(number));
            assert!(answer.status < 300, "{number}: {answer:?}");
            self.keep(number, &answer);
            lock(&self.refused).remove(&number);
        }
    }

    /// Asserts that the server finds the database again by itself; the database is started by hand only if it has ended.
    fn assert_recovers(&self) {
        await_that("the server has found the database", || {
            if !self.database().is_running() {
                self.database().start_again();
            }
            self.health() == 200
        });
        // The health answer may be a moment old.
        self.read("/v1/auth/token/lookup-self", self.installation.root_token());
        self.assert_whole();
        self.assert_writes_again();
        self.assert_whole();
    }

    fn database(&self) -> &PostgresServer {
        self.installation.database()
    }

    fn health(&self) -> u16 {
        let health = self.installation.send("GET", "/v1/sys/health", None, None);
        health.status
    }

    fn log(&self) -> String {
        let mut log = self.installation.configuration().into_os_string();
        log.push(".log");
        std::fs::read_to_string(log).unwrap()
    }
}

/// The database would refuse the same write again, so the answer is no 503 where clients would repeat it at once (contract, S4).
#[track_caller]
fn assert_refusal(kind: Kind, answer: &Answer) {
    let retry_after = answer.header("retry-after");
    match (kind, answer.status) {
        (Kind::Policy | Kind::Token, 500) => assert_eq!(retry_after, None, "{answer:?}"),
        // Below `/v1` a 503 comes only where a busy machine let the database take too long.
        (_, 503) => assert_eq!(retry_after, Some("1"), "{answer:?}"),
        _ => panic!("{kind:?}: {answer:?}"),
    }
    let body = &answer.body;
    assert!(
        !body.contains("extend") && !body.contains("base/"),
        "{body}"
    );
}

fn accessors(installation: &Installation) -> BTreeSet<String> {
    let path = "/v1/auth/token/accessors";
    let listed = answer_of(|| installation.as_root("LIST", path, None));
    assert_eq!(listed.status, 200, "{listed:?}");
    let listed = listed.json();
    let keys = listed["data"]["keys"].as_array().expect("a list").iter();
    keys.filter_map(Value::as_str).map(str::to_owned).collect()
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[test]
fn s4_a_database_without_room_for_rows_refuses_whole_writes_and_takes_them_once_there_is_some() {
    let subject = Subject::start();
    for _ in 0..2 {
        subject.database().fill_disk(ROWS);
        subject.write_until_refused();
        subject.assert_whole();
        assert_eq!(subject.health(), 200);
        let log = subject.log();
        assert!(log.contains("No space left on device (53100)"), "{log}");
        assert!(log.contains("make room on the disk of the database server"));

        subject.database().empty_disk(ROWS);
        subject.assert_writes_again();
        subject.assert_whole();
    }
}

#[test]
fn s4_a_database_that_ends_without_room_for_its_log_keeps_what_was_acknowledged_and_is_found_again()
{
    let subject = Subject::start();
    for _ in 0..4 * KINDS.len() {
        let (_, answer) = subject.write_next();
        assert!(answer.status < 300, "{answer:?}");
    }
    subject.database().fill_disk(ALL);
    // Some of these writes wait for the database as it ends, and are answered with that reason.
    all_at_once(1 + WRITERS, |caller| {
        if caller == 0 {
            subject.database().use_up_log();
            return;
        }
        for _ in 0..WRITES_OF_A_WRITER {
            let (number, answer) = subject.write_next();
            if answer.status >= 300 {
                assert_refusal(Subject::kind(number), &answer);
            }
        }
    });
    // Without room the database does not start again.
    await_that("the database has ended", || {
        !subject.database().is_running()
    });
    for _ in KINDS {
        let (_, answer) = subject.write_next();
        assert_eq!(answer.status, 503, "{answer:?}");
        assert_eq!(answer.header("retry-after"), Some("1"), "{answer:?}");
    }
    assert_eq!(subject.health(), 503);
    let read = subject.installation.as_root("GET", &Subject::path(0), None);
    assert_eq!(read.status, 503, "{read:?}");

    subject.database().empty_disk(ALL);
    subject.assert_recovers();
}

#[test]
fn s4_a_database_that_has_room_for_its_log_again_while_it_starts_is_found_again() {
    let subject = Subject::start();
    for _ in KINDS {
        let (_, answer) = subject.write_next();
        assert!(answer.status < 300, "{answer:?}");
    }
    subject.database().fill_disk(ALL);
    subject.database().use_up_log();
    subject.database().empty_disk(ALL);
    subject.assert_recovers();
}
