//! Several instances on one bucket.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use gatehouse_ports::{Clock, CommitError, OsRandom, Store, StoreError, SystemClock};
use gatehouse_storage_adapter::{Adapter, MAXIMUM_ATTEMPTS};
use gatehouse_wasi_key_value::{AdapterHost, KeyValue, Operation, Verdict};

use crate::setting::{
    Instance, LABEL, SEAL_KEY, Setting, absent, at_version, delete, fill, put, put_until, value,
};
use crate::stage;

/// Lets `act` happen once, right before the first call of `operation` by this client.
fn before_first(client: &KeyValue, operation: Operation, act: impl Fn() + Send + Sync + 'static) {
    let done = AtomicBool::new(false);
    client.intercept(move |call| {
        if call.operation == operation && !done.swap(true, Ordering::SeqCst) {
            act();
        }
        Verdict::Proceed
    });
}

const WRITES_AND_READS: [Operation; 5] = [
    Operation::Current,
    Operation::Increment,
    Operation::Get,
    Operation::SetMany,
    Operation::Swap,
];

#[test]
fn s6_of_two_creators_one_succeeds_wherever_the_other_comes_between() {
    for operation in WRITES_AND_READS {
        let setting = Setting::new();
        let client = setting.stores.another_client();
        let instance = setting.instance_of(client.clone());
        let other = setting.instance();
        let outcome = Arc::new(Mutex::new(None));
        let theirs = outcome.clone();
        before_first(&client, operation, move || {
            let created = other.commit(vec![absent("a")], vec![put("a", "theirs")]);
            *theirs.lock().unwrap() = Some(created);
        });
        let mine = instance.commit(vec![absent("a")], vec![put("a", "mine")]);
        let came_between = outcome.lock().unwrap().take();
        if came_between == Some(Ok(())) {
            assert_eq!(mine, Err(CommitError::Conflict("a".to_owned())));
            assert_eq!(value(&setting.instance(), "a").as_deref(), Some("theirs"));
        } else {
            // A first start reads no page.
            assert_eq!((came_between, operation), (None, Operation::Get));
            assert_eq!(mine, Ok(()));
        }
        assert_eq!(client.misuses(), []);
    }
}

#[test]
fn s5_both_commits_count_that_do_not_touch_each_other() {
    for operation in WRITES_AND_READS {
        let setting = Setting::new();
        fill(&setting.instance());
        let client = setting.stores.another_client();
        let instance = setting.instance_of(client.clone());
        let other = setting.instance();
        before_first(&client, operation, move || {
            other.commit(vec![], vec![put("theirs", "1")]).unwrap();
        });
        instance
            .commit(vec![absent("mine")], vec![put("mine", "1")])
            .unwrap();
        assert_eq!(value(&setting.instance(), "mine").as_deref(), Some("1"));
        let came_between = operation != Operation::Increment;
        assert_eq!(value(&setting.instance(), "theirs").is_some(), came_between);
        assert_eq!(client.misuses(), []);
    }
}

#[test]
fn s6_an_update_of_what_another_has_updated_conflicts_wherever_that_happens() {
    for operation in [Operation::Get, Operation::SetMany, Operation::Swap] {
        let setting = Setting::new();
        setting
            .instance()
            .commit(vec![], vec![put("a", "1")])
            .unwrap();
        let client = setting.stores.another_client();
        let instance = setting.instance_of(client.clone());
        let seen = setting
            .instance()
            .get(&["a"])
            .unwrap()
            .remove(0)
            .unwrap()
            .version;
        let other = setting.instance();
        before_first(&client, operation, move || {
            other
                .commit(vec![at_version("a", seen)], vec![put("a", "2")])
                .unwrap();
        });
        let outcome = instance.commit(vec![at_version("a", seen)], vec![put("a", "3")]);
        assert_eq!(
            outcome,
            Err(CommitError::Conflict("a".to_owned())),
            "{operation:?}"
        );
        assert_eq!(value(&setting.instance(), "a").as_deref(), Some("2"));
    }
}

/// Replaces every page of the store, so often that those of the state before are deleted.
fn clear_away(store: &Instance) {
    for round in 0..12 {
        let entries = store.scan("", None, 1000).unwrap().items;
        let changes = entries
            .iter()
            .map(|item| put(&item.key, &format!("{round}")))
            .collect();
        store.commit(vec![], changes).unwrap();
    }
}

#[test]
fn s5_a_reader_whose_pages_are_cleared_away_reads_the_next_state_whole() {
    let setting = Setting::new();
    let entries = fill(&setting.instance());
    for nth_read in 0..8 {
        let client = setting.stores.another_client();
        let instance = setting.instance_of(client.clone());
        let other = setting.instance();
        let reads = AtomicU32::new(0);
        client.intercept(move |call| {
            if call.operation == Operation::Get && reads.fetch_add(1, Ordering::SeqCst) == nth_read
            {
                clear_away(&other);
            }
            Verdict::Proceed
        });
        let page = instance.scan("", None, 1000).unwrap();
        assert_eq!(page.items.len(), entries.len());
        let mut values: Vec<_> = page.items.iter().map(|item| &item.entry.value).collect();
        values.dedup();
        assert!(values.len() == 1, "two states in one page");
    }
}

#[test]
fn s6_whoever_is_always_outrun_is_told_that_the_store_is_contended() {
    let setting = Setting::new();
    setting
        .instance()
        .commit(vec![], vec![put("a", "1")])
        .unwrap();
    let client = setting.stores.another_client();
    let instance = setting.instance_of(client.clone());
    let other = setting.instance();
    let rounds = Arc::new(AtomicU32::new(0));
    let counted = rounds.clone();
    client.intercept(move |call| {
        if call.operation == Operation::Swap {
            let round = counted.fetch_add(1, Ordering::SeqCst);
            other
                .commit(vec![], vec![put("theirs", &round.to_string())])
                .unwrap();
        }
        Verdict::Proceed
    });
    let stored = setting.records().len();
    let Err(CommitError::Failed(StoreError::Unavailable(why))) =
        instance.commit(vec![], vec![put("mine", "1")])
    else {
        panic!("the commit was not outrun");
    };
    assert!(why.contains("contended"), "{why}");
    assert_eq!(rounds.load(Ordering::SeqCst), MAXIMUM_ATTEMPTS);
    assert_eq!(value(&setting.instance(), "mine"), None);
    let left = setting.records().len();
    assert!(left <= stored + 8, "whoever loses leaves nothing behind");
}

#[test]
fn s6_whoever_sees_in_time_that_it_is_outrun_again_writes_nothing() {
    let setting = Setting::new();
    let (client, other) = (setting.stores.another_client(), setting.instance());
    let has_lost = AtomicBool::new(false);
    client.intercept(move |call| {
        let is_swap = call.operation == Operation::Swap;
        if is_swap {
            has_lost.store(true, Ordering::SeqCst);
        }
        if is_swap || call.operation == Operation::Current && has_lost.load(Ordering::SeqCst) {
            other.commit(vec![], vec![put("theirs", "1")]).unwrap();
        }
        Verdict::Proceed
    });
    let instance = setting.instance_of(client.clone());
    let outcome = instance.commit(vec![], vec![put("mine", "1")]);
    assert!(matches!(outcome, Err(CommitError::Failed(_))));
    let uses = client.take_uses();
    assert_eq!((uses.set_manys, uses.swaps), (1, 1));
}

#[test]
fn s6_of_64_instances_that_commit_beside_each_other_none_is_told_that_the_store_is_contended() {
    const ACTORS: usize = 64;
    const COMMITS: usize = 5;
    let setting = Setting::new();
    stage::play(&setting.stores, ACTORS, |number, store| {
        for round in 0..COMMITS {
            let change = put(&format!("own/{number}/{round}"), "1");
            store.commit(vec![], vec![change]).unwrap();
        }
    });
    assert_eq!(setting.contents().len(), ACTORS * COMMITS);
}

#[test]
fn s6_instances_on_threads_end_at_a_serial_order() {
    const INSTANCES: u32 = 6;
    const WINS: u32 = 15;
    let setting = Arc::new(Setting::new());
    let work = |number: u32| {
        let setting = setting.clone();
        thread::spawn(move || {
            // The time that passes: pauses follow how slow the machine is.
            let host = AdapterHost::new(setting.stores.another_client(), SEAL_KEY);
            let store = Adapter::new(host, LABEL, SystemClock, OsRandom);
            let mut written = Vec::new();
            while written.len() < WINS as usize {
                let entry = store.get(&["counter"]).unwrap().remove(0);
                let count = entry.as_ref().map_or(0, |entry| {
                    String::from_utf8_lossy(&entry.value)
                        .parse::<u32>()
                        .unwrap()
                });
                let check = entry.map_or(absent("counter"), |it| at_version("counter", it.version));
                let own = format!("own/{number}/{count}");
                let changes = vec![put("counter", &(count + 1).to_string()), put(&own, "")];
                match store.commit(vec![check], changes) {
                    Ok(()) => written.push(count + 1),
                    Err(CommitError::Conflict(key)) => assert_eq!(key, "counter"),
                    Err(error) => panic!("{error}"),
                }
            }
            written
        })
    };
    let threads: Vec<_> = (0..INSTANCES).map(work).collect();
    let mut written: Vec<u32> = Vec::new();
    for thread in threads {
        written.extend(thread.join().unwrap());
    }
    written.sort_unstable();
    let every_number_once: Vec<u32> = (1..=INSTANCES * WINS).collect();
    assert_eq!(written, every_number_once);
    // One more for the counter itself.
    assert_eq!(setting.contents().len() as u32, INSTANCES * WINS + 1);
}

#[test]
fn s5_readers_beside_writers_see_whole_commits_and_never_an_older_one() {
    let setting = Arc::new(Setting::new());
    let names = ["left", "middle", "right"];
    let all = move |number: u32| names.map(|name| put(name, &number.to_string())).to_vec();
    setting.instance().commit(vec![], all(0)).unwrap();
    let stop = Arc::new(AtomicBool::new(false));
    let reader = |_: u32| {
        let (setting, stop) = (setting.clone(), stop.clone());
        thread::spawn(move || {
            let store = setting.instance();
            let mut last = 0;
            while !stop.load(Ordering::SeqCst) {
                let entries = store.get(&names).unwrap();
                let numbers: Vec<u32> = entries
                    .into_iter()
                    .map(|entry| {
                        String::from_utf8(entry.unwrap().value)
                            .unwrap()
                            .parse()
                            .unwrap()
                    })
                    .collect();
                assert!(
                    numbers.windows(2).all(|pair| pair[0] == pair[1]),
                    "{numbers:?}"
                );
                assert!(numbers[0] >= last, "{} after {last}", numbers[0]);
                last = numbers[0];
            }
        })
    };
    let readers: Vec<_> = (0..3).map(reader).collect();
    let store = setting.instance();
    for number in 1..=120 {
        store.commit(vec![], all(number)).unwrap();
        // Linearizable: what is acknowledged is what every fresh instance reads.
        assert_eq!(value(&setting.instance(), "left"), Some(number.to_string()));
    }
    stop.store(true, Ordering::SeqCst);
    for reader in readers {
        reader.join().unwrap();
    }
}

#[test]
fn a_commit_that_changes_nothing_writes_nothing() {
    let setting = Setting::new();
    setting
        .instance()
        .commit(vec![], vec![put("a", "1")])
        .unwrap();
    let client = setting.stores.another_client();
    let instance = setting.instance_of(client.clone());
    client.stop_after_writes(0);
    assert_eq!(instance.commit(vec![absent("b")], vec![]), Ok(()));
    assert_eq!(instance.commit(vec![], vec![delete("b")]), Ok(()));
    assert!(!client.was_stopped());
}

#[test]
fn s9_an_entry_that_is_prolonged_in_time_is_never_read_as_absent() {
    let setting = Setting::new();
    let now = setting.time.now_milliseconds();
    let ends = now + 10;
    let writer = setting.instance();
    writer
        .commit(vec![], vec![put_until("a", "1", ends)])
        .unwrap();
    let client = setting.stores.another_client();
    let reader = setting.instance_of(client.clone());
    let time = setting.time.clone();
    // Between the head and the root that it names: the entry is prolonged, and its first end passes.
    before_first(&client, Operation::Get, move || {
        writer
            .commit(vec![], vec![put_until("a", "2", ends + 1000)])
            .unwrap();
        time.0.advance(Duration::from_millis(20));
    });
    // The head that was read names the first.
    assert_eq!(value(&reader, "a").as_deref(), Some("1"));
    assert_eq!(value(&reader, "a").as_deref(), Some("2"));
}

#[test]
fn a_read_past_what_has_expired_is_answered_at_the_first_attempt_beside_commits() {
    let setting = Setting::new();
    let ends = setting.time.now_milliseconds() + 10;
    let entries = vec![put("a", "1"), put_until("b", "1", ends), put("c", "1")];
    setting.instance().commit(vec![], entries).unwrap();
    setting.time.0.advance(Duration::from_millis(10));
    let client = setting.stores.another_client();
    let writer = setting.instance();
    client.intercept(move |call| {
        if call.operation == Operation::Get {
            writer.commit(vec![], vec![put("d", "1")]).unwrap();
            writer.commit(vec![], vec![delete("d")]).unwrap();
        }
        Verdict::Proceed
    });
    let looks = |read: &dyn Fn(&Instance)| {
        client.take_uses();
        read(&setting.instance_of(client.clone()));
        client.take_uses().currents
    };
    assert_eq!(looks(&|it| assert_eq!(value(it, "b"), None)), 1);
    let keys = |it: &Instance| {
        let items = it.scan("", None, 10).unwrap().items;
        let keys: Vec<String> = items.into_iter().map(|item| item.key).collect();
        assert_eq!(keys, ["a", "c"]);
    };
    assert_eq!(looks(&keys), 1);
}
