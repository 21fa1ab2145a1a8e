//! Steps that no function of the interface takes alone: making the key of hashes, and noting a use.

use gatehouse_ports::CommitError;

use crate::world::{World, create, installation};
use crate::{ServiceError, TokenOwner, TokenRequest, Tokens};

#[test]
fn who_finds_others_faster_at_every_attempt_to_make_the_key_of_hashes_is_told_so() {
    let world = World::new();
    let store = world.store();
    let orgs = world.orgs(&store);
    for _ in 0..16 {
        store.fail_next_commit(CommitError::Conflict("hash-key".to_owned()));
    }
    assert_eq!(orgs.hasher().err(), Some(ServiceError::Contended));
    assert_eq!(store.keys(), [""; 0]);
    assert!(orgs.hasher().is_ok());
    assert_eq!(store.keys(), ["hash-key"]);
}

#[test]
fn a_use_that_meets_with_the_end_of_the_token_leaves_nothing_behind() {
    let world = World::new();
    let store = world.store();
    let orgs = world.orgs(&store);
    let owner = TokenOwner::Organization(create(&orgs, "acme").external_id);
    let keys_of_tokens = || {
        let keys = store.keys().into_iter();
        keys.filter(|key| key.starts_with("token") || key.starts_with("slot/"))
            .collect::<Vec<_>>()
    };
    let before = keys_of_tokens();
    let token = orgs.issue_token(&owner, &TokenRequest::default(), &installation());
    let read = orgs.live_token(&token.unwrap().secret).unwrap().unwrap();
    assert_eq!(orgs.revoke_token_of(&owner, &installation()), Ok(true));
    orgs.note_use(&read).unwrap();
    assert_eq!(keys_of_tokens(), before);
}

#[test]
fn s11_all_tokens_end_and_nothing_is_left_of_them() {
    let world = World::new();
    let store = world.store();
    let orgs = world.orgs(&store);
    let organization = create(&orgs, "acme").external_id;
    let before = store.keys();
    let owners = [
        TokenOwner::Organization(organization.clone()),
        TokenOwner::AuditTrail(organization),
    ];
    let mut secrets = Vec::new();
    for owner in &owners {
        let token = orgs.issue_token(owner, &TokenRequest::default(), &installation());
        let secret = token.unwrap().secret;
        let live = orgs.live_token(&secret).unwrap().unwrap();
        orgs.note_use(&live).unwrap();
        secrets.push(secret);
    }
    assert_eq!(orgs.end_all_tokens(), Ok(2));
    for secret in &secrets {
        assert!(orgs.live_token(secret).unwrap().is_none());
    }
    let left = |keys: Vec<String>| -> Vec<String> {
        let of_tokens = |key: &String| key.contains("token") || key.starts_with("slot/");
        keys.into_iter().filter(of_tokens).collect()
    };
    assert_eq!(left(store.keys()), left(before));
    assert_eq!(orgs.end_all_tokens(), Ok(0));

    let again = orgs.issue_token(&owners[0], &TokenRequest::default(), &installation());
    assert!(orgs.live_token(&again.unwrap().secret).unwrap().is_some());
}
