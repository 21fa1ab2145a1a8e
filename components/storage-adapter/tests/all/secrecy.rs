//! Secrets that the bucket does not show, and the effects of changes to its contents.

use gatehouse_ports::{Cache, CommitError, Store, StoreError};

use crate::setting::{HEAD, LABEL, Setting, fill, large, put, value};

fn is_corrupt(setting: &Setting, key: &str) -> bool {
    let instance = setting.instance();
    Store::get(&instance, &[key]) == Err(StoreError::Corrupt(key.to_owned()))
}

/// All names of records but that of the head.
fn pages(setting: &Setting) -> Vec<String> {
    let mut names = setting.records();
    names.retain(|name| name != HEAD);
    names
}

#[test]
fn k8_neither_keys_nor_values_show_in_the_bucket() {
    let setting = Setting::new();
    let instance = setting.instance();
    let canaries = (0..200).map(|n| put(&format!("canary/{n}"), "a canary that sings"));
    instance.commit(vec![], canaries.collect()).unwrap();
    let sings = "canary ".repeat(9000);
    instance
        .commit(vec![], vec![put("canary", &sings)])
        .unwrap();
    Cache::swap(&instance, "canary", None, b"a canary that sings", u64::MAX);
    let names = setting.stores.stored_keys(LABEL);
    assert!(names.len() > 5);
    for name in names {
        let stored = setting.stores.stored(LABEL, &name).unwrap();
        assert!(!name.contains("canary"));
        assert!(
            !stored.windows(6).any(|window| window == b"canary"),
            "{name}"
        );
        assert!(name.len() <= 80 && name.bytes().all(|it| it.is_ascii_graphic()));
        assert!(!name.contains(['/', '\\', '?', '#']), "{name}");
    }
}

#[test]
fn k2_the_seal_key_does_not_show_in_the_bucket() {
    let setting = Setting::new();
    fill(&setting.instance());
    let key: Vec<u8> = (0..32).collect();
    for name in pages(&setting) {
        let stored = setting.stores.stored(LABEL, &name).unwrap();
        assert!(!stored.windows(8).any(|window| key.starts_with(window)));
    }
}

#[test]
fn k1_a_bit_flipped_in_the_root_is_reported_and_nothing_is_overwritten() {
    let setting = Setting::new();
    setting
        .instance()
        .commit(vec![], vec![put("a", "1")])
        .unwrap();
    let root = pages(&setting).remove(0);
    let stored = setting.stores.stored(LABEL, &root).unwrap();
    let head = setting.stores.stored(LABEL, HEAD);
    for byte in 0..stored.len() {
        let mut altered = stored.clone();
        altered[byte] ^= 1 << (byte % 8);
        setting.stores.store(LABEL, &root, &altered);
        let instance = setting.instance();
        assert!(Store::get(&instance, &["a"]).is_err(), "byte {byte}");
        let outcome = instance.commit(vec![], vec![put("a", "2")]);
        assert!(
            matches!(outcome, Err(CommitError::Failed(_))),
            "byte {byte}"
        );
        assert_eq!(setting.stores.stored(LABEL, HEAD), head);
    }
    setting.stores.store(LABEL, &root, &stored);
    assert_eq!(value(&setting.instance(), "a").as_deref(), Some("1"));
}

#[test]
fn k1_a_bit_flipped_in_any_page_is_reported_with_the_key() {
    let setting = Setting::new();
    let entries = fill(&setting.instance());
    setting
        .instance()
        .commit(vec![], vec![put("large", &large(1))])
        .unwrap();
    for name in pages(&setting) {
        let stored = setting.stores.stored(LABEL, &name).unwrap();
        let mut altered = stored.clone();
        *altered.last_mut().unwrap() ^= 1;
        setting.stores.store(LABEL, &name, &altered);
        let keys = entries.keys().map(String::as_str).chain(["large"]);
        let instance = setting.instance();
        for key in keys {
            match Store::get(&instance, &[key]) {
                Ok(found) => assert!(found[0].is_some(), "{key}"),
                Err(error) => assert_eq!(error, StoreError::Corrupt(key.to_owned())),
            }
        }
        setting.stores.store(LABEL, &name, &stored);
    }
    assert_eq!(setting.contents().len(), entries.len() + 1);
}

#[test]
fn k1_pages_exchanged_moved_or_missing_are_reported_with_the_key() {
    let setting = Setting::new();
    let entries = fill(&setting.instance());
    let mut leaves = pages(&setting);
    leaves.retain(|name| name.contains(".page."));
    let content = |name: &str| setting.stores.stored(LABEL, name).unwrap();
    let (one, other) = (content(&leaves[0]), content(&leaves[1]));
    setting.stores.store(LABEL, &leaves[0], &other);
    setting.stores.store(LABEL, &leaves[1], &one);
    let broken = || {
        entries
            .keys()
            .filter(|key| is_corrupt(&setting, key))
            .count()
    };
    let exchanged = broken();
    assert!(exchanged > 0);
    setting.stores.store(LABEL, &leaves[0], &one);
    setting.stores.store(LABEL, &leaves[1], &other);
    setting.stores.remove(LABEL, &leaves[0]);
    assert!(broken() > 0);
    setting.stores.store(LABEL, &leaves[0], &one);
    assert_eq!(broken(), 0);
}

#[test]
fn k1_a_root_moved_from_another_store_does_not_open() {
    let setting = Setting::new();
    setting
        .instance()
        .commit(vec![], vec![put("a", "1")])
        .unwrap();
    let root = pages(&setting).remove(0);
    let stored = setting.stores.stored(LABEL, &root).unwrap();
    let head = setting.stores.stored(LABEL, HEAD).unwrap();

    // The same name, keys and seal key, and yet it was sealed for another label.
    let elsewhere = Setting::new();
    elsewhere
        .stores
        .store("orgs", &root.replace(LABEL, "orgs"), &stored);
    elsewhere
        .stores
        .store("orgs", &HEAD.replace(LABEL, "orgs"), &head);
    let host = gatehouse_wasi_key_value::AdapterHost::new(
        elsewhere.stores.clone(),
        crate::setting::SEAL_KEY,
    );
    let orgs = gatehouse_storage_adapter::Adapter::new(
        host,
        "orgs",
        elsewhere.time.clone(),
        gatehouse_ports::OsRandom,
    );
    assert!(matches!(
        Store::get(&orgs, &["a"]),
        Err(StoreError::Corrupt(_))
    ));
}

#[test]
fn k1_the_cache_opens_no_root_of_the_records() {
    let setting = Setting::new();
    setting
        .instance()
        .commit(vec![], vec![put("a", "1")])
        .unwrap();
    for name in setting.stores.stored_keys(LABEL) {
        let stored = setting.stores.stored(LABEL, &name).unwrap();
        setting
            .stores
            .store(LABEL, &name.replace("records", "cache"), &stored);
    }
    assert!(Cache::get(&setting.instance(), "a").is_none());
}

#[test]
fn a_head_put_back_shows_an_older_state_which_nobody_can_notice() {
    let setting = Setting::new();
    let instance = setting.instance();
    instance.commit(vec![], vec![put("a", "1")]).unwrap();
    let head = setting.stores.stored(LABEL, HEAD).unwrap();
    instance.commit(vec![], vec![put("a", "2")]).unwrap();
    setting.stores.store(LABEL, HEAD, &head);
    assert_eq!(value(&setting.instance(), "a").as_deref(), Some("1"));
}
