//! Hosts that fail, lie, or are not set up.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use gatehouse_ports::{CommitError, Store, StoreError};
use gatehouse_wasi_key_value::{AdapterHost, Call, Error, KeyValue, Operation, Verdict};

use crate::setting::{
    HEAD, Instance, LABEL, SEAL_KEY, Setting, absent, apart, fill, large, put, value,
};

fn unavailable<T: std::fmt::Debug>(outcome: Result<T, StoreError>) -> String {
    match outcome {
        Err(StoreError::Unavailable(why)) => why,
        other => panic!("{other:?}"),
    }
}

fn refusal(instance: &Instance) -> String {
    let read = unavailable(instance.get(&["a"]));
    assert_eq!(unavailable(instance.scan("", None, 1).map(drop)), read);
    let Err(CommitError::Failed(written)) = instance.commit(vec![], vec![put("a", "x")]) else {
        panic!("a commit was not refused");
    };
    assert_eq!(unavailable(Err::<(), _>(written)), read);
    read
}

fn with_seal_key(setting: &Setting, answer: Result<Option<&str>, &str>) -> Instance {
    let answer = answer
        .map(|text| text.map(str::to_owned))
        .map_err(str::to_owned);
    setting.instance_at(AdapterHost::answering(
        setting.stores.another_client(),
        answer,
    ))
}

#[test]
fn k2_without_a_seal_key_the_store_is_sealed_empty_or_not() {
    let setting = Setting::new();
    for _ in 0..2 {
        for missing in [None, Some(""), Some(" \n")] {
            let instance = with_seal_key(&setting, Ok(missing));
            assert_eq!(instance.get(&["a"]), Err(StoreError::Sealed));
            assert_eq!(instance.scan("", None, 1), Err(StoreError::Sealed));
            let outcome = instance.commit(vec![absent("a")], vec![put("b", "1")]);
            assert_eq!(outcome, Err(CommitError::Failed(StoreError::Sealed)));
        }
        setting
            .instance()
            .commit(vec![], vec![put("a", "1")])
            .unwrap();
    }
    assert_eq!(setting.contents().len(), 1);
}

#[test]
fn k2_another_seal_key_opens_nothing_and_overwrites_nothing() {
    let setting = Setting::new();
    setting
        .instance()
        .commit(vec![], vec![put("a", "1")])
        .unwrap();
    let other = "/wECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
    let before = setting.stores.stored_keys(LABEL);
    let why = refusal(&with_seal_key(&setting, Ok(Some(other))));
    assert!(
        why.contains("seal_key") && why.contains("first start"),
        "{why}"
    );
    assert!(!why.contains(other));
    assert_eq!(setting.stores.stored_keys(LABEL), before);
    assert_eq!(value(&setting.instance(), "a").as_deref(), Some("1"));
}

#[test]
fn a_seal_key_that_is_none_is_said_to_be_so_without_repeating_it() {
    let setting = Setting::new();
    for text in [
        "canary",
        "Y2FuYXJ5",
        "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=",
    ] {
        let why = refusal(&with_seal_key(&setting, Ok(Some(text))));
        assert!(why.contains("seal_key") && !why.contains(text), "{why}");
    }
    let why = refusal(&with_seal_key(&setting, Err("the provider is away")));
    assert!(
        why.contains("seal_key") && why.contains("the provider is away"),
        "{why}"
    );
    assert_eq!(
        value(&with_seal_key(&setting, Ok(Some(SEAL_KEY))), "a"),
        None
    );
}

#[test]
fn a_label_that_is_not_declared_or_has_no_store_is_named_with_its_cure() {
    let setting = Setting::new();
    let denied = setting.instance_of(setting.stores.client_with(&["orgs"]));
    let why = refusal(&denied);
    assert!(why.contains("\"access\" to key_value_stores"), "{why}");
    let without = setting.instance_of(setting.stores.client_without_store(LABEL));
    let why = refusal(&without);
    assert!(why.contains("[key_value_store.access]"), "{why}");
}

#[test]
fn a_head_that_is_no_counter_is_refused_and_left_alone() {
    let setting = Setting::new();
    // As a provider has it that keeps numbers as text.
    for head in [&b"0"[..], b"", b"123456789"] {
        setting.stores.store(LABEL, HEAD, head);
        let why = refusal(&setting.instance());
        assert!(why.contains("SQLite"), "{why}");
        assert_eq!(setting.stores.stored(LABEL, HEAD).as_deref(), Some(head));
    }
}

#[test]
fn a_head_that_names_nothing_is_damage() {
    let setting = Setting::new();
    setting.stores.store(LABEL, HEAD, b"whatever");
    let instance = setting.instance();
    assert!(matches!(instance.get(&["a"]), Err(StoreError::Corrupt(_))));
    let outcome = instance.commit(vec![], vec![put("a", "1")]);
    let damage = StoreError::Corrupt("a".to_owned());
    assert_eq!(outcome, Err(CommitError::Failed(damage)));
    assert_eq!(
        setting.stores.stored(LABEL, HEAD).as_deref(),
        Some(&b"whatever"[..])
    );
}

#[test]
fn a_root_of_a_newer_version_is_refused_and_not_overwritten() {
    let setting = Setting::new();
    setting
        .instance()
        .commit(vec![], vec![put("a", "1")])
        .unwrap();
    let names = setting.stores.stored_keys(LABEL);
    let root = names.iter().find(|name| name.contains("root")).unwrap();
    let mut stored = setting.stores.stored(LABEL, root).unwrap();
    stored[0] += 1;
    setting.stores.store(LABEL, root, &stored);
    let why = refusal(&setting.instance());
    assert!(why.contains("newer version"), "{why}");
    assert_eq!(setting.stores.stored_keys(LABEL), names);
}

/// Fails the n-th call by this client that `concerns`, once.
fn fail_once(
    client: &KeyValue,
    n: u64,
    verdict: Verdict,
    concerns: fn(&Call<'_>) -> bool,
) -> Arc<AtomicU64> {
    let calls = Arc::new(AtomicU64::new(0));
    let counted = calls.clone();
    client.intercept(move |call| {
        let is_it = concerns(call) && counted.fetch_add(1, Ordering::SeqCst) == n;
        if is_it {
            verdict.clone()
        } else {
            Verdict::Proceed
        }
    });
    calls
}

#[test]
fn s5_whatever_call_fails_the_commit_is_whole_or_absent_and_the_store_goes_on() {
    let lost = || Error::other("the disk is full");
    for verdict in [Verdict::Fail(lost()), Verdict::ProceedAndFail(lost())] {
        for n in 0.. {
            let setting = Setting::new();
            fill(&setting.instance());
            let before = setting.contents();
            let client = setting.stores.another_client();
            let calls = fail_once(&client, n, verdict.clone(), |_| true);
            let instance = setting.instance_of(client.clone());
            let outcome = instance.commit(vec![], vec![put("a", &large(1)), put("z", "1")]);
            client.intercept_nothing();

            let contents = setting.contents();
            let is_there = contents.len() == before.len() + 2;
            assert!(is_there || contents == before, "call {n}");
            match outcome {
                Ok(()) => assert!(is_there, "call {n}"),
                Err(CommitError::Failed(StoreError::Unavailable(why))) => {
                    assert!(why.contains("the disk is full"), "{why}");
                }
                other => panic!("{other:?}"),
            }
            instance.commit(vec![], vec![put("next", "1")]).unwrap();
            assert_eq!(value(&setting.instance(), "next").as_deref(), Some("1"));
            if calls.load(Ordering::SeqCst) <= n {
                break;
            }
        }
    }
}

#[test]
fn a_swap_that_happened_and_was_reported_as_failed_is_a_success() {
    let setting = Setting::new();
    let client = setting.stores.another_client();
    let lost = Verdict::ProceedAndFail(Error::other("the answer was lost"));
    fail_once(&client, 0, lost, |call| call.operation == Operation::Swap);
    let instance = setting.instance_of(client);
    assert_eq!(
        instance.commit(vec![absent("a")], vec![put("a", "1")]),
        Ok(())
    );
    assert_eq!(value(&setting.instance(), "a").as_deref(), Some("1"));
}

/// Commits by another instance until the first one is told that its swap, which has happened, was refused.
fn refuse_what_happened(rounds: u32) -> (Setting, Result<(), CommitError>) {
    let setting = Setting::new();
    let client = setting.stores.another_client();
    let other = setting.instance();
    let swapped = AtomicBool::new(false);
    client.intercept(move |call| match call.operation {
        Operation::Swap if !swapped.swap(true, Ordering::SeqCst) => Verdict::ProceedAndRefuse,
        Operation::Current if swapped.load(Ordering::SeqCst) => {
            for round in 0..rounds {
                let changes = vec![put("theirs", &round.to_string())];
                other.commit(vec![], changes).unwrap();
            }
            Verdict::Proceed
        }
        _ => Verdict::Proceed,
    });
    let outcome = setting
        .instance_of(client)
        .commit(vec![absent("a")], vec![put("a", &apart(1))]);
    (setting, outcome)
}

#[test]
fn s9_a_swap_that_happened_and_was_reported_as_refused_is_no_reason_to_delete_what_counts() {
    for rounds in [0, 1, 2, 3, 5, 100] {
        let (setting, outcome) = refuse_what_happened(rounds);
        match outcome {
            Ok(()) => {}
            Err(CommitError::Failed(StoreError::Unavailable(why))) => {
                assert!(why.contains("cannot be known"), "{why}");
            }
            other => panic!("{other:?} after {rounds} commits"),
        }
        assert_eq!(value(&setting.instance(), "a"), Some(apart(1)));
        setting
            .instance()
            .commit(vec![], vec![put("a", "2")])
            .unwrap();
        assert_eq!(value(&setting.instance(), "a").as_deref(), Some("2"));
    }
    assert_eq!(refuse_what_happened(0).1, Ok(()));
}

#[test]
fn s9_a_swap_that_failed_and_was_outrun_beyond_doubt_is_tried_again() {
    for reached in [true, false] {
        let setting = Setting::new();
        let client = setting.stores.another_client();
        let other = setting.instance();
        let has_failed = AtomicBool::new(false);
        client.intercept(move |call| {
            if call.operation != Operation::Swap || has_failed.swap(true, Ordering::SeqCst) {
                return Verdict::Proceed;
            }
            other.commit(vec![], vec![put("theirs", "1")]).unwrap();
            let lost = Error::other("the connection was lost");
            if reached {
                Verdict::ProceedAndFail(lost)
            } else {
                Verdict::Fail(lost)
            }
        });
        let outcome = setting
            .instance_of(client)
            .commit(vec![absent("a")], vec![put("a", "1")]);
        assert_eq!(outcome, Ok(()));
        assert_eq!(setting.contents().len(), 2);
    }
}

#[test]
fn s9_a_swap_that_was_refused_though_nobody_came_first_is_left_as_it_is() {
    let setting = Setting::new();
    let instance = setting.instance();
    instance.commit(vec![], vec![put("a", "1")]).unwrap();
    let before = setting.stores.stored(LABEL, HEAD).unwrap();
    let client = setting.stores.another_client();
    let stores = setting.stores.clone();
    // The swap is under way: its caller is told that it was refused, and looks at the head before it arrives.
    let under_way = Arc::new(Mutex::new(None));
    let swapped = under_way.clone();
    client.intercept(move |call| {
        let mut swapped = swapped.lock().unwrap();
        match (call.operation, call.value) {
            (Operation::Swap, Some(next)) => {
                *swapped = Some(next.to_vec());
                return Verdict::ProceedAndRefuse;
            }
            (Operation::Current, _) if swapped.is_some() => stores.store(LABEL, HEAD, &before),
            _ => {}
        }
        Verdict::Proceed
    });
    let late = setting.instance_of(client);
    let Err(CommitError::Failed(StoreError::Unavailable(why))) =
        late.commit(vec![], vec![put("a", "2")])
    else {
        panic!("the outcome was thought to be known");
    };
    assert!(why.contains("cannot be known"), "{why}");
    assert_eq!(value(&setting.instance(), "a").as_deref(), Some("1"));
    let next = under_way.lock().unwrap().take().unwrap();
    setting.stores.store(LABEL, HEAD, &next);
    assert_eq!(value(&setting.instance(), "a").as_deref(), Some("2"));
}

#[test]
fn garbage_in_place_of_any_answer_is_an_error_and_changes_nothing() {
    for garbage in [
        Some(b"garbage".to_vec()),
        Some(vec![1; 5000]),
        Some(vec![]),
        None,
    ] {
        for n in 0.. {
            let setting = Setting::new();
            let entries = fill(&setting.instance());
            let key = entries.keys().nth(500).unwrap();
            let client = setting.stores.another_client();
            let answer = Verdict::Answer(garbage.clone());
            let calls = fail_once(&client, n, answer, |call| {
                matches!(call.operation, Operation::Get | Operation::Current)
            });
            let instance = setting.instance_of(client.clone());
            match instance.get(&[key]) {
                Ok(found) => {
                    // The head alone can deny, for one call, that there is anything.
                    let is_right = found[0]
                        .as_ref()
                        .is_some_and(|it| it.value == entries[key].as_bytes());
                    assert!(is_right || (n == 0 && garbage.is_none()), "answer {n}");
                }
                Err(StoreError::Corrupt(about)) => assert_eq!(about, *key),
                Err(StoreError::Unavailable(_)) => {}
                Err(error) => panic!("{error:?}"),
            }
            assert_eq!(client.misuses(), []);
            assert!(setting.contents() == entries);
            if calls.load(Ordering::SeqCst) <= n {
                break;
            }
        }
    }
}

#[test]
fn a_note_that_is_garbage_or_from_elsewhere_is_in_nobodys_way() {
    let setting = Setting::new();
    let instance = setting.instance();
    let notes = (0..8).map(|place| format!("gatehouse.access.records.attempt.{place}"));
    let notes: Vec<String> = notes.collect();
    for round in 0..40 {
        for name in &notes {
            let other = setting.stores.stored(LABEL, &notes[round % 8]);
            let other = other.filter(|_| round % 2 == 0);
            let stored = other.unwrap_or_else(|| b"garbage".to_vec());
            setting.stores.store(LABEL, name, &stored);
        }
        let changes = vec![put("a", &round.to_string())];
        instance.commit(vec![], changes).unwrap();
        assert_eq!(value(&setting.instance(), "a"), Some(round.to_string()));
    }
}

#[test]
fn a_text_of_the_host_is_repeated_only_in_part() {
    let setting = Setting::new();
    let client = setting.stores.another_client();
    client.intercept(|_| Verdict::Fail(Error::Other("é".repeat(10_000))));
    let why = refusal(&setting.instance_of(client));
    assert!(why.len() < 300, "{} bytes", why.len());
}
