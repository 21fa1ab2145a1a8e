//! Extending and ending tokens.

use crate::server::{HOUR, ROOT, START, Server, policies};
use gatehouse_access::{
    Cap, CreateError, CreateRequest, Lifetime, RenewError, Renewal as _, Revalidated,
    Revocation as _, TokenCreation as _, TokenLookup as _, TokenParameters, TokenReference,
    TokenWarning,
};
use gatehouse_ports::{Change, CommitError, IpAddress, Store};

fn hours(ttl: u64, max_ttl: u64) -> Lifetime {
    Lifetime {
        ttl: ttl * HOUR,
        max_ttl: max_ttl * HOUR,
        ..Lifetime::default()
    }
}

fn confirmed(lifetime: Lifetime) -> Revalidated {
    Revalidated {
        lifetime,
        group_aliases: None,
    }
}

fn with(lifetime: Lifetime) -> TokenParameters {
    TokenParameters {
        lifetime,
        ..policies(&["dev"])
    }
}

#[test]
fn contract_4_10_a_login_token_says_what_to_revalidate() {
    let server = Server::ready();
    let token = server.log_in(with(hours(1, 0)));
    let address = Some(IpAddress::Ipv4((192, 0, 2, 1)));
    let subject = server.access.renewal(&token.reference(), address).unwrap();
    let revalidation = subject.revalidation.unwrap();
    assert_eq!(revalidation.mount, server.mount("gcp/"));
    assert_eq!(revalidation.renewal_state, [0, 1, 255]);
    assert_eq!(revalidation.token_policies, ["default", "dev"]);
    let unchecked = server.access.renew_token(&token.reference(), 0, None);
    assert_eq!(unchecked, Err(RenewError::RevalidationMissing));
}

#[test]
fn t7_a_renewal_takes_the_role_as_it_is_now_and_the_explicit_maximum_as_it_was() {
    let server = Server::ready();
    let explicit = Lifetime {
        explicit_max_ttl: 10 * HOUR,
        ..hours(1, 0)
    };
    let token = server.log_in(with(explicit));
    let reference = token.reference();
    server.advance(HOUR / 2);
    let fresh = Lifetime {
        explicit_max_ttl: HOUR,
        ..hours(3, 0)
    };
    let renewed = server
        .access
        .renew_token(&reference, 0, Some(&confirmed(fresh)))
        .unwrap();
    assert_eq!(renewed.lease_duration, 3 * HOUR);
    let view = server.access.lookup_token(&reference).unwrap();
    assert_eq!(view.expire_time, Some(START + HOUR / 2 + 3 * HOUR));
    assert_eq!(view.last_renewal_time, Some(START + HOUR / 2));
    assert_eq!(
        (view.creation_ttl, view.explicit_max_ttl),
        (HOUR, 10 * HOUR)
    );

    server.advance(3 * HOUR - 1);
    let renewed = server
        .access
        .renew_token(&reference, 100 * HOUR, Some(&confirmed(fresh)))
        .unwrap();
    let left = 10 * HOUR - HOUR / 2 - 3 * HOUR + 1;
    assert_eq!(renewed.lease_duration, left);
    let cut = TokenWarning::TtlCapped(Cap {
        asked: 100 * HOUR,
        effective_max_ttl: left,
    });
    assert_eq!(renewed.warnings, [cut]);
}

#[test]
fn a_renewal_moves_the_end_of_every_record_of_the_token() {
    let server = Server::ready();
    let token = server.log_in(with(hours(1, 0)));
    let reference = token.reference();
    server
        .access
        .renew_token(&reference, 5 * HOUR, Some(&confirmed(hours(1, 0))))
        .unwrap();
    server.advance(4 * HOUR);
    let by_accessor = &TokenReference::Accessor(token.grant.accessor.clone());
    assert!(server.access.lookup_token(by_accessor).is_ok());
}

#[test]
fn past_the_maximum_nothing_is_renewed_and_the_token_stays() {
    let server = Server::ready();
    let token = server.log_in(with(hours(4, 0)));
    let reference = token.reference();
    server.advance(2 * HOUR);
    let before = server.access.lookup_token(&reference);
    let shorter = server
        .access
        .renew_token(&reference, 0, Some(&confirmed(hours(1, 2))));
    assert_eq!(shorter, Err(RenewError::PastMaxTtl));
    assert_eq!(server.access.lookup_token(&reference), before);
}

#[test]
fn a_created_token_renews_by_its_creation_ttl() {
    let server = Server::ready();
    let request = CreateRequest {
        ttl: Some(3600),
        ..CreateRequest::default()
    };
    let token = server.child(ROOT, &request);
    let reference = token.reference();
    let subject = server.access.renewal(&reference, None).unwrap();
    assert_eq!(subject.revalidation, None);
    server.advance(1800);
    let renewed = server.access.renew_token(&reference, 0, None).unwrap();
    assert_eq!(renewed.lease_duration, HOUR);
    let renewed = server
        .access
        .renew_token(&reference, 2 * HOUR, None)
        .unwrap();
    assert_eq!(renewed.lease_duration, 2 * HOUR);
}

#[test]
fn what_was_not_made_to_be_renewed_is_not() {
    let server = Server::ready();
    let root = &TokenReference::Id(ROOT.into());
    assert_eq!(
        server.access.renew_token(root, 0, None),
        Err(RenewError::NotRenewable)
    );
    let request = CreateRequest {
        ttl: Some(60),
        renewable: Some(false),
        ..CreateRequest::default()
    };
    let fixed = server.child(ROOT, &request);
    let refused = server.access.renewal(&fixed.reference(), None);
    assert_eq!(refused, Err(RenewError::NotRenewable));
    let unknown = server
        .access
        .renewal(&TokenReference::Accessor("x".into()), None);
    assert_eq!(unknown, Err(RenewError::UnknownToken));
}

#[test]
fn contract_4_10_r7_a_renewal_from_elsewhere_is_refused() {
    let server = Server::ready();
    let token = server.log_in(TokenParameters {
        bound_cidrs: vec!["192.0.2.1".to_owned()],
        ..with(hours(1, 0))
    });
    let elsewhere = Some(IpAddress::Ipv4((198, 51, 100, 1)));
    let refused = server.access.renewal(&token.reference(), elsewhere);
    assert_eq!(refused, Err(RenewError::AddressDenied));
}

#[test]
fn t5_revoking_ends_the_subtree_and_removes_its_records() {
    let server = Server::ready();
    let before = server.store.keys();
    let top = server.child(ROOT, &CreateRequest::default());
    let mut tokens = vec![top.client_token.clone()];
    for level in 0..3 {
        let parent = tokens[level * 3].clone();
        for _ in 0..3 {
            let child = server.child(&parent, &CreateRequest::default());
            tokens.push(child.client_token.clone());
        }
    }
    let bystander = server.child(ROOT, &CreateRequest::default());
    assert_eq!(
        server
            .access
            .revoke_token(&TokenReference::Id(tokens[0].clone())),
        Ok(true)
    );
    assert!(tokens.iter().all(|token| !server.is_valid(token)));
    assert!(server.is_valid(bystander.client_token.as_str()));
    server.access.revoke_token(&bystander.reference()).unwrap();
    assert_eq!(server.store.keys(), before);
    assert_eq!(
        server
            .access
            .revoke_token(&TokenReference::Id(tokens[0].clone())),
        Ok(false)
    );
}

#[test]
fn t5_the_subtree_is_dead_as_soon_as_the_one_record_is_gone() {
    let server = Server::ready();
    let before = server.store.keys();
    let parent = server.child(ROOT, &CreateRequest::default());
    let is_new = |key: &String| key.starts_with("token/") && !before.contains(key);
    let parent_key = server.store.keys().into_iter().find(is_new).unwrap();
    let child = server.child(parent.client_token.as_str(), &CreateRequest::default());
    let grandchild = server.child(child.client_token.as_str(), &CreateRequest::default());
    // A server that is killed right after the commit that revokes leaves this behind.
    let revoked = Change::Delete(parent_key);
    server.store.commit(Vec::new(), vec![revoked]).unwrap();
    for token in [&child, &grandchild] {
        assert!(!server.is_valid(token.client_token.as_str()));
        let parent = crate::server::sudo(token.client_token.as_str());
        let created = server
            .access
            .create_token(&parent, &CreateRequest::default());
        assert_eq!(created.err(), Some(CreateError::InvalidToken));
    }
}

#[test]
fn a_revocation_that_meets_another_writer_is_tried_again() {
    let server = Server::ready();
    let token = server.child(ROOT, &CreateRequest::default());
    server
        .store
        .fail_next_commit(CommitError::Conflict("token".to_owned()));
    assert_eq!(server.access.revoke_token(&token.reference()), Ok(true));
    assert!(!server.is_valid(token.client_token.as_str()));
}

#[test]
fn a_token_is_revoked_by_its_accessor() {
    let server = Server::ready();
    let token = server.log_in(with(hours(1, 0)));
    let accessor = &TokenReference::Accessor(token.grant.accessor.clone());
    assert_eq!(server.access.revoke_token(accessor), Ok(true));
    assert!(!server.is_valid(token.client_token.as_str()));
    assert_eq!(server.access.revoke_token(accessor), Ok(false));
}

#[test]
fn a_large_family_is_removed_in_pages() {
    let server = Server::ready();
    let before = server.store.keys();
    let parent = server.child(ROOT, &CreateRequest::default());
    for _ in 0..450 {
        server.child(parent.client_token.as_str(), &CreateRequest::default());
    }
    server.access.revoke_token(&parent.reference()).unwrap();
    assert_eq!(server.store.keys().len(), before.len());
}
