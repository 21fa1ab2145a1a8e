//! Tokens of the release before, whose records are under the hashes of their texts and whose accessors lead there by records of their
//! own: they keep working, each in every way (SEC-S12).
//!
//! `store.txt` is what that release wrote, entry by entry, and the tokens that it gave out.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use gatehouse_ports::{Change, Put, Store as _};

use crate::server::{HOUR, ROOT, Server, policies};
use gatehouse_access::{
    AdmissionError, CreateError, CreateRequest, Cubbyhole as _, LeaseTree as _, Lifetime,
    Operation, Renewal as _, Revalidated, Revocation as _, TokenCreation as _, TokenLookup as _,
    TokenReference, UnwrapError, Wrapping as _,
};

const WRITTEN: &str = include_str!("store.txt");

/// Text and accessor of a token.
type Token = (String, String);

/// A server over what the release before wrote, and its tokens by what they are for.
fn upgraded() -> (Server, BTreeMap<&'static str, Token>) {
    let server = Server::empty();
    let mut tokens = BTreeMap::new();
    let mut changes = Vec::new();
    for line in WRITTEN.lines() {
        match *line.split(' ').collect::<Vec<_>>() {
            ["token", name, text, accessor] => {
                tokens.insert(name, (text.to_owned(), accessor.to_owned()));
            }
            ["entry", key, expires_at, value] => changes.push(Change::Put(Put {
                key: key.to_owned(),
                value: STANDARD.decode(value).unwrap(),
                expires_at: expires_at.parse().ok(),
            })),
            _ => panic!("{line}"),
        }
    }
    server.store.commit(Vec::new(), changes).unwrap();
    (server, tokens)
}

fn is_there(server: &Server, (text, accessor): &Token) -> bool {
    let by_text = server.is_valid(text);
    let by_accessor = &TokenReference::Accessor(accessor.clone());
    let by_accessor = server.access.lookup_token(by_accessor);
    assert_eq!(by_accessor.is_ok(), by_text);
    if let Ok(view) = by_accessor {
        assert_eq!(view.accessor, *accessor);
    }
    let listed = server.access.list_accessors(None, 1000).unwrap();
    assert_eq!(listed.keys.contains(accessor), by_text);
    by_text
}

/// Keys of places in the index of accessors.
fn index(server: &Server) -> usize {
    let keys = server.store.keys();
    keys.iter()
        .filter(|key| key.starts_with("accessor/"))
        .count()
}

#[test]
fn s12_every_token_of_the_release_before_is_found_in_every_way() {
    let (server, tokens) = upgraded();
    for (name, token) in &tokens {
        if *name == "batch" {
            assert!(server.is_valid(&token.0));
        } else {
            assert!(is_there(&server, token), "{name}");
        }
    }
    // And a page of any size shows old and new tokens together, each once.
    for _ in 0..40 {
        server.log_in(policies(&[]));
    }
    let whole = server.access.list_accessors(None, 1000).unwrap().keys;
    // The root token that was chosen is none of those in the file.
    assert_eq!(whole.len(), tokens.len() - 1 + 1 + 40);
    for limit in [1, 3, 10] {
        let mut paged = Vec::new();
        let mut after = None;
        loop {
            let page = server.access.list_accessors(after.as_deref(), limit);
            let page = page.unwrap();
            paged.extend(page.keys);
            after = page.next;
            if after.is_none() {
                break;
            }
        }
        assert_eq!(paged, whole);
    }
    let logins = server
        .access
        .list_leases("auth/gcp/login", None, 1000)
        .unwrap();
    assert_eq!(logins.keys.len(), 2 + 40);
}

#[test]
fn s12_an_old_token_is_renewed_and_ends_with_its_place_in_the_index() {
    let (server, tokens) = upgraded();
    server.advance(HOUR / 2);
    let fresh = Revalidated {
        lifetime: Lifetime {
            ttl: 20 * HOUR,
            ..Lifetime::default()
        },
        group_aliases: None,
    };
    let reference = TokenReference::Id(tokens["login"].0.clone());
    let renewed = server.access.renew_token(&reference, 0, Some(&fresh));
    assert_eq!(renewed.unwrap().lease_duration, 20 * HOUR);
    let by_accessor = TokenReference::Accessor(tokens["periodic"].1.clone());
    server.access.renew_token(&by_accessor, 0, None).unwrap();
    server.advance(HOUR * 3 / 4);
    assert!(is_there(&server, &tokens["periodic"]));
    server.advance(HOUR / 2);
    assert!(!is_there(&server, &tokens["periodic"]));
    server.advance(10 * HOUR);
    assert!(is_there(&server, &tokens["login"]));
    assert!(!is_there(&server, &tokens["limited"]));
    assert_eq!(server.access.revoke_token(&reference), Ok(true));
    assert!(!is_there(&server, &tokens["login"]));
    assert!(!is_there(&server, &tokens["child"]));
}

#[test]
fn s12_a_family_of_old_and_new_tokens_ends_together() {
    let (server, tokens) = upgraded();
    let (grandchild, _) = &tokens["grandchild"];
    let new = server.child(grandchild, &CreateRequest::default());
    let new = (new.client_token.clone(), new.grant.accessor.clone());
    assert!(is_there(&server, &new));
    let by_accessor = TokenReference::Accessor(tokens["child"].1.clone());
    assert_eq!(server.access.revoke_token(&by_accessor), Ok(true));
    for gone in [&tokens["child"], &tokens["grandchild"], &new] {
        assert!(!is_there(&server, gone));
    }
    assert!(is_there(&server, &tokens["login"]));
    let keys = server.store.keys();
    let below = keys.iter().filter(|key| key.starts_with("child/"));
    assert_eq!(below.count(), 2, "those of the root token");
}

#[test]
fn s12_an_old_token_that_ends_alone_leaves_its_children() {
    let (server, tokens) = upgraded();
    let reference = TokenReference::Id(tokens["child"].0.clone());
    assert_eq!(server.access.revoke_token_alone(&reference), Ok(true));
    assert!(!is_there(&server, &tokens["child"]));
    assert!(is_there(&server, &tokens["grandchild"]));
}

#[test]
fn s12_uses_of_an_old_token_count_on_and_the_last_one_removes_it() {
    let (server, tokens) = upgraded();
    let before = index(&server);
    let spend = || {
        server.admit(
            &tokens["limited"].0,
            Operation::Read,
            "auth/token/lookup-self",
        )
    };
    for _ in 0..3 {
        assert!(spend().is_ok());
    }
    assert_eq!(spend().err(), Some(AdmissionError::InvalidToken));
    assert_eq!(index(&server), before - 1);
}

#[test]
fn s12_old_wrapped_contents_and_secrets_are_given_out() {
    let (server, tokens) = upgraded();
    let (wrapping, _) = &tokens["wrapping"];
    let content = server.access.unwrap_content(wrapping).ok().unwrap();
    assert_eq!(content, b"wrapped");
    let again = server.access.unwrap_content(wrapping).err();
    assert_eq!(again, Some(UnwrapError::InvalidToken));
    let (holder, _) = &tokens["holder"];
    let read = server.access.read_cubbyhole(holder, "cubbyhole/a");
    assert_eq!(read.ok().unwrap(), Some(b"kept".to_vec()));
}

#[test]
fn s12_an_identifier_that_was_chosen_before_is_taken_and_a_revoked_one_is_free() {
    let (server, tokens) = upgraded();
    let (chosen, _) = &tokens["chosen"];
    let request = CreateRequest {
        id: Some(chosen.clone()),
        ..CreateRequest::default()
    };
    let parent = crate::server::sudo(ROOT);
    let taken = server.access.create_token(&parent, &request).err();
    assert_eq!(taken, Some(CreateError::DuplicateId));
    let reference = TokenReference::Id(chosen.clone());
    assert_eq!(server.access.revoke_token(&reference), Ok(true));
    let again = server.child(ROOT, &request);
    assert_ne!(again.grant.accessor, tokens["chosen"].1);
    assert!(is_there(&server, &(chosen.clone(), again.grant.accessor)));
}

#[test]
fn s12_a_tidy_keeps_old_tokens_that_are_valid_and_removes_those_that_are_not() {
    let (server, tokens) = upgraded();
    let before = server.store.keys();
    server.tidy();
    let mut keys = server.store.keys();
    keys.retain(|key| before.contains(key));
    assert_eq!(keys, before);
    server.access.revoke_prefix("auth/gcp").unwrap();
    server.tidy();
    for name in ["login", "limited", "child", "grandchild"] {
        assert!(!is_there(&server, &tokens[name]), "{name}");
    }
    let records = server.store.keys();
    let records = records.iter().filter(|key| key.starts_with("token/"));
    // These are left: the two root tokens, the periodic, the chosen, the holder of secrets, and the wrapping one.
    assert_eq!(records.count(), 6);
    assert_eq!(index(&server), 6);
}
