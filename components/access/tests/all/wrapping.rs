//! Responses that a token gives out once (contract 1.8, 6.6).

use crate::server::{HOUR, ROOT, START, Server};
use base64::Engine as _;
use gatehouse_access::{
    AdmissionError, Operation, Policies as _, Request, Requests as _, Revocation as _,
    ServiceError, TokenLookup as _, TokenParameters, TokenReference, UnwrapError, WrapError,
    WrapRequest, Wrapping as _, WrappingToken, WrappingView,
};
use gatehouse_ports::{CommitError, StoreError};

const CONTENT: &[u8] = b"the inner token is hvs.inner";
const UNWRAP: &str = "sys/wrapping/unwrap";

fn request(ttl: u64) -> WrapRequest {
    WrapRequest {
        content: CONTENT.to_vec(),
        creation_path: "auth/gcp/login".to_owned(),
        ttl,
        wrapped_accessor: Some("inner-accessor".to_owned()),
    }
}

fn wrap(server: &Server, ttl: u64) -> WrappingToken {
    server.access.wrap(&request(ttl)).ok().unwrap()
}

fn is_unknown(server: &Server, token: &str) -> bool {
    let invalid = UnwrapError::InvalidToken;
    server.access.read_wrapping(token) == Err(invalid.clone())
        && server.access.unwrap_content(token) == Err(invalid.clone())
        && server.access.rewrap(token, None).err() == Some(invalid)
}

#[test]
fn t2_a_wrapped_response_is_kept_without_its_token_or_its_content_in_clear() {
    let server = Server::ready();
    let before = server.store.keys();
    let wrapping = wrap(&server, 60);
    let token = &wrapping.token;
    assert!(token.starts_with("hvs.") && token.len() == gatehouse_access::ROOT_TOKEN_CHARACTERS);
    assert_eq!((wrapping.ttl, wrapping.creation_time), (60, START));
    assert_eq!(wrapping.creation_path, "auth/gcp/login");
    assert_eq!(wrapping.wrapped_accessor.as_deref(), Some("inner-accessor"));

    let mut added = server.store.keys();
    added.retain(|key| !before.contains(key));
    let kinds: Vec<&str> = added
        .iter()
        .filter_map(|key| key.split('/').next())
        .collect();
    assert_eq!(kinds, ["token", "wrapped"]);
    let stored = server.store.values().concat();
    let stored = String::from_utf8_lossy(&stored);
    let encoded = base64::engine::general_purpose::STANDARD_NO_PAD.encode(CONTENT);
    for secret in [token, "hvs.inner", &encoded] {
        assert!(!stored.contains(secret));
        assert!(!added.concat().contains(secret));
    }
}

#[test]
fn contract_1_8_a_wrapping_token_has_one_use_one_policy_and_no_parent() {
    let server = Server::ready();
    let wrapping = wrap(&server, 60);
    let view = server
        .access
        .lookup_token(&TokenReference::Id(wrapping.token.clone()))
        .unwrap();
    assert_eq!(view.policies, ["response-wrapping"]);
    assert_eq!(
        (view.num_uses, view.ttl, view.explicit_max_ttl),
        (1, 60, 60)
    );
    assert!(view.orphan && !view.renewable && view.entity_id.is_none());
    assert_eq!(view.path, "auth/gcp/login");
    assert_eq!(view.accessor, wrapping.accessor);
    assert!(view.is_wrapping());
    assert!(
        !server
            .access
            .lookup_token(&TokenReference::Id(ROOT.into()))
            .unwrap()
            .is_wrapping()
    );
}

#[test]
fn t4_content_is_given_out_once_and_leaves_nothing_behind() {
    let server = Server::ready();
    let before = server.store.keys();
    let wrapping = wrap(&server, 60);
    let token = &wrapping.token;
    let view = WrappingView {
        creation_time: START,
        creation_ttl: 60,
        creation_path: "auth/gcp/login".to_owned(),
    };
    for _ in 0..3 {
        assert_eq!(server.access.read_wrapping(token), Ok(view.clone()));
    }
    let unwrapped = server.another_instance().unwrap_content(token);
    assert_eq!(unwrapped.as_deref(), Ok(CONTENT));
    assert!(is_unknown(&server, token));
    assert!(!server.is_valid(token));
    assert_eq!(server.store.keys(), before);
}

#[test]
fn t4_of_many_that_unwrap_at_once_exactly_one_gets_the_content() {
    for _ in 0..20 {
        let server = Server::ready();
        let wrapping = wrap(&server, 60);
        let token = &wrapping.token;
        let winners = std::thread::scope(|scope| {
            let clients: Vec<_> = (0..16)
                .map(|client| {
                    let server = &server;
                    scope.spawn(move || {
                        let instance = server.another_instance();
                        // Every second one comes as the caller, the others name the token.
                        if client % 2 == 0 {
                            let admitted = instance.admit(&as_caller(token, UNWRAP));
                            assert!(!matches!(admitted, Err(AdmissionError::Denied)));
                        }
                        match instance.unwrap_content(token) {
                            Ok(content) => Some(content),
                            Err(UnwrapError::InvalidToken) => None,
                            Err(other) => panic!("{other}"),
                        }
                    })
                })
                .collect();
            let outcomes = clients.into_iter().filter_map(|it| it.join().unwrap());
            outcomes.collect::<Vec<_>>()
        });
        assert_eq!(winners, [CONTENT]);
    }
}

fn as_caller(token: &str, path: &str) -> Request {
    Request {
        token: Some(token.into()),
        operation: Operation::Update,
        path: path.into(),
        source_address: None,
        wrap_ttl: None,
        parameters: None,
    }
}

#[test]
fn t4_a_use_whose_commit_fails_gives_nothing_out() {
    let server = Server::ready();
    let wrapping = wrap(&server, 60);
    let full = || CommitError::Failed(StoreError::Unavailable("full".to_owned()));
    let failure = ServiceError::Unavailable("full".to_owned());
    server.store.fail_next_commit(full());
    let unwrapped = server.access.unwrap_content(&wrapping.token);
    assert_eq!(unwrapped, Err(UnwrapError::Failure(failure.clone())));

    let before = server.store.keys();
    server.store.fail_next_commit(full());
    let refused = server.access.wrap(&request(60)).err();
    assert_eq!(refused, Some(WrapError::Failure(failure)));
    assert_eq!(server.store.keys(), before);
}

#[test]
fn an_expired_or_revoked_wrapping_token_takes_its_content_along() {
    let server = Server::ready();
    let before = server.store.keys();
    let expiring = wrap(&server, 60);
    server.advance(59);
    assert!(server.access.read_wrapping(&expiring.token).is_ok());
    server.advance(1);
    assert!(is_unknown(&server, &expiring.token));
    assert_eq!(server.store.keys(), before);

    let revoked = wrap(&server, 60);
    let by_accessor = &TokenReference::Accessor(revoked.accessor.clone());
    assert_eq!(server.access.revoke_token(by_accessor), Ok(true));
    assert!(is_unknown(&server, &revoked.token));
    assert_eq!(server.store.keys(), before);
}

#[test]
fn a_wrapping_token_may_come_to_unwrap_and_keeps_its_use_until_then() {
    let server = Server::ready();
    let wrapping = wrap(&server, 60);
    let token = &wrapping.token;
    for path in [UNWRAP, "sys/wrapping/rewrap"] {
        let admission = server.access.admit(&as_caller(token, path)).unwrap();
        assert!(admission.caller.unwrap().is_wrapping());
    }
    assert_eq!(server.access.unwrap_content(token).as_deref(), Ok(CONTENT));
    let again = server.access.admit(&as_caller(token, UNWRAP));
    assert_eq!(again, Err(AdmissionError::InvalidToken));
}

#[test]
fn t4_on_any_other_path_the_use_is_taken_and_the_content_gone() {
    let server = Server::ready();
    let before = server.store.keys();
    for (operation, path) in [
        (Operation::Read, "auth/token/lookup-self"),
        (Operation::Update, "sys/wrapping/wrap"),
        (Operation::Update, "auth/token/create"),
        (Operation::Read, UNWRAP),
    ] {
        let wrapping = wrap(&server, 60);
        let token = &wrapping.token;
        let refused = server.admit(token, operation, path);
        assert_eq!(refused, Err(AdmissionError::Denied), "{path}");
        assert!(is_unknown(&server, token), "{path}");
        assert_eq!(server.store.keys(), before, "{path}");
    }
}

#[test]
fn contract_6_6_lookup_needs_no_token_and_takes_no_use() {
    let server = Server::ready();
    let wrapping = wrap(&server, 60);
    let token = &wrapping.token;
    for caller in [None, Some("hvs.bad"), Some(token)] {
        for operation in [Operation::Read, Operation::Update] {
            let admission = server.access.admit(&Request {
                token: caller.map(str::to_owned),
                operation,
                path: "sys/wrapping/lookup".into(),
                source_address: None,
                wrap_ttl: None,
                parameters: None,
            });
            let admission = admission.unwrap();
            assert_eq!((admission.caller, admission.mount), (None, None));
            assert_eq!(admission.remainder, "sys/wrapping/lookup");
            assert!(!admission.sudo && !admission.limited_uses);
        }
    }
    assert!(server.access.unwrap_content(token).is_ok());
}

#[test]
fn tokens_that_wrap_nothing_and_unknown_ones_are_refused_alike() {
    let server = Server::ready();
    let login = server.log_in(TokenParameters::default());
    for token in [ROOT, login.client_token.as_str(), "hvs.unknown", ""] {
        assert!(is_unknown(&server, token));
    }
    assert!(server.is_valid(ROOT) && server.is_valid(login.client_token.as_str()));
}

#[test]
fn a_rewrapping_ends_the_old_token_and_keeps_what_it_stood_for() {
    let server = Server::ready();
    let old = wrap(&server, 100);
    server.advance(40);
    let keys = server.store.keys().len();
    let new = server.access.rewrap(&old.token, None);
    let new = new.ok().unwrap();
    assert!(is_unknown(&server, &old.token));
    assert_eq!(server.store.keys().len(), keys);
    assert_eq!((new.ttl, new.creation_time), (100, START + 40));
    assert_eq!(new.creation_path, "auth/gcp/login");
    assert_eq!(new.wrapped_accessor.as_deref(), Some("inner-accessor"));
    assert_ne!(new.accessor, old.accessor);
    let content = server.access.unwrap_content(&new.token);
    assert_eq!(content.as_deref(), Ok(CONTENT));
}

#[test]
fn a_rewrapping_may_shorten_a_life_and_never_prolongs_it() {
    let server = Server::ready();
    for (asked, ttl) in [
        (Some(30), 30),
        (Some(100), 100),
        (Some(HOUR), 100),
        (Some(0), 100),
    ] {
        let old = wrap(&server, 100);
        let new = server.access.rewrap(&old.token, asked);
        assert_eq!(new.ok().unwrap().ttl, ttl, "{asked:?}");
    }
}

#[test]
fn lives_are_cut_to_the_systems_longest_lease_and_need_a_second() {
    let server = Server::ready();
    assert_eq!(wrap(&server, u64::MAX).ttl, 768 * HOUR);
    let before = server.store.commits();
    let refused = server.access.wrap(&request(0)).err();
    assert_eq!(refused, Some(WrapError::NoTtl));
    assert_eq!(server.store.commits(), before);
}

#[test]
fn the_largest_content_fits_and_a_larger_one_is_refused() {
    let server = Server::ready();
    let content = vec![b'"'; 700 * 1024 + 1];
    let of_length = |length: usize| {
        let mut request = request(60);
        request.content = content[..length].to_vec();
        server.access.wrap(&request)
    };
    let largest = of_length(700 * 1024).ok().unwrap();
    let unwrapped = server.access.unwrap_content(&largest.token);
    assert_eq!(unwrapped.unwrap().len(), 700 * 1024);
    let before = server.store.commits();
    let refused = of_length(700 * 1024 + 1).err();
    assert_eq!(refused, Some(WrapError::TooLarge(716_800)));
    assert_eq!(server.store.commits(), before);
}

#[test]
fn policy_response_wrapping_can_be_read_and_nothing_else() {
    let server = Server::ready();
    let policy = server.access.read_policy("response-wrapping").unwrap();
    assert!(policy.unwrap().text.contains("sys/wrapping/unwrap"));
    assert_eq!(server.access.list_policies().unwrap(), ["default", "root"]);
    let text = "path \"*\" { capabilities = [\"read\"] }";
    assert!(
        server
            .access
            .write_policy("response-wrapping", text)
            .is_err()
    );
    assert!(server.access.delete_policy("response-wrapping").is_err());
}
