//! Order, prefixes, pages.

use crate::subject::{Subject, keys, put};

/// Keys at the edges of the order, in byte order.
const EDGES: [&str; 12] = [
    "!", "-", "/", "a", "a!", "a/", "a//", "a/b", "a0", "a~", "b", "~",
];

async fn with_keys(subject: &Subject, keys: &[&str]) {
    // In reverse, so that the order of writing is not the order of reading.
    for key in keys.iter().rev() {
        let change = put(key, key);
        subject.store().commit(vec![], vec![change]).await.unwrap();
    }
}

async fn keys_come_in_byte_order(subject: Subject) {
    with_keys(&subject, &EDGES).await;
    assert_eq!(keys(&subject.store(), "", 1000).await, EDGES);
}

async fn every_prefix_matches_exactly_what_starts_with_it(subject: Subject) {
    with_keys(&subject, &EDGES).await;
    for prefix in EDGES.into_iter().chain(["", "a/b/", "c", "~~", " ".trim()]) {
        let mut expected = EDGES.to_vec();
        expected.retain(|key| key.starts_with(prefix));
        assert_eq!(keys(&subject.store(), prefix, 1000).await, expected);
    }
}

async fn a_prefix_of_the_highest_characters_has_an_end(subject: Subject) {
    let longest = "~".repeat(512);
    with_keys(&subject, &["}~", "~", "~~", &longest]).await;
    let store = subject.store();
    assert_eq!(keys(&store, "~", 1).await, ["~", "~~", &longest]);
    assert_eq!(keys(&store, "~~", 10).await, ["~~", &longest]);
    assert_eq!(keys(&store, &longest, 10).await, [longest.as_str()]);
    let beyond = store.scan("", Some(&longest), 10).await.unwrap();
    assert!(beyond.items.is_empty() && !beyond.more);
}

async fn after_is_excluded_and_need_not_exist_nor_match(subject: Subject) {
    with_keys(&subject, &EDGES).await;
    let store = subject.store();
    for after in EDGES.into_iter().chain(["\"", "a.", "a/a", "c", "~~"]) {
        for prefix in ["", "a", "a/", "b"] {
            let page = store.scan(prefix, Some(after), 1000).await.unwrap();
            let found: Vec<_> = page.items.iter().map(|item| item.key.as_str()).collect();
            let mut expected = EDGES.to_vec();
            expected.retain(|key| key.starts_with(prefix) && *key > after);
            assert_eq!(found, expected, "{prefix} after {after}");
        }
    }
}

async fn pages_of_any_size_add_up_and_only_the_last_has_no_more(subject: Subject) {
    with_keys(&subject, &EDGES).await;
    let store = subject.store();
    for limit in 1..=13 {
        assert_eq!(keys(&store, "", limit).await, EDGES);
        let page = store.scan("", None, limit).await.unwrap();
        assert_eq!(page.items.len(), EDGES.len().min(limit as usize));
        assert_eq!(page.more, (limit as usize) < EDGES.len());
    }
}

async fn items_carry_the_values_and_versions_that_get_returns(subject: Subject) {
    with_keys(&subject, &EDGES).await;
    let store = subject.store();
    let page = store.scan("a", None, 1000).await.unwrap();
    for item in page.items {
        let entry = store.get(&[&item.key]).await.unwrap().remove(0).unwrap();
        assert_eq!(item.entry, entry);
        assert_eq!(entry.value, item.key.as_bytes());
    }
}

async fn s14_a_page_of_large_values_ends_early_and_says_so(subject: Subject) {
    let store = subject.store();
    let large = "x".repeat(1024 * 1024);
    let names: Vec<String> = (0..10).map(|number| format!("k{number}")).collect();
    for name in &names {
        store.commit(vec![], vec![put(name, &large)]).await.unwrap();
    }
    let page = store.scan("", None, 1000).await.unwrap();
    assert!(page.more && (1..5).contains(&page.items.len()));
    assert_eq!(keys(&store, "", 1000).await, names);
}

for_every_backend!(
    keys_come_in_byte_order,
    every_prefix_matches_exactly_what_starts_with_it,
    a_prefix_of_the_highest_characters_has_an_end,
    after_is_excluded_and_need_not_exist_nor_match,
    pages_of_any_size_add_up_and_only_the_last_has_no_more,
    items_carry_the_values_and_versions_that_get_returns,
    s14_a_page_of_large_values_ends_early_and_says_so,
);
