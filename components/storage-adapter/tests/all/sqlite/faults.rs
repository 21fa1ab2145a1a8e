//! Others who hold the database, and instances that are cut off while they make it.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use gatehouse_ports::{Clock as _, CommitError, Store as _, StoreError};
use gatehouse_spin_sqlite::Verdict;
use gatehouse_storage_adapter::sqlite::DatabaseError;

use super::{Instance, Setting};
use crate::setting::{absent, delete, put, value};

#[test]
fn a_commit_waits_for_a_lock_of_another_program_until_it_is_let_go() {
    let setting = Arc::new(Setting::new());
    setting
        .instance()
        .commit(vec![], vec![put("a", "1")])
        .unwrap();
    let other = setting.connection();
    other.execute("begin immediate", &[]).unwrap();
    let client = setting.databases.another_client();
    let (sender, tries) = mpsc::channel();
    client.intercept(move |statement| {
        if statement.contains("insert into gatehouse_entry") {
            let _ = sender.send(());
        }
        Verdict::Proceed
    });
    let waiting = {
        let instance = setting.instance_of(client);
        thread::spawn(move || instance.commit(vec![], vec![put("a", "2")]))
    };
    // It has been refused at least twice when it is made for the third time.
    for _ in 0..3 {
        tries.recv().unwrap();
    }
    // Readers are not held up.
    assert_eq!(value(&setting.instance(), "a").as_deref(), Some("1"));
    other.execute("commit", &[]).unwrap();
    waiting.join().unwrap().unwrap();
    assert_eq!(value(&setting.instance(), "a").as_deref(), Some("2"));
}

#[test]
fn a_lock_that_is_never_let_go_is_told_with_its_cure() {
    let setting = Setting::new();
    let instance = {
        let client = setting.databases.another_client();
        client.intercept(|statement| {
            if statement.contains("insert into gatehouse_entry") {
                return Verdict::Fail(DatabaseError::Io("database is locked".to_owned()));
            }
            Verdict::Proceed
        });
        setting.instance_of(client)
    };
    let refused = instance.commit(vec![], vec![put("a", "2")]);
    let Err(CommitError::Failed(StoreError::Unavailable(why))) = refused else {
        panic!("{refused:?}");
    };
    assert!(why.contains("end what has the file open"), "{why}");
}

/// An instance whose commits find the database locked, each after so many seconds, so often; and how often it has asked.
fn locked_out(setting: &Setting, seconds: u64, times: usize) -> (Instance, Arc<AtomicUsize>) {
    let client = setting.databases.another_client();
    let (time, asked) = (setting.time.0.clone(), Arc::new(AtomicUsize::new(0)));
    let counted = asked.clone();
    client.intercept(move |statement| {
        let is_commit = statement.contains("insert into gatehouse_entry");
        if is_commit && counted.fetch_add(1, Ordering::Relaxed) < times {
            time.advance(Duration::from_secs(seconds));
            return Verdict::Fail(DatabaseError::Io("database is locked".to_owned()));
        }
        Verdict::Proceed
    });
    (setting.instance_of(client), asked)
}

#[test]
fn a_lock_that_is_held_is_waited_for_until_ten_seconds_have_passed() {
    for (seconds, tries) in [(4, 3), (5, 2), (9, 2), (10, 1), (60, 1)] {
        let setting = Setting::new();
        setting.instance().commit(vec![], vec![]).unwrap();
        let (instance, asked) = locked_out(&setting, seconds, usize::MAX);
        let refused = instance.commit(vec![], vec![put("a", "1")]);
        let told = format!("{refused:?}");
        assert!(told.contains("end what has the file open"), "{told}");
        assert_eq!(asked.load(Ordering::Relaxed), tries, "{seconds}");
        let passed = setting.time.0.now_milliseconds() - super::START;
        assert_eq!(passed, seconds * 1000 * tries as u64);
        assert_eq!(value(&setting.instance(), "a"), None);
    }
}

#[test]
fn a_lock_that_is_let_go_before_ten_seconds_have_passed_is_not_noticed() {
    for (seconds, times) in [(4, 2), (9, 1)] {
        let setting = Setting::new();
        let (instance, asked) = locked_out(&setting, seconds, times);
        instance.commit(vec![], vec![put("a", "1")]).unwrap();
        assert_eq!(asked.load(Ordering::Relaxed), times + 1);
        assert_eq!(value(&setting.instance(), "a").as_deref(), Some("1"));
    }
}

#[test]
fn whoever_is_cut_off_while_it_makes_the_tables_leaves_them_to_the_next() {
    // An opening takes about as many statements; past them nothing is cut off.
    for cut in 0..16 {
        let setting = Setting::new();
        let client = setting.databases.another_client();
        let done = AtomicUsize::new(0);
        client.intercept(move |_| {
            if done.fetch_add(1, Ordering::Relaxed) < cut {
                return Verdict::Proceed;
            }
            Verdict::Fail(DatabaseError::Io("gone".to_owned()))
        });
        let _ = setting
            .instance_of(client)
            .commit(vec![], vec![put("a", "1")]);
        let next = setting.instance();
        next.commit(vec![], vec![put("b", "2")]).unwrap();
        assert_eq!(value(&setting.instance(), "b").as_deref(), Some("2"));
    }
}

#[test]
fn many_first_instances_at_once_make_one_store() {
    let setting = Arc::new(Setting::new());
    let threads: Vec<_> = (0..8)
        .map(|number| {
            let setting = setting.clone();
            thread::spawn(move || {
                let instance = setting.instance();
                let change = put(&format!("k/{number}"), "v");
                instance.commit(vec![], vec![change]).unwrap();
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    let page = setting.instance().scan("k/", None, 100).unwrap();
    assert_eq!(page.items.len(), 8);
    assert_eq!(setting.count("select count(*) from gatehouse_keyring"), 1);
}

#[test]
fn a_connection_that_the_host_has_closed_is_opened_again() {
    let setting = Setting::new();
    let client = setting.databases.another_client();
    let asked = AtomicUsize::new(0);
    client.intercept(move |statement| {
        let is_first =
            statement.contains("case when") && asked.fetch_add(1, Ordering::Relaxed) == 0;
        if is_first {
            return Verdict::Fail(DatabaseError::InvalidConnection);
        }
        Verdict::Proceed
    });
    let instance = setting.instance_of(client);
    instance.commit(vec![], vec![put("a", "1")]).unwrap();
    assert_eq!(value(&instance, "a").as_deref(), Some("1"));
}

#[test]
fn of_instances_that_race_for_an_absent_key_one_wins_also_after_removals() {
    let setting = Arc::new(Setting::new());
    for round in 0..20 {
        let threads: Vec<_> = (0..4)
            .map(|number| {
                let setting = setting.clone();
                thread::spawn(move || {
                    let instance = setting.instance();
                    let change = put("a", &number.to_string());
                    instance.commit(vec![absent("a")], vec![change])
                })
            })
            .collect();
        let outcomes: Vec<_> = threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect();
        let won = outcomes.iter().filter(|outcome| outcome.is_ok()).count();
        assert_eq!(won, 1, "{round}: {outcomes:?}");
        let lost = Err(CommitError::Conflict("a".to_owned()));
        assert_eq!(outcomes.iter().filter(|it| **it == lost).count(), 3);
        let instance = setting.instance();
        instance.commit(vec![], vec![delete("a")]).unwrap();
        assert_eq!(value(&instance, "a"), None);
    }
}
