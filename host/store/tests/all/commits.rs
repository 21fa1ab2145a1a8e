//! Checks, changes, versions, isolation.

use gatehouse_store::Namespace;

use crate::subject::{Subject, absent, at_version, conflict, delete, keys, put, value, version};

async fn what_was_put_is_read_in_the_order_of_the_question(subject: Subject) {
    let store = subject.store();
    let changes = vec![put("a", "1"), put("b", ""), put("c/d", "3")];
    store.commit(vec![], changes).await.unwrap();
    let entries = store.get(&["c/d", "missing", "a", "b", "a"]).await.unwrap();
    let values: Vec<_> = entries
        .iter()
        .map(|entry| entry.as_ref().map(|entry| entry.value.as_slice()))
        .collect();
    let expected: [Option<&[u8]>; 5] = [Some(b"3"), None, Some(b"1"), Some(b""), Some(b"1")];
    assert_eq!(values, expected);
}

async fn an_empty_question_gets_an_empty_answer(subject: Subject) {
    let store = subject.store();
    assert_eq!(store.get::<&str>(&[]).await, Ok(vec![]));
    assert_eq!(store.commit(vec![], vec![]).await, Ok(()));
}

async fn a_put_replaces_and_a_delete_removes(subject: Subject) {
    let store = subject.store();
    store.commit(vec![], vec![put("a", "1")]).await.unwrap();
    store.commit(vec![], vec![put("a", "2")]).await.unwrap();
    assert_eq!(value(&store, "a").await.as_deref(), Some("2"));
    store.commit(vec![], vec![delete("a")]).await.unwrap();
    assert_eq!(value(&store, "a").await, None);
    assert_eq!(store.commit(vec![], vec![delete("a")]).await, Ok(()));
}

async fn s6_a_creation_succeeds_once(subject: Subject) {
    let store = subject.store();
    let create = |value| store.commit(vec![absent("a")], vec![put("a", value)]);
    assert_eq!(create("first").await, Ok(()));
    assert_eq!(create("second").await, conflict("a"));
    assert_eq!(value(&store, "a").await.as_deref(), Some("first"));
}

async fn s6_a_stale_write_fails(subject: Subject) {
    let store = subject.store();
    store.commit(vec![], vec![put("a", "1")]).await.unwrap();
    let seen = version(&store, "a").await;
    let update = |value| store.commit(vec![at_version("a", seen)], vec![put("a", value)]);
    assert_eq!(update("2").await, Ok(()));
    assert_eq!(update("3").await, conflict("a"));
    assert_eq!(value(&store, "a").await.as_deref(), Some("2"));
}

async fn a_version_check_of_an_absent_entry_fails(subject: Subject) {
    let store = subject.store();
    let check = at_version("a", 1);
    let outcome = store.commit(vec![check], vec![put("b", "1")]).await;
    assert_eq!(outcome, conflict("a"));
    assert_eq!(value(&store, "b").await, None);
}

async fn s5_a_failed_check_changes_nothing_and_names_the_first_that_failed(subject: Subject) {
    let store = subject.store();
    let changes = vec![put("a", "1"), put("b", "1")];
    store.commit(vec![], changes).await.unwrap();
    let checks = vec![absent("c"), absent("b"), absent("a")];
    let changes = vec![put("c", "2"), put("a", "2"), delete("b")];
    assert_eq!(store.commit(checks, changes).await, conflict("b"));
    assert_eq!(value(&store, "a").await.as_deref(), Some("1"));
    assert_eq!(value(&store, "b").await.as_deref(), Some("1"));
    assert_eq!(value(&store, "c").await, None);
}

async fn a_key_may_be_checked_often_and_need_not_be_changed(subject: Subject) {
    let store = subject.store();
    store.commit(vec![], vec![put("guard", "")]).await.unwrap();
    let seen = version(&store, "guard").await;
    let checks = || vec![at_version("guard", seen), at_version("guard", seen)];
    assert_eq!(store.commit(checks(), vec![]).await, Ok(()));
    assert_eq!(store.commit(checks(), vec![put("a", "1")]).await, Ok(()));
    assert_eq!(version(&store, "guard").await, seen);
}

async fn a_version_never_returns_even_after_a_delete_or_an_equal_put(subject: Subject) {
    let store = subject.store();
    let mut seen = Vec::new();
    for round in 0..50 {
        store.commit(vec![], vec![put("a", "same")]).await.unwrap();
        seen.push(version(&store, "a").await);
        if round % 3 == 0 {
            store.commit(vec![], vec![delete("a")]).await.unwrap();
        }
    }
    let distinct: std::collections::HashSet<_> = seen.iter().collect();
    assert_eq!(distinct.len(), seen.len());
}

async fn a_large_commit_applies_as_a_whole(subject: Subject) {
    let store = subject.store();
    let names: Vec<String> = (0..1024).map(|number| format!("k/{number:04}")).collect();
    let puts = |value| names.iter().map(|name| put(name, value)).collect();
    let checks = names.iter().map(|name| absent(name)).collect();
    store.commit(checks, puts("first")).await.unwrap();
    assert_eq!(keys(&store, "", 1000).await, names);

    let checks = names.iter().rev().map(|name| absent(name)).collect();
    assert_eq!(
        store.commit(checks, puts("second")).await,
        conflict("k/1023")
    );
    let entries = store.get(&names).await.unwrap();
    assert!(
        entries
            .into_iter()
            .all(|entry| entry.unwrap().value == b"first")
    );
}

async fn a_value_of_the_largest_size_comes_back(subject: Subject) {
    let store = subject.store();
    let largest = "x".repeat(1024 * 1024);
    store
        .commit(vec![], vec![put("a", &largest)])
        .await
        .unwrap();
    assert_eq!(value(&store, "a").await, Some(largest));
}

async fn namespaces_see_nothing_of_each_other(subject: Subject) {
    let namespaces = [Namespace::AuthMethod, Namespace::Access, Namespace::Orgs];
    for namespace in namespaces {
        let store = subject.store_of(namespace);
        let changes = vec![put("shared", namespace.label()), put(namespace.label(), "")];
        store.commit(vec![absent("shared")], changes).await.unwrap();
    }
    for namespace in namespaces {
        let store = subject.store_of(namespace);
        assert_eq!(
            value(&store, "shared").await.as_deref(),
            Some(namespace.label())
        );
        let mut own = vec![namespace.label().to_owned(), "shared".to_owned()];
        own.sort();
        assert_eq!(keys(&store, "", 10).await, own);
    }
    let orgs = subject.store_of(Namespace::Orgs);
    orgs.commit(vec![], vec![delete("shared"), delete("access")])
        .await
        .unwrap();
    assert_eq!(
        value(&subject.store(), "shared").await.as_deref(),
        Some("access")
    );
    assert_eq!(value(&subject.store(), "access").await.as_deref(), Some(""));
}

for_every_backend!(
    what_was_put_is_read_in_the_order_of_the_question,
    an_empty_question_gets_an_empty_answer,
    a_put_replaces_and_a_delete_removes,
    s6_a_creation_succeeds_once,
    s6_a_stale_write_fails,
    a_version_check_of_an_absent_entry_fails,
    s5_a_failed_check_changes_nothing_and_names_the_first_that_failed,
    a_key_may_be_checked_often_and_need_not_be_changed,
    a_version_never_returns_even_after_a_delete_or_an_equal_put,
    a_large_commit_applies_as_a_whole,
    a_value_of_the_largest_size_comes_back,
    namespaces_see_nothing_of_each_other,
);
