//! Entries that end.

use std::time::Duration;

use crate::subject::{
    Kind, START, Subject, absent, at_version, conflict, delete, keys, put, put_until, value,
    version,
};

async fn an_entry_is_there_until_the_millisecond_it_ends(subject: Subject) {
    let store = subject.store();
    let change = put_until("a", "1", Some(START + 5));
    store.commit(vec![], vec![change]).await.unwrap();
    subject.clock.advance(Duration::from_millis(4));
    assert_eq!(value(&store, "a").await.as_deref(), Some("1"));
    assert_eq!(keys(&store, "", 10).await, ["a"]);
    subject.clock.advance(Duration::from_millis(1));
    assert_eq!(value(&store, "a").await, None);
    assert!(keys(&store, "", 10).await.is_empty());
}

async fn an_entry_that_ended_before_it_was_written_is_never_seen(subject: Subject) {
    let store = subject.store();
    for end in [0, 1, START] {
        let change = put_until("a", "1", Some(end));
        store.commit(vec![], vec![change]).await.unwrap();
        assert_eq!(value(&store, "a").await, None);
    }
}

async fn checks_treat_an_expired_entry_as_absent(subject: Subject) {
    let store = subject.store();
    let change = put_until("a", "1", Some(START + 5));
    store.commit(vec![], vec![change]).await.unwrap();
    let seen = version(&store, "a").await;
    let live = store.commit(vec![absent("a")], vec![]).await;
    assert_eq!(live, conflict("a"));
    subject.clock.advance(Duration::from_millis(5));
    let ended = store.commit(vec![at_version("a", seen)], vec![]).await;
    assert_eq!(ended, conflict("a"));
    let created = store.commit(vec![absent("a")], vec![put("a", "2")]).await;
    assert_eq!(created, Ok(()));
    assert_eq!(value(&store, "a").await.as_deref(), Some("2"));
    assert_ne!(version(&store, "a").await, seen);
}

async fn a_later_put_decides_when_the_entry_ends(subject: Subject) {
    let store = subject.store();
    let soon = Some(START + 5);
    let changes = vec![
        put_until("stays", "", soon),
        put_until("longer", "", soon),
        put_until("shorter", "", Some(START + 1000)),
        put_until("returns", "", soon),
    ];
    store.commit(vec![], changes).await.unwrap();
    let changes = vec![
        put("stays", ""),
        put_until("longer", "", Some(START + 1000)),
        put_until("shorter", "", soon),
        delete("returns"),
    ];
    store.commit(vec![], changes).await.unwrap();
    store
        .commit(vec![], vec![put("returns", "")])
        .await
        .unwrap();
    subject.clock.advance(Duration::from_millis(5));
    // The commit that purges must not take more than has ended.
    store.commit(vec![], vec![put("other", "")]).await.unwrap();
    let left = keys(&store, "", 10).await;
    assert_eq!(left, ["longer", "other", "returns", "stays"]);
}

async fn expired_entries_do_not_count_towards_a_page(subject: Subject) {
    let store = subject.store();
    for number in 0..20 {
        let end = (number % 2 == 0).then_some(START + 5);
        let change = put_until(&format!("k{number:02}"), "", end);
        store.commit(vec![], vec![change]).await.unwrap();
    }
    subject.clock.advance(Duration::from_millis(5));
    let page = store.scan("", None, 10).await.unwrap();
    assert_eq!(page.items.len(), 10);
    assert!(!page.more);
}

async fn the_end_of_time_is_never_reached(subject: Subject) {
    let store = subject.store();
    let change = put_until("a", "1", Some(u64::MAX));
    store.commit(vec![], vec![change]).await.unwrap();
    subject.clock.advance(Duration::from_secs(1 << 40));
    assert_eq!(value(&store, "a").await.as_deref(), Some("1"));
}

async fn many_entries_that_end_at_once_all_go(subject: Subject) {
    let store = subject.store();
    let names: Vec<String> = (0..500).map(|number| format!("k/{number}")).collect();
    let ending = |name: &String| put_until(name, "", Some(START + 5));
    let changes = names.iter().map(ending).collect();
    store.commit(vec![], changes).await.unwrap();
    subject.clock.advance(Duration::from_millis(5));
    assert!(keys(&store, "", 1000).await.is_empty());
    for _ in 0..20 {
        store.commit(vec![], vec![put("other", "")]).await.unwrap();
        assert_eq!(keys(&store, "", 1000).await, ["other"]);
    }
}

async fn t6_what_has_expired_by_a_doubted_clock_is_refused_and_not_deleted(subject: Subject) {
    if matches!(
        subject.kind,
        Kind::Adapter | Kind::SqliteAdapter | Kind::PostgresAdapter
    ) {
        // A component has the time of its host, which does not tell it how certain that is (docs/contract/security.md, T6).
        return;
    }
    let store = subject.store();
    let names: Vec<String> = (0..50).map(|number| format!("k/{number}")).collect();
    let ending = |name: &String| put_until(name, "1", Some(START + 5));
    let changes = names.iter().map(ending).collect();
    store.commit(vec![], changes).await.unwrap();
    subject.clock.doubt();
    subject
        .clock
        .advance(Duration::from_secs(365 * 24 * 60 * 60));
    for _ in 0..100 {
        store.commit(vec![], vec![put("other", "")]).await.unwrap();
    }
    assert_eq!(keys(&store, "", 1000).await, ["other"]);

    // The clock was wrong, and what was refused by it is valid again.
    subject.clock.go_back();
    assert_eq!(keys(&store, "k/", 1000).await.len(), names.len());
    assert_eq!(value(&store, "k/7").await.as_deref(), Some("1"));

    // It is right, and what has expired is deleted: setting it back does not bring it to life. A database is told beside the commits.
    let rounds = if subject.kind == Kind::Postgres {
        100
    } else {
        1
    };
    let mut left = names;
    for _ in 0..rounds {
        subject.clock.doubt();
        subject.clock.advance(Duration::from_secs(60));
        subject.clock.be_certain();
        for _ in 0..100 {
            store.commit(vec![], vec![put("other", "")]).await.unwrap();
        }
        subject.clock.set_milliseconds(START);
        left = keys(&store, "k/", 1000).await;
        if left.is_empty() {
            break;
        }
    }
    assert_eq!(left, Vec::<String>::new());
}

for_every_backend!(
    t6_what_has_expired_by_a_doubted_clock_is_refused_and_not_deleted,
    an_entry_is_there_until_the_millisecond_it_ends,
    an_entry_that_ended_before_it_was_written_is_never_seen,
    checks_treat_an_expired_entry_as_absent,
    a_later_put_decides_when_the_entry_ends,
    expired_entries_do_not_count_towards_a_page,
    the_end_of_time_is_never_reached,
    many_entries_that_end_at_once_all_go,
);

/// How many entries a memory backend still holds, after some commits.
#[tokio::test]
async fn expired_entries_are_dropped_in_bounded_steps() {
    use gatehouse_ports::doubles::ManualClock;
    use gatehouse_store::{MemoryBackend, Namespace, PrivateStore};
    use std::sync::Arc;

    let clock = Arc::new(ManualClock::at_seconds(START / 1000));
    let backend = Arc::new(MemoryBackend::new(clock.clone()));
    let store = PrivateStore::new(backend.clone(), Namespace::Access);
    let ending = |number| put_until(&format!("k/{number}"), "", Some(START + 5));
    let changes = (0..500).map(ending).collect();
    store.commit(vec![], changes).await.unwrap();
    clock.advance(Duration::from_millis(5));
    let mut held = backend.held_entries();
    while held > 1 {
        store.commit(vec![], vec![put("other", "")]).await.unwrap();
        let dropped = held.saturating_sub(backend.held_entries());
        assert!((1..100).contains(&dropped), "{dropped} dropped at once");
        held = backend.held_entries();
    }
}
