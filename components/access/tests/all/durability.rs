//! A token is stored before it is returned, and an error leaves none behind (SEC-T1, SEC-T11).

use crate::server::{ROOT, Server, TestStore, policies, sudo};
use gatehouse_access::{
    AccessService, CreateError, CreateRequest, Issued, LoginError, Logins as _, ServiceError,
    TokenCreation as _, TokenLookup as _, TokenParameters, TokenType,
};
use gatehouse_ports::doubles::{FaultyStore, NoRandom};

/// More than any of the calls below makes.
const MANY_CALLS: usize = 40;

type Faulty<'a> = AccessService<
    &'a FaultyStore<&'static TestStore>,
    &'static gatehouse_ports::doubles::ManualClock,
    &'static gatehouse_ports::doubles::SeededRandom,
>;

/// The keys of everything that belongs to tokens.
fn token_keys(server: &Server) -> Vec<String> {
    let mut keys = server.store.keys();
    keys.retain(|key| {
        ["token/", "accessor/", "child/"]
            .iter()
            .any(|prefix| key.starts_with(prefix))
    });
    keys
}

/// Fails every call to the store, one after another, until the operation comes through.
#[track_caller]
fn issues_nothing_beside_an_error(operation: impl Fn(&Server, &Faulty<'_>) -> Option<Issued>) {
    for fails_at in 0..MANY_CALLS {
        let server = Server::ready();
        let before = token_keys(&server);
        let store = FaultyStore::failing_at(server.store, fails_at);
        let access = AccessService::new(&store, server.clock, server.random);
        match operation(&server, &access) {
            None => assert_eq!(token_keys(&server), before, "call {fails_at}"),
            Some(issued) => {
                assert!(fails_at > 2, "nothing was asked of the store");
                // Another instance has nothing but the store to know it from.
                let read = server.another_instance().lookup_token(&issued.reference());
                assert!(read.is_ok());
                return;
            }
        }
    }
    panic!("the operation never came through");
}

fn login(token_type: TokenType) -> impl Fn(&Server, &Faulty<'_>) -> Option<Issued> {
    move |server, access| {
        let grant = server.grant(
            "1234",
            TokenParameters {
                token_type: Some(token_type),
                ..policies(&["dev"])
            },
        );
        match access.issue_login(&grant) {
            Ok(issued) => Some(issued),
            Err(error) => {
                let pulled = ServiceError::Unavailable("pulled".to_owned());
                assert_eq!(error, LoginError::Failure(pulled));
                None
            }
        }
    }
}

fn create(request: CreateRequest) -> impl Fn(&Server, &Faulty<'_>) -> Option<Issued> {
    move |_, access| match access.create_token(&sudo(ROOT), &request) {
        Ok(issued) => Some(issued),
        Err(error) => {
            let pulled = ServiceError::Unavailable("pulled".to_owned());
            assert_eq!(error, CreateError::Failure(pulled));
            None
        }
    }
}

fn asked(token_type: &str) -> CreateRequest {
    CreateRequest {
        token_type: Some(token_type.to_owned()),
        policies: Some(vec!["dev".to_owned()]),
        ..CreateRequest::default()
    }
}

#[test]
fn t11_a_login_that_fails_anywhere_leaves_no_token() {
    issues_nothing_beside_an_error(login(TokenType::Service));
    issues_nothing_beside_an_error(login(TokenType::Batch));
}

#[test]
fn t11_a_creation_that_fails_anywhere_leaves_no_token() {
    issues_nothing_beside_an_error(create(asked("service")));
    issues_nothing_beside_an_error(create(asked("batch")));
    issues_nothing_beside_an_error(create(CreateRequest {
        id: Some("mine".to_owned()),
        ..asked("service")
    }));
}

#[test]
fn t1_without_randomness_there_is_no_token() {
    let server = Server::ready();
    let before = server.store.commits();
    let access = AccessService::new(server.store, server.clock, NoRandom);
    for token_type in [TokenType::Service, TokenType::Batch] {
        let grant = server.grant(
            "1234",
            TokenParameters {
                token_type: Some(token_type),
                ..policies(&["dev"])
            },
        );
        let refused = access.issue_login(&grant).err();
        assert_eq!(
            refused,
            Some(LoginError::Failure(ServiceError::NoRandomness))
        );
    }
    for request in [asked("service"), asked("batch")] {
        let refused = access.create_token(&sudo(ROOT), &request).err();
        assert_eq!(
            refused,
            Some(CreateError::Failure(ServiceError::NoRandomness))
        );
    }
    assert_eq!(server.store.commits(), before);
}
