//! Stops between writes, and many callers at once.

use std::sync::Barrier;
use std::thread;

use gatehouse_ports::{CommitError, OsRandom, StoreError, SystemClock};

use super::*;

#[test]
fn a_replacement_or_revocation_that_is_cut_off_leaves_the_old_token_or_its_successor() {
    for revokes in [false, true] {
        for stop in 0..5 {
            let world = World::new();
            let store = world.store();
            let orgs = world.orgs(&store);
            let owner = of_organization(&create(&orgs, "acme"));
            let old = issue(&orgs, &owner, &TokenRequest::default());
            presented(&orgs, &old);
            let faulty = FaultyStore::stopping_after(&store, stop);
            let failing = world.orgs(&faulty);
            let new = if revokes {
                let _ = failing.revoke_token_of(&owner, &installation());
                None
            } else {
                let request = TokenRequest::default();
                failing.issue_token(&owner, &request, &installation()).ok()
            };
            let is_done = faulty.commits_left() < stop;
            assert_eq!(presented(&orgs, &old).is_none(), is_done, "stop {stop}");
            assert_eq!(new.is_some(), is_done && !revokes);
            let shown = orgs.token_of(&owner, &installation()).unwrap();
            let expected = match (&new, is_done) {
                (Some(new), _) => Some(new.token.id.clone()),
                (None, true) => None,
                (None, false) => Some(old.token.id.clone()),
            };
            assert_eq!(shown.map(|token| token.id), expected);
            let tokens = |key: &String| key.starts_with("token/");
            let count = store.keys().iter().filter(|key| tokens(key)).count();
            assert_eq!(count, usize::from(expected.is_some()));
            assert_eq!(token_keys(&store).is_empty(), expected.is_none());
        }
    }
}

#[test]
fn of_many_who_replace_one_token_at_once_exactly_one_is_left_with_a_good_one() {
    let store = MemoryStore::new(SystemClock);
    let orgs = Orgs::new(&store, SystemClock, OsRandom).with_edition(Edition::Hosted);
    let owner = of_organization(&create(&orgs, "acme"));
    let start = Barrier::new(6);
    let issued: Vec<IssuedToken> = thread::scope(|scope| {
        let workers: Vec<_> = (0..6)
            .map(|_| {
                let (orgs, start, owner) = (&orgs, &start, &owner);
                scope.spawn(move || {
                    start.wait();
                    issue(orgs, owner, &TokenRequest::default())
                })
            })
            .collect();
        let workers = workers.into_iter();
        workers.map(|worker| worker.join().unwrap()).collect()
    });
    let good = issued
        .iter()
        .filter(|token| presented(&orgs, token).is_some());
    assert_eq!(good.count(), 1);
    assert_eq!(orgs.tokens_of(&owner).unwrap().len(), 1);
    let tokens = |key: &&String| key.starts_with("token/");
    assert_eq!(store.keys().iter().filter(tokens).count(), 1);
}

#[test]
fn of_many_who_want_one_description_at_once_exactly_one_gets_it() {
    let store = MemoryStore::new(SystemClock);
    let orgs = Orgs::new(&store, SystemClock, OsRandom).with_edition(Edition::Hosted);
    let acme = create(&orgs, "acme");
    let owner = TokenOwner::TeamNamed(owners(&orgs, &acme));
    let start = Barrier::new(6);
    let issued = thread::scope(|scope| {
        let workers: Vec<_> = (0..6)
            .map(|_| {
                let (orgs, start, owner) = (&orgs, &start, &owner);
                scope.spawn(move || {
                    start.wait();
                    orgs.issue_token(owner, &described("ci"), &installation())
                        .is_ok()
                })
            })
            .collect();
        let outcomes = workers.into_iter().map(|worker| worker.join().unwrap());
        outcomes.filter(|is_issued| *is_issued).count()
    });
    assert_eq!(issued, 1);
    assert_eq!(orgs.tokens_of(&owner).unwrap().len(), 1);
}

#[test]
fn a_token_that_is_issued_while_its_organization_goes_goes_with_it() {
    let store = MemoryStore::new(SystemClock);
    let orgs = Orgs::new(&store, SystemClock, OsRandom).with_edition(Edition::Hosted);
    for round in 0..20 {
        let owner = of_organization(&create(&orgs, "acme"));
        let start = Barrier::new(2);
        let issued = thread::scope(|scope| {
            let issuing = scope.spawn(|| {
                start.wait();
                orgs.issue_token(&owner, &TokenRequest::default(), &installation())
            });
            start.wait();
            assert_eq!(orgs.delete_named("acme", &installation()), Ok(true));
            issuing.join().unwrap()
        });
        match issued {
            Ok(token) => assert_eq!(presented(&orgs, &token), None),
            Err(error) => assert_eq!(error, IssueError::NoOwner, "round {round}"),
        }
        orgs.maintain().unwrap();
        let left = |key: &String| key.starts_with("token/") || key.starts_with("of/");
        assert!(!store.keys().iter().any(left), "round {round}");
    }
}

#[test]
fn contract_1_6_a_store_that_takes_no_writes_shuts_nobody_out() {
    let world = World::new();
    let store = world.store();
    let orgs = world.orgs(&store);
    let (ada, token) = person(&orgs, "ada");
    store.fail_next_commit(CommitError::Failed(StoreError::Unavailable(
        "read only".to_owned(),
    )));
    assert_eq!(presented(&orgs, &token), Some(Principal::User(ada.clone())));
    let owner = TokenOwner::User(ada.id);
    let last_use = || orgs.tokens_of(&owner).unwrap()[0].last_used_at;
    assert_eq!(last_use(), None);
    presented(&orgs, &token);
    assert_eq!(last_use(), Some(NOW * 1000));
}
