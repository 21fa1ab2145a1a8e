//! A root token that was chosen in exactly the form of generated ones: it is stored and found as they are, by its text and by the accessor
//! that follows from it.

use gatehouse_access::{
    AccessService, AdmissionError, CreateError, CreateRequest, Cubbyhole as _, InitializeError,
    Operation, ROOT_TOKEN_CHARACTERS, Revocation as _, System as _, TokenCreation as _,
    TokenLookup as _, TokenReference, WritePermission,
};

use crate::server::{ROOT, Server, sudo};

/// `hvs.` and as many letters and digits as a generated token has.
const CHOSEN: &str = "hvs.LettersAndDigitsThatAPersonHasTypedIn12345678901234";

/// A server with this root token, and the token's accessor.
fn initialized() -> (Server, String) {
    let server = Server::empty();
    assert_eq!(CHOSEN.len(), ROOT_TOKEN_CHARACTERS);
    let initialized = server.access.initialize(Some(CHOSEN)).ok().unwrap();
    assert_eq!(initialized.root_token, CHOSEN);
    server.enable("gcp");
    let view = server.access.lookup_token(&by_text()).unwrap();
    (server, view.accessor)
}

fn by_text() -> TokenReference {
    TokenReference::Id(CHOSEN.into())
}

fn listed(server: &Server) -> Vec<String> {
    server.access.list_accessors(None, 100).unwrap().keys
}

#[test]
fn it_is_found_by_its_text_and_by_the_accessor_that_follows_from_it() {
    let (server, accessor) = initialized();
    assert_eq!((accessor.len(), &accessor[..8]), (26, &CHOSEN[4..12]));
    let keys = server.store.keys();
    assert!(!keys.iter().any(|key| key.starts_with("accessor/")));
    let found = server
        .access
        .lookup_token(&TokenReference::Accessor(accessor.clone()))
        .unwrap();
    assert_eq!(found.policies, ["root"]);
    server
        .admit(CHOSEN, Operation::Read, "auth/token/lookup-self")
        .unwrap();
    let child = server.child(CHOSEN, &CreateRequest::default());
    let mut expected = vec![accessor, child.grant.accessor];
    expected.sort_unstable();
    assert_eq!(listed(&server), expected, "in the order of time");
    server.tidy();
    assert_eq!(listed(&server), expected);
    let other = format!("{}5", &CHOSEN[..ROOT_TOKEN_CHARACTERS - 1]);
    for text in [&CHOSEN[..ROOT_TOKEN_CHARACTERS - 1], &other] {
        let refused = server.admit(text, Operation::Read, "auth/token/lookup-self");
        assert_eq!(refused.err(), Some(AdmissionError::InvalidToken));
    }
}

#[test]
fn it_is_revoked_by_its_text_and_by_its_accessor_with_its_children_and_without() {
    for way in ["text", "accessor", "alone"] {
        let (server, accessor) = initialized();
        let child = server.child(CHOSEN, &CreateRequest::default());
        let ended = match way {
            "text" => server.access.revoke_token(&by_text()),
            "accessor" => server
                .access
                .revoke_token(&TokenReference::Accessor(accessor.clone())),
            _ => server.access.revoke_token_alone(&by_text()),
        };
        assert_eq!(ended, Ok(true), "{way}");
        assert!(!server.is_valid(CHOSEN), "{way}");
        let by_accessor = TokenReference::Accessor(accessor);
        assert!(server.access.lookup_token(&by_accessor).is_err(), "{way}");
        let left = server.is_valid(child.client_token.as_str());
        assert_eq!(left, way == "alone");
        assert_eq!(listed(&server).len(), usize::from(left), "{way}");
        assert_eq!(server.access.revoke_token(&by_text()), Ok(false), "{way}");
    }
}

#[test]
fn it_keeps_secrets_which_end_with_it() {
    let (server, _) = initialized();
    let any = WritePermission {
        create: true,
        update: true,
    };
    let written = server.access.write_cubbyhole(CHOSEN, "a", b"kept", any);
    assert_eq!(written, Ok(()));
    let read = |token: &str| server.access.read_cubbyhole(token, "a");
    assert_eq!(read(CHOSEN), Ok(Some(b"kept".to_vec())));
    let child = server.child(CHOSEN, &CreateRequest::default());
    assert_eq!(read(child.client_token.as_str()), Ok(None));
    assert_eq!(server.access.revoke_token(&by_text()), Ok(true));
    let keys = server.store.keys();
    assert!(!keys.iter().any(|key| key.starts_with("cubbyhole/")));
}

#[test]
fn no_second_token_has_its_text() {
    let (server, accessor) = initialized();
    let again = server.access.initialize(Some(CHOSEN)).err();
    assert_eq!(again, Some(InitializeError::AlreadyInitialized));
    let chosen = CreateRequest {
        id: Some(CHOSEN.to_owned()),
        ..CreateRequest::default()
    };
    let refused = |server: &Server, parent: &str| {
        let created = server.access.create_token(&sudo(parent), &chosen);
        assert_eq!(created.err(), Some(CreateError::IdWithReservedPrefix));
    };
    refused(&server, CHOSEN);
    assert_eq!(listed(&server), [accessor]);
    // Nor has it elsewhere, where it is not taken.
    refused(&Server::ready(), ROOT);
}

#[test]
fn its_accessor_depends_on_the_secret_of_the_server() {
    let (server, accessor) = initialized();
    let other = Server::empty();
    let random = gatehouse_ports::doubles::SeededRandom::new(8);
    let access = AccessService::new(other.store, other.clock, &random);
    access.initialize(Some(CHOSEN)).ok().unwrap();
    let view = access.lookup_token(&by_text()).unwrap();
    assert_ne!(view.accessor, accessor);
    assert!(server.is_valid(CHOSEN));
}
