//! The list of accessors (contract 5.4, SEC-S14).

use std::collections::BTreeSet;

use crate::server::{HOUR, ROOT, Server, policies};
use gatehouse_access::{
    CreateRequest, KeyPage, Mounts as _, Revocation as _, TokenLookup as _, TokenReference,
};

fn children(server: &Server, parent: &str, count: usize) -> Vec<String> {
    let child = |_| server.child(parent, &CreateRequest::default());
    (0..count)
        .map(child)
        .map(|child| child.grant.accessor)
        .collect()
}

/// The whole list, read in pages of at most `limit`.
fn listed(server: &Server, limit: u32) -> Vec<String> {
    let mut accessors = Vec::new();
    let mut after = None;
    loop {
        let KeyPage { keys, next } = server
            .access
            .list_accessors(after.as_deref(), limit)
            .unwrap();
        assert!(keys.len() <= limit as usize);
        accessors.extend(keys);
        if next.is_none() {
            return accessors;
        }
        after = next;
    }
}

#[test]
fn s14_pages_of_any_size_make_up_the_same_list_and_each_token_once() {
    let server = Server::ready();
    let root = server
        .access
        .lookup_token(&TokenReference::Id(ROOT.into()))
        .ok();
    let mut made = children(&server, ROOT, 450);
    made.push(root.unwrap().accessor);
    let whole = listed(&server, 10_000);
    for limit in [1, 7, 200, 450, 451] {
        assert_eq!(listed(&server, limit), whole, "{limit}");
    }
    assert_eq!(whole.len(), made.len());
    assert_eq!(
        whole.into_iter().collect::<BTreeSet<_>>(),
        made.into_iter().collect()
    );
}

#[test]
fn s14_limits_out_of_range_are_brought_into_it() {
    let server = Server::ready();
    children(&server, ROOT, 2);
    let page = |limit| server.access.list_accessors(None, limit).unwrap();
    assert_eq!(page(0).keys.len(), 1);
    assert_eq!(page(u32::MAX).keys.len(), 3);
    assert_eq!(page(3).next, None);
}

#[test]
fn a_list_goes_on_behind_a_token_that_has_ended_meanwhile() {
    let server = Server::ready();
    children(&server, ROOT, 20);
    let whole = listed(&server, 100);
    let gone = &TokenReference::Accessor(whole[9].clone());
    assert!(server.access.revoke_token(gone).unwrap());
    let rest = server.access.list_accessors(Some(&whole[9]), 100).unwrap();
    assert_eq!(rest.keys, whole[10..]);
}

#[test]
fn tokens_that_are_not_valid_are_not_listed() {
    let server = Server::ready();
    let login = server.log_in(policies(&[]));
    let root_child = CreateRequest {
        policies: Some(vec!["root".to_owned()]),
        ttl: Some(60),
        ..CreateRequest::default()
    };
    let parent = server.child(ROOT, &root_child);
    let outliving = CreateRequest {
        ttl: Some(7200),
        ..CreateRequest::default()
    };
    let child = server.child(parent.client_token.as_str(), &outliving);
    let is_listed = |accessor: &String| listed(&server, 2).contains(accessor);
    assert!(is_listed(&login.grant.accessor));
    assert!(is_listed(&parent.grant.accessor) && is_listed(&child.grant.accessor));

    server.advance(60);
    assert!(!is_listed(&parent.grant.accessor) && !is_listed(&child.grant.accessor));
    server.access.disable_mount("gcp/").unwrap();
    assert!(!is_listed(&login.grant.accessor));
    server.advance(HOUR);
    assert_eq!(listed(&server, 10).len(), 1);
}
