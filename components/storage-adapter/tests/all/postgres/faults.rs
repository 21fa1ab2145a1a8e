//! Connections that end at the wrong moment, and instances that begin at the same one.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::Duration;

use gatehouse_ports::{Clock as _, CommitError, Store as _};
use gatehouse_spin_postgres::{AdapterHost, Pools, Verdict};
use gatehouse_storage_adapter::postgres::{Database as _, DatabaseError, Host as _};

use super::Setting;
use crate::setting::{SEAL_KEY, absent, delete, put, value};

const ENTRIES: &str = "select count(*) from gatehouse_spin.entry";

/// Pools that decide once about a statement with this text, the `nth` of them.
fn once(text: &'static str, nth: usize, verdict: Verdict) -> Pools {
    let pools = Pools::default();
    let seen = AtomicUsize::new(0);
    pools.intercept(move |statement| {
        if statement.contains(text) && seen.fetch_add(1, Ordering::Relaxed) == nth {
            verdict.clone()
        } else {
            Verdict::Proceed
        }
    });
    pools
}

fn refused(code: &str) -> Verdict {
    Verdict::Fail(DatabaseError::Refused {
        code: code.to_owned(),
        message: "as the test wants it".to_owned(),
    })
}

#[test]
fn a_commit_whose_answer_was_lost_knows_its_outcome_and_is_applied_once() {
    let ended = "57P01";
    for verdict in [
        Verdict::LoseAnswer,
        Verdict::Fail(DatabaseError::Lost),
        refused(ended),
    ] {
        let setting = Setting::new();
        let instance = setting.instance_of(once(
            "select gatehouse_spin.commit_entry",
            0,
            verdict.clone(),
        ));
        let outcome = instance.commit(vec![absent("a")], vec![put("a", "1"), put("b", "2")]);
        assert_eq!(outcome, Ok(()), "{verdict:?}");
        assert_eq!(value(&setting.instance(), "a").as_deref(), Some("1"));
        assert_eq!(setting.count(ENTRIES), 2);
    }
}

#[test]
fn a_commit_whose_outcome_cannot_be_found_out_says_so_within_its_patience() {
    let setting = Setting::new();
    setting.instance().commit(vec![], vec![]).unwrap();
    let pools = Pools::default();
    let time = setting.time.0.clone();
    pools.intercept(move |statement| {
        let asks = statement.contains("gatehouse_spin.outcome (version");
        if asks && !statement.contains("create") {
            // A database that takes as long as it may before it is known to be away.
            time.advance(Duration::from_secs(6));
            return Verdict::Fail(DatabaseError::Unreachable);
        }
        match statement.contains("select gatehouse_spin.commit_entry") {
            true => Verdict::LoseAnswer,
            false => Verdict::Proceed,
        }
    });
    let outcome = setting
        .instance_of(pools)
        .commit(vec![], vec![put("a", "1")]);
    let told = format!("{outcome:?}");
    assert!(told.contains("read before you repeat"), "{told}");
    let passed = setting.time.0.now_milliseconds() - super::START;
    assert_eq!(passed, 12_000, "it was asked twice");
    // It had been applied, as the text leaves open.
    assert_eq!(value(&setting.instance(), "a").as_deref(), Some("1"));
}

#[test]
fn a_commit_that_was_given_up_is_not_applied_when_it_arrives_after_all() {
    let setting = Setting::new();
    let instance = setting.instance();
    instance.commit(vec![], vec![put("a", "1")]).unwrap();
    setting.ask("insert into gatehouse_spin.outcome (version, abandoned) values (7, true)");
    let late = "select gatehouse_spin.commit_entry('access', 0, array[]::text[], array[]::int8[], array['late'], 'x'::bytea, array[1], array[null::int8], 7)";
    let host = AdapterHost::new(Pools::default(), Some(&setting.address), SEAL_KEY);
    let outcome = host.connect().unwrap().query(late, &[]);
    assert!(matches!(outcome, Err(DatabaseError::Refused { code, .. }) if code == "23505"));
    assert_eq!(setting.count(ENTRIES), 1);
}

#[test]
fn a_read_whose_connection_was_lost_is_made_again() {
    let setting = Setting::new();
    setting
        .instance()
        .commit(vec![], vec![put("a", "1")])
        .unwrap();
    for verdict in [Verdict::LoseAnswer, refused("57P01"), refused("40001")] {
        let instance = setting.instance_of(once("from gatehouse_spin.find_entry($1", 0, verdict));
        assert_eq!(value(&instance, "a").as_deref(), Some("1"));
    }
}

#[test]
fn a_commit_that_others_are_in_the_way_of_is_made_again_and_a_full_disk_is_told() {
    for code in ["40001", "40P01", "55P03"] {
        let setting = Setting::new();
        let instance =
            setting.instance_of(once("select gatehouse_spin.commit_entry", 0, refused(code)));
        assert_eq!(instance.commit(vec![], vec![put("a", "1")]), Ok(()));
    }
    let setting = Setting::new();
    let instance = setting.instance_of(once(
        "select gatehouse_spin.commit_entry",
        0,
        refused("53100"),
    ));
    let outcome = instance.commit(vec![], vec![put("a", "1")]);
    let told = format!("{outcome:?}");
    assert!(told.contains("make room"), "{told}");
    assert_eq!(setting.count(ENTRIES), 0);
    assert_eq!(instance.commit(vec![], vec![put("a", "1")]), Ok(()));
}

#[test]
fn instances_that_begin_at_once_make_one_store() {
    const INSTANCES: usize = 8;
    let setting = Arc::new(Setting::new());
    let start = Arc::new(Barrier::new(INSTANCES));
    let begin = |number: usize| {
        let (setting, start) = (setting.clone(), start.clone());
        thread::spawn(move || {
            let instance = setting.instance();
            start.wait();
            instance.commit(
                vec![absent("first")],
                vec![put("first", &number.to_string())],
            )
        })
    };
    let threads: Vec<_> = (0..INSTANCES).map(begin).collect();
    let outcomes: Vec<_> = threads
        .into_iter()
        .map(|thread| thread.join().unwrap())
        .collect();
    let first = outcomes.iter().filter(|outcome| outcome.is_ok()).count();
    assert_eq!(first, 1, "{outcomes:?}");
    let conflict = Err(CommitError::Conflict("first".to_owned()));
    assert!(
        outcomes
            .iter()
            .all(|outcome| outcome.is_ok() || *outcome == conflict),
        "{outcomes:?}"
    );
    assert_eq!(
        setting.count("select count(*) from gatehouse_spin.keyring"),
        1
    );
}

#[test]
fn more_keys_than_a_server_holds_locks_for_are_committed_at_once() {
    let setting = Setting::new();
    let instance = setting.instance();
    let keys: Vec<String> = (0..1000).map(|number| format!("{number:04}")).collect();
    let changes = keys.iter().map(|key| put(key, key)).collect();
    let checks = keys.iter().map(|key| absent(key)).collect();
    instance.commit(checks, changes).unwrap();
    let removed = keys.iter().map(|key| delete(key)).collect();
    instance.commit(vec![], removed).unwrap();
    assert_eq!(setting.count(ENTRIES), 0);
}

#[test]
fn more_instances_than_a_pool_has_connections_wait_for_each_other() {
    const INSTANCES: usize = 80;
    let setting = Arc::new(Setting::new());
    setting
        .instance()
        .commit(vec![], vec![put("a", "1")])
        .unwrap();
    let pools = Pools::default();
    // None keeps a connection, so those that are open at one time are more than the pool has.
    let instances: Vec<_> = (0..INSTANCES)
        .map(|_| setting.instance_of(pools.clone()))
        .collect();
    for instance in &instances {
        assert_eq!(value(instance, "a").as_deref(), Some("1"));
    }
}

#[test]
fn outcomes_and_what_has_expired_are_dropped() {
    let setting = Setting::new();
    let instance = setting.instance();
    let until = super::START + 1000;
    for number in 0..100 {
        let key = number.to_string();
        let change = crate::setting::put_until(&key, "1", until);
        instance.commit(vec![], vec![change]).unwrap();
    }
    setting.ask("update gatehouse_spin.outcome set at = at - interval '1 hour'");
    setting.time.0.set_milliseconds(until + 1);
    // One commit in 64 drops what is over: of so many none did once in 2^90.
    for number in 0..4_000 {
        let change = put("kept", &number.to_string());
        instance.commit(vec![], vec![change]).unwrap();
        if setting.count(ENTRIES) == 1 {
            break;
        }
    }
    assert_eq!(setting.count(ENTRIES), 1);
    let old =
        "select count(*) from gatehouse_spin.outcome where at < now() - interval '30 minutes'";
    assert_eq!(setting.count(old), 0);
}
