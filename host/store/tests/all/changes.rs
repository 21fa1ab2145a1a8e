//! Reading only what a reader does not hold any more.

use std::sync::Arc;
use std::time::Duration;

use gatehouse_ports::doubles::ManualClock;
use gatehouse_ports::{Difference, HeldKey, StoreError, Version};
use gatehouse_store::{Backend, MemoryBackend, Namespace, PrivateStore, SealedBackend};

use crate::subject::{START, Subject, delete, put, put_until, root_key, version};

fn held(key: &str, version: Version) -> HeldKey {
    HeldKey {
        key: key.to_owned(),
        version: Some(version),
    }
}

async fn difference(store: &PrivateStore, held: HeldKey) -> Difference {
    store.get_changed(&[held]).await.unwrap().remove(0)
}

fn text(difference: &Difference) -> Option<&[u8]> {
    match difference {
        Difference::Changed(entry) => Some(&entry.value),
        Difference::Absent | Difference::Unchanged => None,
    }
}

async fn what_a_reader_holds_is_left_out_and_nothing_else(subject: Subject) {
    let store = subject.store();
    let changes = vec![put("a", "1"), put("b", "2")];
    store.commit(vec![], changes).await.unwrap();
    let (a, b) = (version(&store, "a").await, version(&store, "b").await);
    let asked = [
        held("b", b),
        HeldKey::unknown("a"),
        HeldKey::unknown("missing"),
        held("missing", a),
        held("a", a),
        held("a", u64::MAX),
    ];
    // The second time a sealed store knows that they open.
    for _ in 0..3 {
        let found = store.get_changed(&asked).await.unwrap();
        assert_eq!(found[0], Difference::Unchanged);
        assert_eq!(text(&found[1]), Some(&b"1"[..]));
        assert_eq!(found[2], Difference::Absent);
        assert_eq!(found[3], Difference::Absent);
        assert_eq!(found[4], Difference::Unchanged);
        assert_eq!(found[5], found[1]);
    }
    assert_eq!(store.get_changed(&[]).await, Ok(vec![]));
}

async fn s7_a_commit_is_seen_by_whoever_holds_what_was_there_before(subject: Subject) {
    let store = subject.store();
    store.commit(vec![], vec![put("a", "1")]).await.unwrap();
    let first = version(&store, "a").await;
    for _ in 0..2 {
        let unchanged = difference(&store, held("a", first)).await;
        assert_eq!(unchanged, Difference::Unchanged);
    }
    store.commit(vec![], vec![put("a", "2")]).await.unwrap();
    let changed = difference(&store, held("a", first)).await;
    assert_eq!(text(&changed), Some(&b"2"[..]));

    store.commit(vec![], vec![delete("a")]).await.unwrap();
    assert_eq!(
        difference(&store, held("a", first)).await,
        Difference::Absent
    );

    // Equal to what was there once, and yet another state.
    store.commit(vec![], vec![put("a", "1")]).await.unwrap();
    let again = difference(&store, held("a", first)).await;
    assert_eq!(text(&again), Some(&b"1"[..]));
}

async fn an_entry_that_has_ended_is_absent_for_whoever_holds_it(subject: Subject) {
    let store = subject.store();
    let change = put_until("a", "1", Some(START + 5));
    store.commit(vec![], vec![change]).await.unwrap();
    let seen = version(&store, "a").await;
    for _ in 0..2 {
        let unchanged = difference(&store, held("a", seen)).await;
        assert_eq!(unchanged, Difference::Unchanged);
    }
    subject.clock.advance(Duration::from_millis(5));
    assert_eq!(
        difference(&store, held("a", seen)).await,
        Difference::Absent
    );
}

async fn a_version_of_one_namespace_says_nothing_in_another(subject: Subject) {
    let access = subject.store();
    access.commit(vec![], vec![put("a", "1")]).await.unwrap();
    let seen = version(&access, "a").await;
    for _ in 0..2 {
        difference(&access, held("a", seen)).await;
    }
    let orgs = subject.store_of(Namespace::Orgs);
    assert_eq!(difference(&orgs, held("a", seen)).await, Difference::Absent);
    orgs.commit(vec![], vec![put("a", "2")]).await.unwrap();
    let found = difference(&orgs, held("a", seen)).await;
    assert_eq!(text(&found), Some(&b"2"[..]));
}

async fn the_question_has_the_limits_of_a_get(subject: Subject) {
    let store = subject.store();
    let refused = |outcome| matches!(outcome, Err(StoreError::Invalid(_)));
    assert!(refused(store.get_changed(&[HeldKey::unknown("a b")]).await));
    let many = vec![HeldKey::unknown("a"); 1025];
    assert!(refused(store.get_changed(&many).await));
    assert!(store.get_changed(&many[..1024]).await.is_ok());
}

for_every_backend!(
    what_a_reader_holds_is_left_out_and_nothing_else,
    s7_a_commit_is_seen_by_whoever_holds_what_was_there_before,
    an_entry_that_has_ended_is_absent_for_whoever_holds_it,
    a_version_of_one_namespace_says_nothing_in_another,
    the_question_has_the_limits_of_a_get,
);

/// A sealed store above a backend whose clock stands still, as if an intruder had struck out there when records end.
async fn above_a_stopped_clock() -> (Arc<ManualClock>, Arc<SealedBackend<MemoryBackend>>) {
    let below = MemoryBackend::new(Arc::new(ManualClock::at_seconds(START / 1000)));
    let clock = Arc::new(ManualClock::at_seconds(START / 1000));
    let sealed = Arc::new(SealedBackend::new(below, clock.clone()));
    sealed.unseal(&root_key()).await.unwrap();
    (clock, sealed)
}

#[tokio::test]
async fn k1_a_backend_cannot_prolong_the_life_of_what_a_reader_holds() {
    let (clock, sealed) = above_a_stopped_clock().await;
    let store = PrivateStore::new(sealed, Namespace::Access);
    let change = put_until("a", "1", Some(START + 5));
    store.commit(vec![], vec![change]).await.unwrap();
    let seen = version(&store, "a").await;
    for _ in 0..2 {
        let unchanged = difference(&store, held("a", seen)).await;
        assert_eq!(unchanged, Difference::Unchanged);
    }
    clock.advance(Duration::from_millis(5));
    assert_eq!(
        difference(&store, held("a", seen)).await,
        Difference::Absent
    );
}

#[tokio::test]
async fn k2_a_sealed_store_does_not_even_say_that_nothing_has_changed() {
    let (_, sealed) = above_a_stopped_clock().await;
    let store = PrivateStore::new(sealed.clone(), Namespace::Access);
    store.commit(vec![], vec![put("a", "1")]).await.unwrap();
    let seen = version(&store, "a").await;
    for _ in 0..2 {
        difference(&store, held("a", seen)).await;
    }
    sealed.seal();
    let outcome = store.get_changed(&[held("a", seen)]).await;
    assert_eq!(outcome, Err(StoreError::Sealed));
}

#[tokio::test]
async fn k1_a_forged_record_is_found_by_whoever_holds_the_one_before() {
    let clock = Arc::new(ManualClock::at_seconds(START / 1000));
    let below = Arc::new(MemoryBackend::new(clock.clone()));
    let sealed = Arc::new(SealedBackend::new(below.clone(), clock));
    sealed.unseal(&root_key()).await.unwrap();
    let store = PrivateStore::new(sealed, Namespace::Access);
    store.commit(vec![], vec![put("a", "1")]).await.unwrap();
    let seen = version(&store, "a").await;
    for _ in 0..2 {
        difference(&store, held("a", seen)).await;
    }
    let forged = below.commit(Namespace::Access, vec![], vec![put("a", "forged")]);
    forged.await.unwrap();
    let outcome = store.get_changed(&[held("a", seen)]).await;
    assert_eq!(outcome, Err(StoreError::Corrupt("a".to_owned())));
}
