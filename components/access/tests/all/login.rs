//! Tokens and entities of logins.

use crate::server::{HOUR, START, Server, policies};
use gatehouse_access::{
    AdmissionError, Cap, Lifetime, LoginError, Logins as _, MountRequest, Mounts as _, Operation,
    ServiceError, TokenLookup as _, TokenParameters, TokenReference, TokenType, TokenWarning,
};
use gatehouse_ports::{CommitError, StoreError};

fn refused(server: &Server, parameters: TokenParameters) -> LoginError {
    let grant = server.grant("1234", parameters);
    let before = server.store.keys();
    let error = server.access.issue_login(&grant).err().unwrap();
    assert_eq!(
        server.store.keys(),
        before,
        "a refused login stored something"
    );
    error
}

fn lifetime(ttl: u64, period: u64) -> Lifetime {
    Lifetime {
        ttl,
        period,
        ..Lifetime::default()
    }
}

#[test]
fn contract_4_8_the_grant_and_the_stored_token_agree() {
    let server = Server::ready();
    let issued = server.log_in(TokenParameters {
        lifetime: lifetime(2 * HOUR, 0),
        num_uses: 3,
        bound_cidrs: vec!["192.0.2.1".to_owned()],
        ..policies(&[" Dev", "dev"])
    });
    let grant = &issued.grant;
    assert!(issued.client_token.starts_with("hvs."));
    assert_eq!(grant.policies, ["default", "dev"]);
    assert_eq!(grant.token_policies, ["default", "dev"]);
    assert!(grant.identity_policies.is_empty());
    assert_eq!(grant.lease_duration, 2 * HOUR);
    assert!(grant.renewable && grant.orphan);
    assert_eq!((grant.num_uses, grant.token_type), (3, TokenType::Service));
    assert!(grant.warnings.is_empty());
    let metadata = Vec::from([("role".to_owned(), "dev".to_owned())]);
    assert_eq!(grant.metadata, Some(metadata.clone()));

    let by_accessor = &TokenReference::Accessor(grant.accessor.clone());
    let view = server.access.lookup_token(by_accessor).unwrap();
    assert_eq!(
        server.access.lookup_token(&issued.reference()),
        Ok(view.clone())
    );
    assert_eq!(view.display_name, "gcp-dev@p1.example");
    assert_eq!(view.path, "auth/gcp/login");
    assert_eq!(
        (view.creation_time, view.creation_ttl, view.ttl),
        (START, 2 * HOUR, 2 * HOUR)
    );
    assert_eq!(view.expire_time, Some(START + 2 * HOUR));
    assert_eq!(view.entity_id, grant.entity_id);
    assert_eq!(
        (view.num_uses, view.period, view.last_renewal_time),
        (3, 0, None)
    );
    assert_eq!(view.metadata, Some(metadata));
    assert_eq!(view.bound_cidrs, ["192.0.2.1"]);
}

#[test]
fn t2_the_store_holds_no_token() {
    let server = Server::ready();
    let token = server.log_in(TokenParameters::default());
    let secret = token
        .client_token
        .as_str()
        .strip_prefix("hvs.")
        .unwrap()
        .as_bytes();
    let holds = |bytes: &[u8]| bytes.windows(secret.len()).any(|window| window == secret);
    assert!(!server.store.values().iter().any(|value| holds(value)));
    assert!(!server.store.keys().iter().any(|key| holds(key.as_bytes())));
}

#[test]
fn a4_no_spelling_of_root_comes_from_a_login() {
    let server = Server::ready();
    for spelling in ["root", "Root", " root", "root ", "ROOT"] {
        assert_eq!(
            refused(&server, policies(&["dev", spelling])),
            LoginError::RootPolicy
        );
    }
}

#[test]
fn parameters_that_cannot_be_kept_are_refused() {
    let server = Server::ready();
    let default = TokenParameters::default;
    assert_eq!(
        refused(&server, policies(&["response-wrapping"])),
        LoginError::UnassignablePolicy("response-wrapping".to_owned())
    );
    let many: Vec<String> = (0..300).map(|number| format!("p{number}")).collect();
    let many = TokenParameters {
        policies: many,
        ..default()
    };
    assert_eq!(refused(&server, many), LoginError::TooManyPolicies(256));
    let cidrs = |range: &str| TokenParameters {
        bound_cidrs: vec![range.to_owned()],
        ..default()
    };
    assert_eq!(
        refused(&server, cidrs("x")),
        LoginError::InvalidBoundCidr("x".to_owned())
    );
    assert_eq!(
        refused(&server, cidrs("198.51.100.0/24")),
        LoginError::AddressDenied
    );
    let batch = TokenParameters {
        token_type: Some(TokenType::Batch),
        ..default()
    };
    let uses = TokenParameters {
        num_uses: 1,
        ..batch.clone()
    };
    assert_eq!(refused(&server, uses), LoginError::BatchWithNumUses);
    let period = TokenParameters {
        lifetime: lifetime(0, HOUR),
        ..batch
    };
    assert_eq!(refused(&server, period), LoginError::BatchWithPeriod);
    let nameless = server.grant("", default());
    assert_eq!(
        server.access.issue_login(&nameless).err(),
        Some(LoginError::EmptyAliasName)
    );
}

#[test]
fn a_cut_ttl_comes_with_its_warning() {
    let server = Server::ready();
    let parameters = TokenParameters {
        lifetime: lifetime(9999 * HOUR, 0),
        ..policies(&[])
    };
    let issued = server.log_in(parameters);
    assert_eq!(issued.grant.lease_duration, 768 * HOUR);
    let cut = TokenWarning::TtlCapped(Cap {
        asked: 9999 * HOUR,
        effective_max_ttl: 768 * HOUR,
    });
    assert_eq!(issued.grant.warnings, [cut]);
}

#[test]
fn the_mounts_leases_and_token_type_count() {
    let server = Server::ready();
    let request = MountRequest {
        mount_type: "gcp".to_owned(),
        default_lease_ttl: HOUR,
        max_lease_ttl: 2 * HOUR,
        token_type: Some("service".to_owned()),
        ..MountRequest::default()
    };
    server.access.enable_mount("team/gcp", &request).unwrap();
    let mount = server.mount("team/gcp/");
    let mut grant = server.grant(
        "1234",
        TokenParameters {
            token_type: Some(TokenType::Batch),
            ..TokenParameters::default()
        },
    );
    (grant.mount_id, grant.mount_path) = (mount.id, mount.path);
    let issued = server.access.issue_login(&grant).ok().unwrap();
    assert_eq!(issued.grant.lease_duration, HOUR);
    let view = server.access.lookup_token(&issued.reference()).unwrap();
    assert_eq!(view.display_name, "team-gcp-dev@p1.example");
}

#[test]
fn contract_7_1_one_alias_is_one_entity_and_writes_nothing_when_nothing_changed() {
    let server = Server::ready();
    let entities = || {
        server
            .store
            .keys()
            .iter()
            .filter(|it| it.starts_with("entity/"))
            .count()
    };
    let first = server.log_in(TokenParameters::default());
    let keys = server.store.keys().len();
    let second = server.log_in(TokenParameters::default());
    assert_eq!(first.grant.entity_id, second.grant.entity_id);
    assert_eq!(server.store.keys().len(), keys + 1, "a token");
    assert_eq!(entities(), 1);
    let other = server.grant("5678", TokenParameters::default());
    let other = server.access.issue_login(&other).ok().unwrap();
    assert_ne!(other.grant.entity_id, first.grant.entity_id);
    assert_eq!(entities(), 2);
}

#[test]
fn contract_7_1_the_alias_remembers_the_metadata_of_the_last_login() {
    let server = Server::ready();
    server.log_in(TokenParameters::default());
    let mut grant = server.grant("1234", TokenParameters::default());
    grant
        .metadata
        .push(("project_id".to_owned(), "p9".to_owned()));
    server.access.issue_login(&grant).ok().unwrap();
    let remembered = |text: &str| {
        let values = server.store.values();
        values
            .iter()
            .filter(|it| String::from_utf8_lossy(it).contains(text))
            .count()
    };
    assert_eq!(remembered("\"p9\""), 2, "the token and the alias");
}

#[test]
fn contract_7_1_concurrent_first_logins_make_one_entity() {
    for _ in 0..4 {
        let server = Server::ready();
        let grant = server.grant("new", TokenParameters::default());
        let entities: Vec<String> = std::thread::scope(|scope| {
            let logins: Vec<_> = (0..64)
                .map(|_| {
                    scope.spawn(|| {
                        let issued = server.another_instance().issue_login(&grant);
                        issued.ok().unwrap().grant.entity_id.unwrap()
                    })
                })
                .collect();
            logins.into_iter().map(|it| it.join().unwrap()).collect()
        });
        assert!(entities.iter().all(|it| *it == entities[0]));
        let keys = server.store.keys();
        for prefix in ["entity/", "alias/", "alias-metadata/"] {
            assert_eq!(
                keys.iter().filter(|it| it.starts_with(prefix)).count(),
                1,
                "{prefix}"
            );
        }
    }
}

#[test]
fn t11_a_login_whose_commit_fails_leaves_nothing() {
    let server = Server::ready();
    let failed = CommitError::Failed(StoreError::Unavailable("disk full".to_owned()));
    server.store.fail_next_commit(failed);
    let error = refused(&server, TokenParameters::default());
    assert_eq!(
        error,
        LoginError::Failure(ServiceError::Unavailable("disk full".to_owned()))
    );
}

#[test]
fn disabling_the_mount_ends_its_tokens_at_once_and_enabling_it_again_does_not_revive_them() {
    let server = Server::ready();
    let token = server.log_in(TokenParameters::default());
    let grant = server.grant("1234", TokenParameters::default());
    assert!(server.access.disable_mount("gcp/").unwrap().is_some());
    assert!(!server.is_valid(token.client_token.as_str()));
    assert_eq!(
        server.access.issue_login(&grant).err(),
        Some(LoginError::MountGone)
    );
    server.enable("gcp");
    assert!(!server.is_valid(token.client_token.as_str()));
    let answer = server.admit(
        token.client_token.as_str(),
        Operation::Read,
        "auth/token/lookup-self",
    );
    assert_eq!(answer, Err(AdmissionError::InvalidToken));
    assert_eq!(
        server.access.issue_login(&grant).err(),
        Some(LoginError::MountGone)
    );
}

#[test]
fn t6_a_token_ends_when_its_time_has_come_and_its_records_with_it() {
    let server = Server::ready();
    let parameters = TokenParameters {
        lifetime: lifetime(HOUR, 0),
        ..policies(&[])
    };
    let token = server.log_in(parameters);
    server.advance(HOUR - 1);
    assert!(server.is_valid(token.client_token.as_str()));
    server.advance(1);
    assert!(!server.is_valid(token.client_token.as_str()));
    let by_accessor = &TokenReference::Accessor(token.grant.accessor.clone());
    assert!(server.access.lookup_token(by_accessor).is_err());
    let keys = server.store.keys();
    assert_eq!(
        keys.iter().filter(|it| it.starts_with("token/")).count(),
        1,
        "root's"
    );
    assert_eq!(
        keys.iter().filter(|it| it.starts_with("accessor/")).count(),
        1,
        "root's"
    );
}
