//! Ending a token without its children (contract 5.4, `revoke-orphan`).

use std::sync::Mutex;

use crate::interposed::{Fate, interposed};
use crate::server::{HOUR, ROOT, Server, sudo};
use gatehouse_access::{
    Access, CreateError, CreateRequest, Issued, Operation, Renewal as _, Revocation as _,
    RevokeError, ServiceError, TokenCreation as _, TokenLookup as _, TokenReference, TokenView,
};

/// A token with two children, one of which has a child, and what the store held before.
struct Family {
    server: Server,
    before: Vec<String>,
    top: String,
    child: String,
    sibling: String,
    grandchild: String,
}

impl Family {
    fn new() -> Self {
        let server = Server::ready();
        let before = server.store.keys();
        let request = CreateRequest {
            policies: Some(vec!["default".to_owned()]),
            ttl: Some(HOUR as i64),
            ..CreateRequest::default()
        };
        let make = |parent: &str| text(&server.child(parent, &request));
        let top = make(ROOT);
        let (child, sibling) = (make(&top), make(&top));
        let grandchild = make(&child);
        Self {
            server,
            before,
            top,
            child,
            sibling,
            grandchild,
        }
    }

    fn revoke_alone(&self, token: &str) -> bool {
        let reference = &TokenReference::Id(token.into());
        self.server.access.revoke_token_alone(reference).unwrap()
    }

    fn revoke(&self, token: &str) -> bool {
        let reference = &TokenReference::Id(token.into());
        self.server.access.revoke_token(reference).unwrap()
    }

    fn valid(&self) -> [bool; 4] {
        [&self.top, &self.child, &self.sibling, &self.grandchild]
            .map(|token| self.server.is_valid(token))
    }

    fn view(&self, token: &str) -> TokenView {
        let reference = &TokenReference::Id(token.into());
        self.server.access.lookup_token(reference).unwrap()
    }
}

fn text(issued: &Issued) -> String {
    issued.client_token.clone()
}

#[test]
fn contract_5_4_the_children_live_on_as_orphans_with_what_descends_from_them() {
    let family = Family::new();
    assert!(!family.view(&family.child).orphan);
    assert!(family.revoke_alone(&family.top));
    assert_eq!(family.valid(), [false, true, true, true]);
    assert!(family.view(&family.child).orphan);
    assert!(!family.view(&family.grandchild).orphan);
    assert!(!family.revoke_alone(&family.top));

    // The child's subtree is still its own, and no other token's.
    assert!(family.revoke(&family.child));
    assert_eq!(family.valid(), [false, false, true, false]);
    assert!(family.revoke(&family.sibling));
    family.server.tidy();
    assert_eq!(family.server.store.keys(), family.before);
}

#[test]
fn an_orphan_does_not_fall_with_what_its_parent_descended_from() {
    let family = Family::new();
    assert!(family.revoke_alone(&family.child));
    assert_eq!(family.valid(), [true, false, true, true]);
    assert!(family.revoke(&family.top));
    assert_eq!(family.valid(), [false, false, false, true]);
    assert!(family.view(&family.grandchild).orphan);
}

#[test]
fn a_revocation_of_what_left_its_children_touches_none_of_them() {
    let family = Family::new();
    assert!(family.revoke_alone(&family.top));
    assert!(!family.revoke(&family.top));
    for _ in 0..3 {
        family.server.tidy();
    }
    assert_eq!(family.valid(), [false, true, true, true]);
}

#[test]
fn new_descendants_of_an_orphan_and_renewals_do_not_need_the_parent() {
    let family = Family::new();
    assert!(family.revoke_alone(&family.top));
    let made = family
        .server
        .child(&family.child, &CreateRequest::default());
    assert!(!made.grant.orphan);
    let renew = |token: &str| {
        let renewed =
            family
                .server
                .access
                .renew_token(&TokenReference::Id(token.into()), HOUR, None);
        renewed.unwrap().orphan
    };
    for _ in 0..4 {
        family.server.advance(HOUR / 2);
        assert!(renew(&family.child));
        assert!(!renew(&family.grandchild) && !renew(&text(&made)));
        family.server.tidy();
    }
    assert_eq!(family.valid(), [false, true, false, true]);
    assert!(family.revoke(&family.child));
    assert!(!family.server.is_valid(&text(&made)));
}

#[test]
fn the_place_of_the_parent_goes_when_the_last_child_has_ended() {
    let family = Family::new();
    assert!(family.revoke_alone(&family.top));
    let places = || {
        let keys = family.server.store.keys();
        keys.iter()
            .filter(|key| key.starts_with("relinquished/"))
            .count()
    };
    family.server.tidy();
    assert_eq!(places(), 1);
    family.server.advance(HOUR);
    family.server.tidy();
    assert_eq!(places(), 0);
    assert!(family.revoke_alone(&text(&family.server.child(ROOT, &CreateRequest::default()))));
    assert_eq!(places(), 0);
}

#[test]
fn one_commit_decides_whether_it_was_done() {
    for fate in [Fate::Lost, Fate::Unknown] {
        let family = Family::new();
        let access = interposed(&family.server, move |_, _| fate);
        let failed = access.revoke_token_alone(&TokenReference::Id(family.top.clone()));
        assert!(matches!(
            failed,
            Err(RevokeError::Failure(ServiceError::Unavailable(_)))
        ));
        assert_eq!(family.valid(), [fate == Fate::Lost, true, true, true]);
        assert_eq!(family.view(&family.child).orphan, fate == Fate::Unknown);
    }
}

/// Runs `first` on an instance, and `between` once, right before the first commit of that.
fn interleaved(
    family: &Family,
    first: impl FnOnce(&dyn Access),
    between: impl FnOnce(&dyn Access) + Send + 'static,
) {
    let other = family.server.another_instance();
    let between = Mutex::new(Some(between));
    let access = interposed(&family.server, move |_, _| {
        if let Some(between) = between.lock().unwrap().take() {
            between(&other);
        }
        Fate::Asked
    });
    first(&access);
}

#[test]
fn a_child_that_is_made_meanwhile_is_left_too() {
    let family = Family::new();
    let (top, child) = (family.top.clone(), family.child.clone());
    let made = Mutex::new(Vec::new());
    let made: &'static Mutex<Vec<String>> = Box::leak(Box::new(made));
    interleaved(
        &family,
        |access| {
            assert!(
                access
                    .revoke_token_alone(&TokenReference::Id(family.top.clone()))
                    .unwrap()
            )
        },
        move |access| {
            for parent in [&top, &child] {
                let issued = access.create_token(&sudo(parent), &CreateRequest::default());
                made.lock().unwrap().push(text(&issued.ok().unwrap()));
            }
        },
    );
    assert_eq!(family.valid(), [false, true, true, true]);
    for token in made.lock().unwrap().iter() {
        assert!(family.server.is_valid(token));
    }
}

#[test]
fn a_parent_that_is_ended_meanwhile_gets_no_child() {
    let family = Family::new();
    let top = family.top.clone();
    interleaved(
        &family,
        |access| {
            let refused = access.create_token(&sudo(&family.top), &CreateRequest::default());
            assert_eq!(refused.err(), Some(CreateError::InvalidToken));
        },
        move |access| {
            assert!(
                access
                    .revoke_token_alone(&TokenReference::Id(top.clone()))
                    .unwrap()
            )
        },
    );
    assert_eq!(family.valid(), [false, true, true, true]);
}

#[test]
fn a_grandchild_made_while_its_grandparent_goes_descends_from_its_parent_alone() {
    let family = Family::new();
    let top = family.top.clone();
    let made = Mutex::new(String::new());
    interleaved(
        &family,
        |access| {
            let issued = access.create_token(&sudo(&family.child), &CreateRequest::default());
            *made.lock().unwrap() = text(&issued.ok().unwrap());
        },
        move |access| {
            assert!(
                access
                    .revoke_token_alone(&TokenReference::Id(top.clone()))
                    .unwrap()
            )
        },
    );
    let made = made.into_inner().unwrap();
    assert!(family.server.is_valid(&made));
    assert!(family.revoke(&family.child));
    assert!(!family.server.is_valid(&made));
}

#[test]
fn t5_of_a_revocation_and_one_that_spares_the_children_the_first_decides() {
    let family = Family::new();
    let top = family.top.clone();
    interleaved(
        &family,
        |access| {
            let alone = access.revoke_token_alone(&TokenReference::Id(family.top.clone()));
            assert_eq!(alone, Ok(false));
        },
        move |access| {
            assert!(
                access
                    .revoke_token(&TokenReference::Id(top.clone()))
                    .unwrap()
            )
        },
    );
    assert_eq!(family.valid(), [false; 4]);
    assert_eq!(family.server.store.keys(), family.before);

    let family = Family::new();
    let top = family.top.clone();
    interleaved(
        &family,
        |access| {
            assert_eq!(
                access.revoke_token(&TokenReference::Id(family.top.clone())),
                Ok(false)
            )
        },
        move |access| {
            assert!(
                access
                    .revoke_token_alone(&TokenReference::Id(top.clone()))
                    .unwrap()
            )
        },
    );
    assert_eq!(family.valid(), [false, true, true, true]);
}

#[test]
fn t5_a_subtree_that_is_being_revoked_cannot_be_left_by_a_part_of_it() {
    let family = Family::new();
    let top = family.top.clone();
    interleaved(
        &family,
        |access| {
            let alone = access.revoke_token_alone(&TokenReference::Id(family.child.clone()));
            assert_eq!(alone, Ok(false));
        },
        move |access| {
            assert!(
                access
                    .revoke_token(&TokenReference::Id(top.clone()))
                    .unwrap()
            )
        },
    );
    assert_eq!(family.valid(), [false; 4]);
}

fn with_id(id: &str) -> CreateRequest {
    CreateRequest {
        id: Some(id.to_owned()),
        ..CreateRequest::default()
    }
}

#[test]
fn an_identifier_is_taken_while_children_of_its_last_token_live() {
    let server = Server::ready();
    server.child(ROOT, &with_id("mine"));
    let child = server.child("mine", &CreateRequest::default());
    assert!(
        server
            .access
            .revoke_token_alone(&TokenReference::Id("mine".into()))
            .unwrap()
    );
    let again = || server.access.create_token(&sudo(ROOT), &with_id("mine"));
    assert_eq!(again().err(), Some(CreateError::DuplicateId));
    assert!(server.access.revoke_token(&child.reference()).unwrap());
    server.tidy();
    assert!(again().is_ok());
}

#[test]
fn t5_a_new_token_of_an_old_identifier_inherits_nobody() {
    let server = Server::ready();
    let brief = CreateRequest {
        ttl: Some(60),
        ..with_id("mine")
    };
    let long = CreateRequest {
        ttl: Some(7200),
        ..CreateRequest::default()
    };
    server.child(ROOT, &brief);
    let child = server.child("mine", &long);
    let grandchild = server.child(child.client_token.as_str(), &long);
    server.advance(60);
    server.child(ROOT, &brief);
    for token in [&child, &grandchild] {
        assert!(!server.is_valid(token.client_token.as_str()));
    }
    assert!(
        server
            .admit("mine", Operation::Read, "auth/token/lookup-self")
            .is_ok()
    );
}

#[test]
fn a_batch_token_ends_with_its_parent_and_is_not_ended_itself() {
    let family = Family::new();
    let batch = CreateRequest {
        token_type: Some("batch".to_owned()),
        ttl: Some(HOUR as i64),
        ..CreateRequest::default()
    };
    let of_top = text(&family.server.child(&family.top, &batch));
    let of_child = text(&family.server.child(&family.child, &batch));
    let refused = family
        .server
        .access
        .revoke_token_alone(&TokenReference::Id(of_top.clone()));
    assert_eq!(refused, Err(RevokeError::BatchToken));
    assert!(family.revoke_alone(&family.top));
    assert!(!family.server.is_valid(&of_top));
    assert!(family.server.is_valid(&of_child));
}
