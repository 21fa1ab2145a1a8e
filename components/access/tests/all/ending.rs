//! Ending every token, as after a restore (SEC-S11).

use crate::server::batch::batch;
use crate::server::{ROOT, Server, policies, sudo};
use gatehouse_access::{
    CreateRequest, Logins as _, System as _, TokenCreation as _, TokenLookup as _, TokenReference,
    WrapRequest, Wrapping as _,
};

/// Tokens of every kind, each of which is valid.
fn tokens_of_every_kind(server: &Server) -> Vec<String> {
    let login = server.log_in(policies(&["dev"]));
    let login = login.client_token.clone();
    let request = CreateRequest {
        ttl: Some(3600),
        policies: Some(vec!["dev".to_owned()]),
        ..CreateRequest::default()
    };
    let child = server.child(ROOT, &request);
    let child = child.client_token.clone();
    let batch_login = server.log_in(batch());
    let batch_child = server.child(
        ROOT,
        &CreateRequest {
            token_type: Some("batch".to_owned()),
            ..request.clone()
        },
    );
    let another_root = server.access.generate_root().ok().unwrap();
    let wrapped = server.access.wrap(&WrapRequest {
        content: b"secret".to_vec(),
        creation_path: "auth/gcp/login".to_owned(),
        ttl: 3600,
        wrapped_accessor: None,
    });
    let grandchild = server.access.create_token(&sudo(&child), &request);
    let tokens = vec![
        ROOT.to_owned(),
        login,
        child,
        grandchild.ok().unwrap().client_token.clone(),
        batch_login.client_token.clone(),
        batch_child.client_token.clone(),
        another_root.expose().to_owned(),
        wrapped.ok().unwrap().token,
    ];
    for token in &tokens {
        assert!(server.is_valid(token));
    }
    tokens
}

#[test]
fn s11_all_tokens_end_and_new_ones_are_valid() {
    let server = Server::ready();
    let tokens = tokens_of_every_kind(&server);
    let cluster = server.access.current_cluster().unwrap();
    server.access.end_all_tokens().unwrap();
    let another = server.another_instance();
    for token in &tokens {
        assert!(!server.is_valid(token));
        let by_id = another.lookup_token(&TokenReference::Id(token.clone()));
        assert!(by_id.is_err());
        let unwrapped = server.access.unwrap_content(token);
        assert!(unwrapped.is_err());
    }
    assert_eq!(server.access.current_cluster().unwrap(), cluster);

    let root = server.access.generate_root().ok().unwrap();
    assert!(server.is_valid(root.expose()));
    let login = server.log_in(policies(&["dev"]));
    assert!(server.is_valid(login.client_token.as_str()));
    let batch = server.log_in(batch());
    assert!(server.is_valid(batch.client_token.as_str()));
}

#[test]
fn s11_nothing_is_left_of_tokens_that_ended_once_the_store_was_tidied() {
    let server = Server::ready();
    tokens_of_every_kind(&server);
    server.access.end_all_tokens().unwrap();
    while server.store.keys().iter().any(|key| key == "sweep") {
        server.access.maintain().unwrap();
    }
    let left: Vec<String> = server
        .store
        .keys()
        .into_iter()
        .filter(|key| {
            ["token/", "accessor/", "child/", "wrapped/", "batch-key"]
                .iter()
                .any(|prefix| key.starts_with(prefix))
        })
        .collect();
    assert_eq!(left, [""; 0]);
}

#[test]
fn s11_a_batch_token_of_the_lost_store_is_none_of_the_restored_one() {
    let restored = Server::ready();
    restored.log_in(batch());
    // The lost store continued after the backup, and issued a token by the key that both have.
    let content = restored.store.keys();
    let lost = restored.another_instance();
    let mount = restored.mount("gcp/");
    let issued = lost.issue_login(&restored.grant_at(&mount.path, "1234", batch()));
    let token = issued.ok().unwrap().client_token.clone();
    assert_eq!(
        restored.store.keys().len(),
        content.len(),
        "nothing is stored for it"
    );
    assert!(restored.is_valid(&token));
    restored.access.end_all_tokens().unwrap();
    assert!(!restored.is_valid(&token));
    // The number of the first key is given again, to another one.
    restored.log_in(batch());
    assert!(!restored.is_valid(&token));
}

#[test]
fn s11_ending_all_tokens_twice_is_ending_them_once() {
    let server = Server::ready();
    let tokens = tokens_of_every_kind(&server);
    server.access.end_all_tokens().unwrap();
    server.access.end_all_tokens().unwrap();
    assert!(tokens.iter().all(|token| !server.is_valid(token)));
    assert!(Server::empty().access.end_all_tokens().is_err());
}
