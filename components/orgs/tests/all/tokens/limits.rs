//! How many tokens an owner has at a time.

use std::sync::Barrier;
use std::thread;

use gatehouse_ports::{OsRandom, SystemClock};

use super::*;
use gatehouse_orgs::MAXIMUM_TOKENS;

#[test]
fn an_owner_has_at_most_so_many_tokens_until_one_is_revoked() {
    let world = World::new();
    let store = world.store();
    let orgs = world.orgs(&store);
    let (ada, first) = person(&orgs, "ada");
    let (bob, _) = person(&orgs, "bob");
    let owner = TokenOwner::User(ada.id);
    let by = installation();
    for _ in 1..MAXIMUM_TOKENS {
        issue(&orgs, &owner, &TokenRequest::default());
    }
    let before = store.keys();
    let more = || orgs.issue_token(&owner, &TokenRequest::default(), &by);
    assert_eq!(more(), Err(IssueError::TooMany));
    assert_eq!(store.keys(), before);
    issue(&orgs, &TokenOwner::User(bob.id), &TokenRequest::default());
    assert_eq!(orgs.revoke_token(&first.token.id, &by), Ok(true));
    assert!(more().is_ok());
    assert_eq!(orgs.tokens_of(&owner).unwrap().len(), MAXIMUM_TOKENS);
}

#[test]
fn tokens_that_are_over_count_nothing_and_go_with_their_descriptions_when_another_is_made() {
    let world = World::new();
    let store = world.store();
    let orgs = world.orgs(&store);
    let team = owners(&orgs, &create(&orgs, "acme"));
    let owner = TokenOwner::TeamNamed(team.clone());
    let without_description = TokenOwner::Team(team);
    let short = |description: String| TokenRequest {
        description: Some(description),
        expires_at: Some(NOW * 1000 + 1000),
    };
    issue(&orgs, &without_description, &short("own".to_owned()));
    for number in 0..MAXIMUM_TOKENS {
        issue(&orgs, &owner, &short(format!("build {number}")));
    }
    world.clock.advance(Duration::from_secs(1));
    let again = issue(&orgs, &owner, &described("build 7"));
    assert!(presented(&orgs, &again).is_some());
    let left: Vec<_> = orgs.tokens_of(&owner).unwrap();
    let left: Vec<_> = left.iter().map(|token| &token.id).collect();
    assert_eq!(left, [&again.token.id]);
    // A token that takes the place of another goes by that alone.
    assert_eq!(orgs.tokens_of(&without_description).unwrap().len(), 1);
    let tokens = |key: &String| key.starts_with("token/");
    assert_eq!(store.keys().iter().filter(|key| tokens(key)).count(), 2);
    let descriptions = |key: &String| key.starts_with("token-description/");
    let count = store.keys().iter().filter(|key| descriptions(key)).count();
    assert_eq!(count, 1);
}

#[test]
fn many_who_make_the_last_token_at_once_make_one() {
    let store = MemoryStore::new(SystemClock);
    let orgs = Orgs::new(&store, SystemClock, OsRandom).with_edition(Edition::Hosted);
    let (ada, _) = person(&orgs, "ada");
    let owner = TokenOwner::User(ada.id);
    for _ in 2..MAXIMUM_TOKENS {
        issue(&orgs, &owner, &TokenRequest::default());
    }
    let start = Barrier::new(4);
    let made = thread::scope(|scope| {
        let workers: Vec<_> = (0..4)
            .map(|_| {
                scope.spawn(|| {
                    start.wait();
                    orgs.issue_token(&owner, &TokenRequest::default(), &installation())
                })
            })
            .collect();
        let made = workers.into_iter().map(|worker| worker.join().unwrap());
        made.filter(Result::is_ok).count()
    });
    assert_eq!(made, 1);
    assert_eq!(orgs.tokens_of(&owner).unwrap().len(), MAXIMUM_TOKENS);
}

#[test]
fn an_organization_has_so_many_tokens_of_teams_and_pools() {
    let world = World::new();
    let store = world.store();
    let orgs = world.orgs(&store);
    let acme = create(&orgs, "acme");
    let most = gatehouse_orgs::MAXIMUM_TOKENS_OF_ORGANIZATION;
    let numbers: Vec<u32> = (1..most).collect();
    for numbers in numbers.chunks(500) {
        let pointers = numbers.iter().map(|number| {
            let key = format!("of/{}/token/at-{number:016}", acme.external_id);
            (key, serde_json::json!({"id": "hash"}))
        });
        store_records(&store, pointers);
    }
    let many = TokenOwner::TeamNamed(owners(&orgs, &acme));
    issue(&orgs, &many, &described("last"));
    let before = store.values();
    let refused = orgs.issue_token(&many, &described("one more"), &installation());
    assert_eq!(refused.map(drop), Err(IssueError::TooManyOfOrganization));
    assert_eq!(store.values(), before);
    // Those of which there is one at a time are as many as there are teams.
    let one = TokenOwner::Team(owners(&orgs, &acme));
    issue(&orgs, &one, &TokenRequest::default());
}
