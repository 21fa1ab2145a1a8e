//! A database that a server of libSQL keeps: it makes the settings itself, and ends connections.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use gatehouse_ports::{CommitError, Store as _, StoreError};
use gatehouse_spin_sqlite::{Databases, Nature, Verdict, lost_answer, used_baton};

use super::{Instance, Setting};
use crate::setting::{absent, at_version, delete, put, told, value};

/// In the text of every commit, and of no other statement.
const COMMIT: &str = "insert into gatehouse_entry";
/// In the text of the question if a commit was applied, and of no other statement.
const ASK: &str = "select 1 from gatehouse_entry where version = ?";

fn instance(setting: &Setting, nature: Nature) -> Instance {
    setting.instance_of(setting.databases.another_client().with(nature))
}

#[test]
fn records_are_kept_where_settings_are_not_for_clients_to_make() {
    let setting = Setting::new();
    let first = instance(&setting, Nature::LIBSQL);
    first
        .commit(vec![absent("a")], vec![put("a", "1")])
        .unwrap();
    assert_eq!(value(&first, "a").as_deref(), Some("1"));
    let second = instance(&setting, Nature::LIBSQL);
    assert_eq!(value(&second, "a").as_deref(), Some("1"));
    assert_eq!(second.scan("", None, 10).unwrap().items.len(), 1);
}

#[test]
fn a_server_that_acknowledges_before_its_disk_has_it_is_refused_and_nothing_is_made() {
    let setting = Setting::new();
    for synchronous in [0, 1] {
        let nature = Nature::LibSql {
            synchronous,
            statements: 32,
        };
        let why = told(&instance(&setting, nature));
        assert!(why.contains("durability_mode strong"), "{why}");
    }
    assert_eq!(setting.count("select count(*) from sqlite_schema"), 0);
    let nature = Nature::LibSql {
        synchronous: 3,
        statements: 32,
    };
    assert_eq!(value(&instance(&setting, nature), "a"), None);
}

#[test]
fn a_connection_that_the_server_has_ended_is_opened_again_and_nothing_is_done_twice() {
    let setting = Setting::new();
    let client = setting.databases.another_client().with(Nature::LIBSQL);
    let opened = Arc::new(Mutex::new(0));
    let counted = opened.clone();
    client.intercept(move |statement| {
        if statement == "pragma synchronous" {
            *counted.lock().unwrap() += 1;
        }
        Verdict::Proceed
    });
    let counter = setting.instance_of(client);
    counter
        .commit(vec![absent("n")], vec![put("n", "0")])
        .unwrap();
    for number in 1..=200 {
        let held = counter.get(&["n"]).unwrap().remove(0).unwrap();
        let check = at_version("n", held.version);
        let change = put("n", &number.to_string());
        counter.commit(vec![check], vec![change]).unwrap();
    }
    assert_eq!(value(&setting.instance(), "n").as_deref(), Some("200"));
    let opened = *opened.lock().unwrap();
    assert!(opened > 10, "{opened} connections");
}

#[test]
fn a_server_whose_connections_last_for_no_statement_is_told_and_not_asked_for_ever() {
    let setting = Setting::new();
    let nature = Nature::LibSql {
        synchronous: 2,
        statements: 0,
    };
    let refused = instance(&setting, nature).get(&["a"]);
    assert!(matches!(refused, Err(StoreError::Unavailable(_))));
}

/// A client of a server of libSQL that decides about the first commit and about each question if it was applied, and the number of commits
/// that were sent.
fn deciding(
    setting: &Setting,
    first_commit: Verdict,
    asked: impl Fn() -> Verdict + Send + Sync + 'static,
) -> (Databases, Arc<AtomicUsize>) {
    let client = setting.databases.another_client().with(Nature::LIBSQL);
    let sent = Arc::new(AtomicUsize::new(0));
    let counted = sent.clone();
    client.intercept(move |statement| {
        if statement.contains(COMMIT) && counted.fetch_add(1, Ordering::Relaxed) == 0 {
            return first_commit.clone();
        }
        if statement.contains(ASK) {
            return asked();
        }
        Verdict::Proceed
    });
    (client, sent)
}

fn assert_told_to_read(outcome: Result<(), CommitError>) {
    let Err(CommitError::Failed(StoreError::Unavailable(why))) = outcome else {
        panic!("{outcome:?}");
    };
    assert!(why.contains("read before repeating"), "{why}");
}

#[test]
fn a_commit_whose_answer_was_lost_is_found_written_and_sent_once() {
    for error in [lost_answer(), used_baton()] {
        let setting = Setting::new();
        let verdict = Verdict::LoseAnswer(error);
        let (client, sent) = deciding(&setting, verdict, || Verdict::Proceed);
        let instance = setting.instance_of(client);
        let outcome = instance.commit(vec![absent("a")], vec![put("a", "1"), put("b", "2")]);
        assert_eq!(outcome, Ok(()));
        assert_eq!(sent.load(Ordering::Relaxed), 1);
        assert_eq!(value(&setting.instance(), "b").as_deref(), Some("2"));
        // The same instance continues, on another connection.
        let held = instance.get(&["a"]).unwrap().remove(0).unwrap();
        let check = at_version("a", held.version);
        let outcome = instance.commit(vec![check], vec![put("a", "3")]);
        assert_eq!(outcome, Ok(()));
        assert_eq!(value(&setting.instance(), "a").as_deref(), Some("3"));
    }
}

#[test]
fn a_removal_whose_answer_was_lost_is_found_written_and_sent_once() {
    let setting = Setting::new();
    let start = vec![put("a", "1")];
    setting.instance().commit(vec![], start).unwrap();
    let verdict = Verdict::LoseAnswer(lost_answer());
    let (client, sent) = deciding(&setting, verdict, || Verdict::Proceed);
    let outcome = setting
        .instance_of(client)
        .commit(vec![], vec![delete("a")]);
    assert_eq!(outcome, Ok(()));
    assert_eq!(sent.load(Ordering::Relaxed), 1);
    assert_eq!(value(&setting.instance(), "a"), None);
}

#[test]
fn a_commit_that_did_not_arrive_is_told_as_uncertain_and_not_sent_again() {
    for error in [lost_answer(), used_baton()] {
        let setting = Setting::new();
        let verdict = Verdict::Fail(error);
        let (client, sent) = deciding(&setting, verdict, || Verdict::Proceed);
        let instance = setting.instance_of(client);
        assert_told_to_read(instance.commit(vec![absent("a")], vec![put("a", "1")]));
        assert_eq!(sent.load(Ordering::Relaxed), 1);
        // A caller that reads sees the outcome, and may then repeat the commit.
        assert_eq!(value(&instance, "a"), None);
        let outcome = instance.commit(vec![absent("a")], vec![put("a", "1")]);
        assert_eq!(outcome, Ok(()));
    }
}

#[test]
fn a_commit_whose_answer_was_lost_with_that_to_the_question_is_told_as_uncertain() {
    let setting = Setting::new();
    let verdict = Verdict::LoseAnswer(lost_answer());
    let (client, sent) = deciding(&setting, verdict, || Verdict::LoseAnswer(lost_answer()));
    let instance = setting.instance_of(client);
    assert_told_to_read(instance.commit(vec![], vec![put("a", "1")]));
    assert_eq!(sent.load(Ordering::Relaxed), 1);
    assert_eq!(value(&instance, "a").as_deref(), Some("1"));
}

#[test]
fn a_commit_whose_answer_was_lost_is_found_written_by_any_key_that_others_have_left() {
    let keys = ["a", "b"];
    for overwritten in 0..=keys.len() {
        let setting = Setting::new();
        let other = setting.instance();
        other.commit(vec![], vec![put("other", "0")]).unwrap();
        let meanwhile = move || {
            let changes: Vec<_> = keys[..overwritten].iter().map(|it| put(it, "2")).collect();
            other.commit(vec![], changes).unwrap();
            Verdict::Proceed
        };
        let verdict = Verdict::LoseAnswer(lost_answer());
        let (client, sent) = deciding(&setting, verdict, meanwhile);
        let changes = keys.map(|key| put(key, "1")).to_vec();
        let outcome = setting.instance_of(client).commit(vec![], changes);
        match overwritten < keys.len() {
            true => assert_eq!(outcome, Ok(()), "{overwritten}"),
            false => assert_told_to_read(outcome),
        }
        assert_eq!(sent.load(Ordering::Relaxed), 1);
    }
}
