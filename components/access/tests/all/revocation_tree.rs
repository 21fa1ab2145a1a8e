//! Revocations of whole trees that are cut off, and what clears up after them (SEC-T5).

use crate::interposed::{Fate, interposed, stopping_after};
use crate::server::{HOUR, ROOT, Server, policies, sudo};
use gatehouse_access::{
    CreateError, CreateRequest, Issued, Mounts as _, Revocation as _, RevokeError, ServiceError,
    System as _, Tidying as _, TokenCreation as _, TokenReference,
};

fn text(issued: &Issued) -> String {
    issued.client_token.clone()
}

/// A tree of `size` tokens, its top first; token `n` has the children `fan * n + 1` to `fan * n + fan`.
fn tree(server: &Server, size: usize, fan: usize) -> Vec<String> {
    let mut tokens = vec![text(&server.child(ROOT, &CreateRequest::default()))];
    for number in 1..size {
        let parent = tokens[(number - 1) / fan].clone();
        tokens.push(text(&server.child(&parent, &CreateRequest::default())));
    }
    tokens
}

#[test]
fn t5_a_revocation_that_is_cut_off_anywhere_leaves_nothing_usable_and_in_the_end_nothing() {
    let mut stopped_at = 0;
    loop {
        let server = Server::ready();
        let before = server.store.keys();
        let tokens = tree(&server, 40, 3);
        let revoked = stopping_after(&server, stopped_at)
            .revoke_token(&TokenReference::Id(tokens[0].clone()));
        let usable = tokens.iter().filter(|token| server.is_valid(token)).count();
        match revoked {
            Err(RevokeError::Failure(ServiceError::Unavailable(_))) if stopped_at == 0 => {
                assert_eq!(usable, 40)
            }
            Err(RevokeError::Failure(ServiceError::Unavailable(_))) => {
                assert_eq!(usable, 0, "stopped at {stopped_at}")
            }
            other => {
                assert_eq!(other, Ok(true));
                assert_eq!(server.store.keys(), before);
                assert!(stopped_at > 10, "{stopped_at}");
                return;
            }
        }
        if stopped_at > 0 {
            for token in &tokens {
                let refused = server
                    .access
                    .create_token(&sudo(token), &CreateRequest::default());
                assert_eq!(refused.err(), Some(CreateError::InvalidToken));
            }
            server.tidy();
            assert_eq!(server.store.keys(), before, "stopped at {stopped_at}");
        }
        stopped_at += 1;
    }
}

#[test]
fn t5_ten_thousand_tokens_are_cleared_away_however_often_that_is_cut_off() {
    let server = Server::ready();
    let before = server.store.keys();
    let tokens = tree(&server, 10_000, 7);
    let revoked = stopping_after(&server, 1).revoke_token(&TokenReference::Id(tokens[0].clone()));
    assert!(matches!(
        revoked,
        Err(RevokeError::Failure(ServiceError::Unavailable(_)))
    ));
    let mut commits = 1;
    while server.store.keys() != before {
        for token in tokens.iter().skip(commits as usize % 97).step_by(97) {
            assert!(!server.is_valid(token));
        }
        // Some of these calls resume the revocation, some tidy, some are background work.
        let access = stopping_after(&server, commits);
        let _ = match commits % 3 {
            0 => access
                .revoke_token(&TokenReference::Id(tokens[0].clone()))
                .is_ok(),
            1 => access.tidy_tokens().is_ok() && access.maintain().is_ok(),
            _ => access.maintain().is_ok(),
        };
        commits += commits / 3 + 1;
        assert!(commits < 10_000);
    }
    assert!(tokens.iter().all(|token| !server.is_valid(token)));
}

#[test]
fn t5_no_child_comes_to_be_under_a_token_that_is_revoked_meanwhile() {
    for revoked in 0..3 {
        let server = Server::ready();
        let chain = tree(&server, 3, 1);
        let before_create = server.store.keys().len();
        let (other, target) = (server.another_instance(), chain[revoked].clone());
        let access = interposed(&server, move |number, _| {
            if number == 0 {
                other
                    .revoke_token(&TokenReference::Id(target.clone()))
                    .unwrap();
            }
            Fate::Asked
        });
        let refused = access.create_token(&sudo(&chain[2]), &CreateRequest::default());
        assert_eq!(refused.err(), Some(CreateError::InvalidToken));
        // Each of the revoked had a record and a place below its parent.
        assert_eq!(before_create - server.store.keys().len(), 2 * (3 - revoked));
    }
}

#[test]
fn t5_a_child_made_between_two_pages_of_a_sweep_is_impossible() {
    let server = Server::ready();
    let before = server.store.keys();
    let tokens = tree(&server, 30, 2);
    let (other, parents) = (server.another_instance(), tokens.clone());
    let access = interposed(&server, move |number, _| {
        for parent in parents.iter().filter(|_| number > 0) {
            let refused = other.create_token(&sudo(parent), &CreateRequest::default());
            assert_eq!(refused.err(), Some(CreateError::InvalidToken));
        }
        Fate::Asked
    });
    assert_eq!(
        access.revoke_token(&TokenReference::Id(tokens[0].clone())),
        Ok(true)
    );
    assert_eq!(server.store.keys(), before);
}

#[test]
fn t5_descendants_of_an_expired_token_are_unusable_at_once_and_removed_by_a_sweep() {
    let server = Server::ready();
    let before = server.store.keys();
    let brief = CreateRequest {
        ttl: Some(60),
        ..CreateRequest::default()
    };
    let parent = text(&server.child(ROOT, &brief));
    let long = CreateRequest {
        ttl: Some(7200),
        ..CreateRequest::default()
    };
    let child = text(&server.child(&parent, &long));
    let grandchild = text(&server.child(&child, &long));
    server.advance(60);
    assert!(
        [&parent, &child, &grandchild]
            .iter()
            .all(|token| !server.is_valid(token))
    );
    assert!(server.store.keys().len() > before.len());
    server.tidy();
    assert_eq!(server.store.keys(), before);
}

#[test]
fn t5_a_tidy_that_was_asked_for_removes_the_tokens_of_a_mount_that_is_gone() {
    let server = Server::ready();
    let login = server.log_in(policies(&[]));
    server.child(&text(&login), &CreateRequest::default());
    server.log_in(policies(&[]));
    let tokens = || {
        server
            .store
            .keys()
            .iter()
            .filter(|key| key.starts_with("token/"))
            .count()
    };
    assert_eq!(tokens(), 4);
    server.access.disable_mount("gcp/").unwrap();
    server.tidy();
    assert_eq!(tokens(), 1);
    assert!(
        !server
            .store
            .keys()
            .iter()
            .any(|key| key.starts_with("child/"))
    );
}

#[test]
fn a_tidy_keeps_whatever_is_valid() {
    let server = Server::ready();
    let login = text(&server.log_in(policies(&[])));
    let mut tokens = tree(&server, 20, 2);
    tokens.push(text(&server.child(&login, &CreateRequest::default())));
    tokens.push(login);
    let before = server.store.keys();
    server.tidy();
    assert_eq!(server.store.keys(), before);
    server.advance(HOUR);
    assert!(tokens.iter().all(|token| server.is_valid(token)));
}

#[test]
fn a_large_store_is_tidied_in_parts() {
    let server = Server::ready();
    for _ in 0..2_500 {
        server.child(ROOT, &CreateRequest::default());
    }
    let tidy = || {
        let started = server.access.tidy_tokens().unwrap();
        server.access.maintain().unwrap();
        started
    };
    assert!(tidy());
    assert!(!tidy());
    assert!(tidy());
}

#[test]
fn t6_a_request_to_tidy_deletes_nothing_itself() {
    let server = Server::ready();
    let brief = CreateRequest {
        ttl: Some(60),
        ..CreateRequest::default()
    };
    let parent = text(&server.child(ROOT, &brief));
    let long = CreateRequest {
        ttl: Some(7200),
        ..CreateRequest::default()
    };
    server.child(&parent, &long);
    let below_parents = || {
        let held = server.store.keys();
        held.iter().filter(|key| key.starts_with("child/")).count()
    };
    server.advance(60);
    let before = below_parents();
    assert!(before > 0);
    assert!(server.access.tidy_tokens().unwrap());
    assert!(!server.access.tidy_tokens().unwrap());
    assert_eq!(below_parents(), before);
    server.access.maintain().unwrap();
    assert_eq!(below_parents(), 0);
}
