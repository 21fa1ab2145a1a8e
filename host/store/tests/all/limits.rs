//! Limits of requests to the store.

use gatehouse_ports::{CommitError, StoreError};
use gatehouse_store::PrivateStore;

use crate::subject::{Subject, absent, delete, keys, put};

/// Neither empty, nor too long, nor with a character outside 0x21 to 0x7e.
const MALFORMED: [&str; 7] = ["", "a b", "a\0", "a\n", "é", "\u{7f}", " "];

fn is_invalid<T>(outcome: Result<T, StoreError>) -> bool {
    matches!(outcome, Err(StoreError::Invalid(_)))
}

async fn refuses_commit(store: &PrivateStore, checks: usize, changes: usize) -> bool {
    let checks = (0..checks).map(|n| absent(&format!("c{n}"))).collect();
    let changes = (0..changes).map(|n| put(&format!("k{n}"), "")).collect();
    let outcome = store.commit(checks, changes).await;
    matches!(outcome, Err(CommitError::Failed(StoreError::Invalid(_))))
}

async fn malformed_keys_are_refused_everywhere_and_store_nothing(subject: Subject) {
    let store = subject.store();
    let long = "x".repeat(513);
    for key in MALFORMED.into_iter().chain([long.as_str()]) {
        assert!(is_invalid(store.get(&["fine", key]).await), "{key:?}");
        for (checks, changes) in [
            (vec![absent(key)], vec![put("fine", "")]),
            (vec![], vec![put("fine", ""), put(key, "")]),
            (vec![], vec![put("fine", ""), delete(key)]),
        ] {
            let outcome = store.commit(checks, changes).await;
            let refused = matches!(outcome, Err(CommitError::Failed(StoreError::Invalid(_))));
            assert!(refused, "{key:?}");
        }
        if !key.is_empty() {
            assert!(is_invalid(store.scan(key, None, 1).await), "{key:?}");
            assert!(is_invalid(store.scan("", Some(key), 1).await), "{key:?}");
        }
    }
    assert!(keys(&store, "", 1000).await.is_empty());
}

async fn keys_of_the_greatest_length_and_of_every_character_are_taken(subject: Subject) {
    let store = subject.store();
    let every: String = ('!'..='~').collect();
    let longest = "x".repeat(512);
    for key in [every.as_str(), longest.as_str(), "!"] {
        store
            .commit(vec![absent(key)], vec![put(key, "")])
            .await
            .unwrap();
        assert!(store.get(&[key]).await.unwrap()[0].is_some());
    }
}

async fn the_limit_of_a_scan_is_from_1_to_1000(subject: Subject) {
    let store = subject.store();
    for limit in [0, 1001, u32::MAX] {
        assert!(is_invalid(store.scan("", None, limit).await));
    }
    for limit in [1, 1000] {
        assert!(store.scan("", None, limit).await.is_ok());
    }
}

async fn at_most_1024_keys_checks_and_changes_go_into_one_call(subject: Subject) {
    let store = subject.store();
    let names: Vec<String> = (0..1025).map(|number| format!("k{number}")).collect();
    assert!(is_invalid(store.get(&names).await));
    assert!(store.get(&names[..1024]).await.is_ok());
    assert!(refuses_commit(&store, 1025, 1).await);
    assert!(refuses_commit(&store, 1, 1025).await);
    assert!(keys(&store, "", 1000).await.is_empty());
    assert!(!refuses_commit(&store, 1024, 1024).await);
}

async fn a_value_above_a_mebibyte_is_refused_with_the_whole_commit(subject: Subject) {
    let store = subject.store();
    let large = "x".repeat(1024 * 1024 + 1);
    let changes = vec![put("a", ""), put("b", &large)];
    let outcome = store.commit(vec![], changes).await;
    assert!(matches!(
        outcome,
        Err(CommitError::Failed(StoreError::Invalid(_)))
    ));
    assert!(keys(&store, "", 10).await.is_empty());
}

async fn a_key_changed_twice_in_one_commit_is_refused(subject: Subject) {
    let store = subject.store();
    for second in [put("a", "2"), delete("a")] {
        let outcome = store.commit(vec![], vec![put("a", "1"), second]).await;
        assert!(matches!(
            outcome,
            Err(CommitError::Failed(StoreError::Invalid(_)))
        ));
    }
    assert!(keys(&store, "", 10).await.is_empty());
}

async fn refusals_repeat_neither_keys_nor_values(subject: Subject) {
    let store = subject.store();
    let error = store.get(&["canary with spaces"]).await.unwrap_err();
    assert!(!error.to_string().contains("canary"));
    let changes = vec![put("canary", "1"), put("canary", "2")];
    let error = store.commit(vec![], changes).await.unwrap_err();
    assert!(!error.to_string().contains("canary"));
}

for_every_backend!(
    malformed_keys_are_refused_everywhere_and_store_nothing,
    keys_of_the_greatest_length_and_of_every_character_are_taken,
    the_limit_of_a_scan_is_from_1_to_1000,
    at_most_1024_keys_checks_and_changes_go_into_one_call,
    a_value_above_a_mebibyte_is_refused_with_the_whole_commit,
    a_key_changed_twice_in_one_commit_is_refused,
    refusals_repeat_neither_keys_nor_values,
);
