//! What one request costs in round trips to the store.

use crate::server::{Server, policies};
use gatehouse_access::{
    AccessService, Logins as _, Operation, Policies as _, Refusal, Request, Requests as _,
    System as _, TokenParameters, TokenType,
};
use gatehouse_ports::doubles::CountingStore;

#[test]
fn a_warm_instance_admits_with_two_reads_and_logs_in_with_two_reads_and_one_commit() {
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
        token: Some(token.client_token.expose().into()),
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
    assert_eq!(counting.take_counts().calls(), (2, 0));
    let login = Request {
        token: None,
        operation: Operation::Update,
        path: "auth/gcp/login".into(),
        source_address: None,
        wrap_ttl: None,
        parameters: None,
    };
    access.admit(&login).unwrap();
    assert_eq!(counting.take_counts().calls(), (1, 0));
    access.issue_login(&grant).ok().unwrap();
    assert_eq!(counting.take_counts().calls(), (2, 1));

    let limited = server.log_in(TokenParameters {
        num_uses: 9,
        ..policies(&["a"])
    });
    request.token = Some(limited.client_token.expose().to_owned());
    access.admit(&request).unwrap();
    assert_eq!(counting.take_counts().calls(), (2, 1));
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
    let request = Request {
        token: Some(token.client_token.expose().into()),
        operation: Operation::Read,
        path: "auth/token/lookup-self".into(),
        parameters: None,
        wrap_ttl: None,
        source_address: None,
    };
    access.admit(&request).unwrap();
    counting.take_counts();
    access.admit(&request).unwrap();
    assert_eq!(counting.take_counts().calls(), (2, 0));
    access.issue_login(&grant).ok().unwrap();
    assert_eq!(counting.take_counts().calls(), (3, 0));
}

#[test]
fn t10_every_token_that_is_not_valid_costs_one_read() {
    let server = Server::ready();
    let made = server.log_in(TokenParameters {
        token_type: Some(TokenType::Batch),
        ..policies(&["a"])
    });
    let text = made.client_token.expose();
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
    for token in ["hvs.x", "hvb.", "hvb.x", "hvb.=", &altered, &long, "b.x"] {
        let refusal = admit(token).err();
        let cut: String = token.chars().take(20).collect();
        assert_eq!(refusal, Some(Refusal::InvalidToken), "{cut}");
        assert_eq!(counting.take_counts().calls(), (1, 0), "{cut}");
    }
}
