//! Values that instances share and can lose.

use std::time::Duration;

use gatehouse_ports::{Cache, Store as _, Version};
use gatehouse_wasi_key_value::{AdapterHost, Error, Verdict};

use crate::setting::{LABEL, Setting, large, put};

const HEAD: &str = "gatehouse.access.cache.head";

const LATER: u64 = 2_000_000;

fn cached(cache: &impl Cache, key: &str) -> Option<(Vec<u8>, Version)> {
    let entry = cache.get(key)?;
    Some((entry.value, entry.version))
}

#[test]
fn what_one_instance_keeps_a_fresh_one_finds_until_it_expires() {
    let setting = Setting::new();
    assert_eq!(cached(&setting.instance(), "certs"), None);
    assert!(setting.instance().swap("certs", None, b"keys", LATER));
    let (value, _) = cached(&setting.instance(), "certs").unwrap();
    assert_eq!(value, b"keys");
    setting
        .time
        .0
        .advance(Duration::from_millis(LATER - 1_000_000));
    assert_eq!(cached(&setting.instance(), "certs"), None);
}

#[test]
fn of_two_swaps_the_first_counts() {
    let setting = Setting::new();
    let (one, other) = (setting.instance(), setting.instance());
    assert!(one.swap("certs", None, b"1", LATER));
    assert!(!other.swap("certs", None, b"2", LATER));
    let (_, version) = cached(&one, "certs").unwrap();
    assert!(other.swap("certs", Some(version), b"2", LATER));
    assert!(!one.swap("certs", Some(version), b"3", LATER));
    assert_eq!(cached(&one, "certs").unwrap().0, b"2");
}

#[test]
fn cache_and_store_see_nothing_of_each_other() {
    let setting = Setting::new();
    let instance = setting.instance();
    assert!(instance.swap("a", None, b"cached", LATER));
    assert!(setting.contents().is_empty());
    instance.commit(vec![], vec![put("a", "stored")]).unwrap();
    assert_eq!(cached(&setting.instance(), "a").unwrap().0, b"cached");
    assert_eq!(setting.contents()["a"], "stored");
}

#[test]
fn large_values_come_back_and_those_above_the_limit_are_forgotten() {
    let setting = Setting::new();
    let value = large(1);
    assert!(setting.instance().swap("a", None, value.as_bytes(), LATER));
    assert_eq!(
        cached(&setting.instance(), "a").unwrap().0,
        value.as_bytes()
    );
    let beyond = vec![0; 1024 * 1024 + 1];
    assert!(setting.instance().swap("b", None, &beyond, LATER));
    assert_eq!(cached(&setting.instance(), "b"), None);
}

#[test]
fn a_host_that_fails_is_a_cache_that_forgets() {
    let setting = Setting::new();
    assert!(setting.instance().swap("a", None, b"1", LATER));
    let client = setting.stores.another_client();
    client.intercept(|_| Verdict::Fail(Error::other("out of order")));
    let failing = setting.instance_of(client);
    assert_eq!(cached(&failing, "a"), None);
    assert!(failing.swap("a", None, b"2", LATER));
    let sealed = setting.instance_at(AdapterHost::answering(setting.stores.clone(), Ok(None)));
    assert_eq!(cached(&sealed, "a"), None);
    assert_eq!(cached(&setting.instance(), "a").unwrap().0, b"1");
}

/// Keys that do not have room in one node.
const KEYS: usize = 6;

/// Shows `check` a cache for each of its records but the head, of which there is what `damage` makes of it, or nothing.
fn damaged(damage: impl Fn(&[u8]) -> Option<Vec<u8>>, check: impl Fn(&Setting, &str)) {
    let filled = || {
        let setting = Setting::new();
        let instance = setting.instance();
        for number in 0..KEYS {
            let value = "x".repeat(1400);
            assert!(instance.swap(&number.to_string(), None, value.as_bytes(), LATER));
        }
        setting
    };
    let pages = filled().records().len();
    assert!(pages > 5, "{pages} records");
    for place in 0..pages {
        let setting = filled();
        let name = setting.records().swap_remove(place);
        if name.ends_with(".head") {
            continue;
        }
        let stored = setting.stores.stored(LABEL, &name).unwrap();
        match damage(&stored) {
            Some(damaged) => setting.stores.store(LABEL, &name, &damaged),
            None => setting.stores.remove(LABEL, &name),
        }
        check(&setting, &name);
    }
}

/// Every key can be kept and found again, at the second swap at the latest.
fn assert_goes_on(setting: &Setting, name: &str) {
    for number in 0..KEYS {
        let key = number.to_string();
        let version = cached(&setting.instance(), &key).map(|(_, version)| version);
        if !setting.instance().swap(&key, version, b"2", LATER) {
            assert!(setting.instance().swap(&key, None, b"2", LATER));
        }
        let found = cached(&setting.instance(), &key).map(|(value, _)| value);
        assert_eq!(found.as_deref(), Some(&b"2"[..]), "{key} beside {name}");
    }
}

#[test]
fn a_cache_that_was_altered_cut_or_lost_begins_anew() {
    let altered = |stored: &[u8]| {
        let mut altered = stored.to_vec();
        *altered.last_mut().unwrap() ^= 1;
        Some(altered)
    };
    damaged(altered, assert_goes_on);
    damaged(
        |stored| Some(stored[..stored.len() / 2].to_vec()),
        assert_goes_on,
    );
    damaged(|_| None, assert_goes_on);
}

#[test]
fn a_cache_whose_head_names_nothing_begins_anew() {
    let setting = Setting::new();
    assert!(setting.instance().swap("a", None, b"1", LATER));
    setting.stores.store(LABEL, HEAD, b"whatever");
    assert_eq!(cached(&setting.instance(), "a"), None);
    assert!(setting.instance().swap("a", None, b"2", LATER));
    assert_eq!(cached(&setting.instance(), "a").unwrap().0, b"2");
}

#[test]
fn what_may_be_somebody_elses_is_forgotten_and_left_alone() {
    let setting = Setting::new();
    assert!(setting.instance().swap("a", None, b"1", LATER));
    // No counter, a newer layout, another keyring: no damage, or none that can be told from an operator's mistake.
    for name in setting.stores.stored_keys(LABEL) {
        let stored = setting.stores.stored(LABEL, &name).unwrap();
        setting.stores.store(LABEL, &name, b"garbage");
        assert_eq!(cached(&setting.instance(), "a"), None, "{name}");
        assert!(setting.instance().swap("a", None, b"2", LATER));
        let left = setting.stores.stored(LABEL, &name);
        assert_eq!(left.as_deref(), Some(&b"garbage"[..]), "{name}");
        setting.stores.store(LABEL, &name, &stored);
    }
    let other = AdapterHost::new(
        setting.stores.another_client(),
        "/wECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=",
    );
    assert!(setting.instance_at(other).swap("a", None, b"2", LATER));
    assert_eq!(cached(&setting.instance(), "a").unwrap().0, b"1");
}
