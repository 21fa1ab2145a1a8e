//! The cost of one request in round trips to the store, and in rows.

use std::num::NonZeroU32;

use crate::server::{ROOT, Server, login_request, lookup_self, policies, sudo};
use gatehouse_access::{
    AccessService, AdmissionError, CreateRequest, Cubbyhole as _, LeaseTree as _, Logins as _,
    Operation, Policies as _, Renewal as _, Request, Requests as _, Revocation as _, Settings,
    System as _, TokenCreation as _, TokenLookup as _, TokenParameters, TokenReference, TokenType,
    WrapRequest, Wrapping as _,
};
use gatehouse_ports::doubles::CountingStore;

#[test]
fn a_token_is_admitted_again_with_one_read_and_a_known_account_logs_in_with_one_and_one_commit() {
    let server = Server::ready();
    for name in ["a", "b", "c"] {
        let text = "path \"auth/gcp/role/*\" { capabilities = [\"read\"] }";
        server.access.write_policy(name, text).unwrap();
    }
    let grant = server.grant("1234", policies(&["a", "b", "c"]));
    let token = server.log_in(policies(&["a", "b", "c"]));
    let counting = CountingStore::new(server.store);
    let access = AccessService::new(&counting, server.clock, server.random);
    let mut request = Request {
        token: Some(token.client_token.clone()),
        operation: Operation::Read,
        path: "auth/gcp/role/dev".into(),
        source_address: None,
        wrap_ttl: None,
        parameters: None,
    };
    access.admit(&request).unwrap();
    assert_eq!(
        counting.take_counts().calls(),
        (3, 0),
        "the first request also reads the server's secret"
    );
    access.admit(&request).unwrap();
    assert_eq!(counting.take_counts().calls(), (1, 0));
    request.path = "auth/gcp/role/other".into();
    access.admit(&request).unwrap();
    access
        .admit(&lookup_self(token.client_token.as_str()))
        .unwrap();
    assert_eq!(
        counting.take_counts().calls(),
        (2, 0),
        "one for each, whatever the path"
    );
    let login = login_request();
    access.admit(&login).unwrap();
    assert_eq!(counting.take_counts().calls(), (1, 0));
    access.issue_login(&grant).ok().unwrap();
    assert_eq!(counting.take_counts().calls(), (2, 1));
    access.issue_login(&grant).ok().unwrap();
    let again = counting.take_counts();
    assert_eq!((again.calls(), again.keys_read), ((1, 1), 4));

    let limited = server.log_in(TokenParameters {
        num_uses: 9,
        ..policies(&["a"])
    });
    request.token = Some(limited.client_token.clone());
    access.admit(&request).unwrap();
    assert_eq!(counting.take_counts().calls(), (2, 1));
    access.admit(&request).unwrap();
    assert_eq!(counting.take_counts().calls(), (1, 1));
}

#[test]
fn s7_a_token_that_was_admitted_before_is_judged_by_the_records_as_they_are() {
    let server = Server::ready();
    let rules = |capability: &str| {
        format!("path \"auth/gcp/role/dev\" {{ capabilities = [\"{capability}\"] }}")
    };
    server.access.write_policy("a", &rules("read")).unwrap();
    let token = server.log_in(policies(&["a"]));
    let warm = AccessService::new(server.store, server.clock, server.random);
    let mut request = lookup_self(token.client_token.as_str());
    request.path = "auth/gcp/role/dev".into();
    for _ in 0..2 {
        warm.admit(&request).unwrap();
    }
    server.access.write_policy("a", &rules("deny")).unwrap();
    assert_eq!(warm.admit(&request).err(), Some(AdmissionError::Denied));
    server.access.write_policy("a", &rules("read")).unwrap();
    warm.admit(&request).unwrap();

    let counting = CountingStore::new(server.store);
    let counted = AccessService::new(&counting, server.clock, server.random);
    for _ in 0..2 {
        counted.admit(&request).unwrap();
    }
    let reference = token.reference();
    assert_eq!(server.access.revoke_token(&reference), Ok(true));
    assert_eq!(
        warm.admit(&request).err(),
        Some(AdmissionError::InvalidToken)
    );
    counting.take_counts();
    for keys in [3 + 4, 3] {
        assert_eq!(
            counted.admit(&request).err(),
            Some(AdmissionError::InvalidToken)
        );
        let counts = counting.take_counts();
        // The mount, the entity and the two policies that it needed are asked for once more, and then forgotten.
        assert_eq!((counts.calls(), counts.keys_read), ((1, 0), keys));
    }
}

#[test]
fn s7_a_token_that_comes_again_under_its_identifier_has_the_policies_of_its_new_record() {
    let server = Server::ready();
    for (name, path) in [("a", "auth/gcp/role/dev"), ("b", "auth/gcp/role/other")] {
        let rules = format!("path \"{path}\" {{ capabilities = [\"read\"] }}");
        server.access.write_policy(name, &rules).unwrap();
    }
    let create = |policy: &str| {
        let request = CreateRequest {
            id: Some("chosen".to_owned()),
            policies: Some(vec![policy.to_owned()]),
            ttl: Some(60),
            ..CreateRequest::default()
        };
        server
            .access
            .create_token(&sudo(ROOT), &request)
            .ok()
            .unwrap();
    };
    let warm = AccessService::new(server.store, server.clock, server.random);
    let mut request = lookup_self("chosen");
    request.path = "auth/gcp/role/dev".into();
    create("a");
    for _ in 0..2 {
        warm.admit(&request).unwrap();
    }
    let reference = TokenReference::Id("chosen".to_owned());
    assert_eq!(server.access.revoke_token(&reference), Ok(true));
    create("b");
    assert_eq!(warm.admit(&request).err(), Some(AdmissionError::Denied));
    request.path = "auth/gcp/role/other".into();
    warm.admit(&request).unwrap();
}

/// A quota that counts each token, and so costs a row for each.
const COUNTED: NonZeroU32 = NonZeroU32::new(1_000).unwrap();

/// The checks and changes of the commit of one more login, the smallest of some, for an account that logged in before.
fn login_of_a_known_account(settings: Settings) -> (usize, usize) {
    let server = Server::ready();
    let grant = server.grant("1234", policies(&["a"]));
    server.access.issue_login(&grant).ok().unwrap();
    let counting = CountingStore::new(server.store);
    let access = AccessService::new(&counting, server.clock, server.random).with_settings(settings);
    let counts = (0..10).map(|_| {
        counting.take_counts();
        access.issue_login(&grant).ok().unwrap();
        let counts = counting.take_counts();
        assert_eq!(counts.commits, 1);
        (counts.checks, counts.changes)
    });
    counts.min().unwrap()
}

#[test]
fn a_login_writes_one_row_and_one_more_for_each_quota_that_counts_every_token() {
    let default = Settings::DEFAULT;
    assert_eq!(login_of_a_known_account(default), (1, 1));
    let unlimited = Settings {
        live_tokens_per_mount: None,
        ..default
    };
    assert_eq!(login_of_a_known_account(unlimited), (0, 1));
    let of_role = Settings {
        live_tokens_per_role: Some(COUNTED),
        ..default
    };
    assert_eq!(login_of_a_known_account(of_role), (2, 2));
    let of_both = Settings {
        live_tokens_per_mount: Some(COUNTED),
        ..of_role
    };
    assert_eq!(login_of_a_known_account(of_both), (2, 3));
}

#[test]
fn a_token_is_one_row_and_one_more_below_a_parent_and_changes_as_one() {
    let server = Server::ready();
    let counting = CountingStore::new(server.store);
    let access = AccessService::new(&counting, server.clock, server.random);
    let changes = |operation: &dyn Fn() -> String| {
        counting.take_counts();
        let text = operation();
        (text, counting.take_counts().changes)
    };
    let create = |parent: &str, request: &CreateRequest| {
        let created = access.create_token(&sudo(parent), request).ok().unwrap();
        created.client_token.clone()
    };
    let orphan = CreateRequest {
        policies: Some(vec!["default".to_owned()]),
        no_parent: true,
        ttl: Some(60),
        ..CreateRequest::default()
    };
    let (parent, count) = changes(&|| create(ROOT, &orphan));
    assert_eq!(count, 1);
    let (child, count) = changes(&|| create(&parent, &CreateRequest::default()));
    assert_eq!(count, 2);
    let reference = TokenReference::Id(parent.clone());
    let renew = || {
        access.renew_token(&reference, 60, None).unwrap();
        parent.clone()
    };
    assert_eq!(changes(&renew).1, 1);
    let revoke = || {
        let reference = TokenReference::Id(child.clone());
        assert_eq!(access.revoke_token(&reference), Ok(true));
        child.clone()
    };
    assert_eq!(changes(&revoke).1, 2);
    let limited = CreateRequest {
        num_uses: Some(2),
        ..orphan
    };
    let (limited, count) = changes(&|| create(ROOT, &limited));
    assert_eq!(count, 1);
    let request = lookup_self(&limited);
    for _ in 0..2 {
        let spend = || {
            access.admit(&request).unwrap();
            limited.clone()
        };
        assert_eq!(changes(&spend).1, 1);
    }
}

#[test]
fn a_token_is_found_by_its_accessor_and_by_its_lease_with_one_read() {
    let server = Server::ready();
    let token = server.log_in(policies(&["a"]));
    let leases = server
        .access
        .list_leases("auth/gcp/login", None, 10)
        .unwrap();
    let counting = CountingStore::new(server.store);
    let access = AccessService::new(&counting, server.clock, server.random);
    let by_text = token.reference();
    access.lookup_token(&by_text).unwrap();
    for reference in [
        by_text,
        TokenReference::Accessor(token.grant.accessor),
        TokenReference::Lease(format!("auth/gcp/login/{}", leases.keys[0])),
    ] {
        counting.take_counts();
        access.lookup_token(&reference).unwrap();
        // The second is of what the token rests on.
        assert_eq!(counting.take_counts().calls(), (2, 0));
    }
}

#[test]
fn a_batch_token_is_admitted_with_two_reads_and_made_without_a_commit() {
    let server = Server::ready();
    let batch = TokenParameters {
        token_type: Some(TokenType::Batch),
        ..policies(&["a"])
    };
    let grant = server.grant("1234", batch.clone());
    let token = server.log_in(batch);
    let counting = CountingStore::new(server.store);
    let access = AccessService::new(&counting, server.clock, server.random);
    access.current_cluster().unwrap();
    let request = lookup_self(token.client_token.as_str());
    access.admit(&request).unwrap();
    counting.take_counts();
    access.admit(&request).unwrap();
    assert_eq!(counting.take_counts().calls(), (2, 0));
    access.issue_login(&grant).ok().unwrap();
    assert_eq!(counting.take_counts().calls(), (3, 0));
    access.issue_login(&grant).ok().unwrap();
    assert_eq!(counting.take_counts().calls(), (2, 0));
}

#[test]
fn t10_every_token_that_is_not_valid_costs_one_read() {
    let server = Server::ready();
    let made = server.log_in(TokenParameters {
        token_type: Some(TokenType::Batch),
        ..policies(&["a"])
    });
    let text = made.client_token.as_str();
    let counting = CountingStore::new(server.store);
    let access = AccessService::new(&counting, server.clock, server.random);
    let admit = |token: &str| {
        access.admit(&Request {
            token: Some(token.into()),
            operation: Operation::Read,
            path: "auth/gcp/role/dev".into(),
            parameters: None,
            wrap_ttl: None,
            source_address: None,
        })
    };
    admit("warm").err().unwrap();
    counting.take_counts();
    let (left, right) = text.split_at(60);
    let other = if right.starts_with('A') { "B" } else { "A" };
    let altered = [left, other, right.split_at(1).1].concat();
    let long = format!("hvb.{}", "A".repeat(100_000));
    let generated = format!("hvs.{}", "A".repeat(51));
    for token in [
        "hvs.x", &generated, "hvb.", "hvb.x", "hvb.=", &altered, &long, "b.x",
    ] {
        let refusal = admit(token).err();
        let cut: String = token.chars().take(20).collect();
        assert_eq!(refusal, Some(AdmissionError::InvalidToken), "{cut}");
        let counts = counting.take_counts();
        // Two keys of mounts that the path may lie in, and one for the token.
        assert_eq!((counts.calls(), counts.keys_read), ((1, 0), 3), "{cut}");
    }
}

#[test]
fn the_form_of_a_token_tells_the_one_key_that_a_lookup_reads() {
    let server = Server::ready();
    let generated = server.access.generate_root().unwrap();
    let wrapped = WrapRequest {
        content: b"content".to_vec(),
        creation_path: "auth/gcp/login".to_owned(),
        ttl: 60,
        wrapped_accessor: None,
    };
    let wrapping = server.access.wrap(&wrapped).ok().unwrap();
    let counting = CountingStore::new(server.store);
    let access = AccessService::new(&counting, server.clock, server.random);
    access.current_cluster().unwrap();
    // Root tokens rest on nothing else.
    for token in [generated.expose(), ROOT] {
        access.admit(&lookup_self(token)).unwrap();
        counting.take_counts();
        access.admit(&lookup_self(token)).unwrap();
        // The mount of the path, and the token.
        assert_eq!(counting.take_counts().keys_read, 2);
        access
            .lookup_token(&TokenReference::Id(token.into()))
            .unwrap();
        assert_eq!(counting.take_counts().keys_read, 1);
        assert_eq!(access.read_cubbyhole(token, "a"), Ok(None));
        assert_eq!(counting.take_counts().keys_read, 2, "with what it keeps");
    }
    access.read_wrapping(&wrapping.token).ok().unwrap();
    assert_eq!(counting.take_counts().keys_read, 2, "with what it wraps");
}
